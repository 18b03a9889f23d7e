"""The tables of a stress test: what the wording of the prompt does, what an attack does, what doubt foretells."""

from __future__ import annotations

from collections.abc import Sequence

from trajaudit.analysis.attacks import Attacked
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.stability import Stability
from trajaudit.analysis.uncertainty import Foretelling
from trajaudit.reports.table import Cell, Column, Row, Table

STILL = "no test: no verdict moved"
_P = (Column("p", "p", "p"), Column("p_holm", "Holm p", "p"))


def _p(p_value: float | None, p_holm: float | None, reason: str) -> tuple[Cell, Cell]:
    return Estimate(p_value, reason=reason), Estimate(p_holm, reason=reason)


def stability_tables(found: Sequence[Stability]) -> list[Table]:
    """Return flips, shifts and agreement of every judge that was asked in several wordings."""
    return [_flip_table(found), _shift_table(found), _agreement_table(found)]


def _flip_table(found: Sequence[Stability]) -> Table:
    columns = (
        *(Column("default", "default", "text"), Column("variant", "variant", "text"), Column("n", "runs", "count")),
        *(Column("rate", "flips"), Column("to_faulty", "clean to faulty"), Column("to_clean", "faulty to clean")),
    )
    rows = [
        Row((one.default, flips.variant, flips.rate.n, flips.rate, flips.to_faulty, flips.to_clean))
        for one in found
        for flips in one.flips
    ]
    note = "Runs: those that both wordings answered. The last two are shares of the runs that could turn that way."
    return Table(
        "prompt_flips", "Verdicts that another wording of the prompt turns round", columns, tuple(rows), (note,)
    )


def _shift_table(found: Sequence[Stability]) -> Table:
    columns = (
        *(Column("variant", "variant", "text"), Column("what", "says", "text"), Column("before", "default")),
        *(Column("difference", "variant − default", "difference"), Column("n", "runs", "count"), *_P),
    )
    rows = [
        Row(
            (
                *(shift.variant, shift.what, shift.default, shift.difference, shift.difference.n),
                *_p(shift.p_value, shift.p_holm, shift.difference.reason or STILL),
            )
        )
        for one in found
        for shift in one.shifts
    ]
    note = "Paired over the runs that both answered; exact McNemar by cluster, Holm over all rows of a judge."
    return Table(
        "prompt_shifts", "How often a run is flagged, or a type named, by wording", columns, tuple(rows), (note,)
    )


def _agreement_table(found: Sequence[Stability]) -> Table:
    columns = (
        *(Column("a", "a", "text"), Column("b", "b", "text"), Column("n", "runs", "count")),
        *(Column("kappa", "kappa of flags"), Column("jaccard", "Jaccard of types")),
    )
    rows = [Row((pair.a, pair.b, pair.n, pair.kappa, pair.jaccard)) for one in found for pair in one.agreements]
    note = "Jaccard: mean overlap of the sets of types over the runs that both flag; two empty sets overlap wholly."
    return Table("prompt_agreement", "How far two wordings agree", columns, tuple(rows), (note,))


def attack_table(effects: Sequence[Attacked]) -> Table:
    """Return verdict flips under attack, towards its wish and away from it."""
    columns = (
        *(Column("auditor", "auditor", "text"), Column("wish", "wish", "text"), Column("attack", "attack", "text")),
        *(Column("place", "place", "text"), Column("pairs", "pairs", "count"), Column("left_out", "left out", "count")),
        *(Column("towards", "turned to the wish"), Column("away", "turned away")),
        *(Column("shift", "shift to the wish", "difference"), *_P),
    )
    rows = [
        Row(
            (
                *(one.auditor, one.wish, one.attack, one.place or "any", one.pairs, one.unanswered),
                *(one.towards, one.away, one.shift, *_p(one.p_value, one.p_holm, one.shift.reason or STILL)),
            )
        )
        for one in effects
    ]
    notes = (
        "Each attacked run beside its untouched original. To the wish: among pairs whose original had the other "
        "verdict; away: among those whose original had the wished one.",
        "Left out: pairs without two verdicts. Exact McNemar by cluster, Holm over all rows.",
    )
    return Table("attacks", "Verdicts moved by text that addresses the judge", columns, tuple(rows), notes)


def uncertainty_table(found: Sequence[Foretelling]) -> Table:
    """Return how well each sign of doubt tells an auditor's wrong verdicts from its right ones."""
    columns = (
        *(Column("auditor", "auditor", "text"), Column("sign", "sign of doubt", "text")),
        *(Column("n", "verdicts", "count"), Column("wrong", "wrong", "count"), Column("auc", "AUC"), *_P),
    )
    rows = [
        Row(
            (
                *(one.auditor, one.sign, one.n, one.wrong, one.auc),
                *_p(
                    one.p_value,
                    one.p_holm,
                    one.auc.reason or "no test: too few groups, or too few verdicts of one kind",
                ),
            )
        )
        for one in found
    ]
    note = "AUC: how likely a wrong verdict shows more doubt than a right one; p against 0.5, Holm over all rows."
    return Table("uncertainty", "Does doubt foretell error?", columns, tuple(rows), (note,))
