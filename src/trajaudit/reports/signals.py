"""Execution-quality signals: the paper's table, the same on other runs, and how much of it can be told apart.

The paper prints rates without counts; of each row, the two rates and the correlation are given by one two-by-two table
alone, which yields the intervals that the paper lacks and checks its AUC. Its runs share 42 questions and the counts do
not say which, so those intervals take runs as independent and are too narrow; ours are resampled by group. The sets
differ in agents, tasks and in who gave label and flags, so what is compared between them is the order of the flags,
never a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trajaudit.analysis.incremental import Increment, incremental
from trajaudit.analysis.intervals import wilson
from trajaudit.analysis.result import Comparison, Estimate
from trajaudit.analysis.signals import (
    FlaggedRuns,
    RankAgreement,
    both_absent,
    compare_areas,
    measure,
    rank_agreement,
)
from trajaudit.analysis.two_by_two import Counts, auc_interval, counts_behind
from trajaudit.reports.comparison_tables import comparison_table
from trajaudit.reports.ledger import Line, ledger_line, same
from trajaudit.reports.numbers import printed
from trajaudit.reports.table import Cell, Column, Row, Table

PAPER = "paper"
_FLAG, _SET = Column("flag", "flag", "text"), Column("set", "set", "text")


@dataclass(frozen=True)
class SignalSet:
    """Everything measured of the flags on one set of runs; ``order`` is against the paper's AUCs."""

    key: str
    runs: FlaggedRuns
    measures: Mapping[str, Mapping[str, Estimate]]
    pairs: Mapping[tuple[str, str], Estimate]
    areas: Sequence[Comparison]
    increments: Sequence[Increment]
    order: RankAgreement


def signal_set(
    key: str, runs: FlaggedRuns, published: Mapping[str, Any], resamples: int, seed: int, level: float
) -> SignalSet:
    """Measure the flags on one set; ``published`` as in ``experiments/signals/published.yaml``."""
    theirs = [published["flags"][flag][published["columns"].index("auc")] for flag in runs.flags]
    how = (resamples, seed, level)
    return SignalSet(
        key,
        runs,
        measure(runs, *how),
        both_absent(runs, *how),
        compare_areas(runs, f"every pair of flags on {key}", *how),
        incremental(runs, level),
        rank_agreement(runs, theirs, *how),
    )


def paper_counts(published: Mapping[str, Any]) -> dict[str, list[Counts]]:
    """Return, for each flag, every table of counts that rounds to its printed rates and correlation."""
    return {flag: counts_behind(published["n"], *row[:3]) for flag, row in published["flags"].items()}


def ledger(published: Mapping[str, Any]) -> list[Line]:
    """Return one line a printed figure, recomputed from the counts behind its row where one table alone gives them."""
    lines = []
    for flag, tables in paper_counts(published).items():
        for column, value in zip(published["columns"], published["flags"][flag], strict=True):
            key, text = f"flags.{flag}.{column}", f"{value:.3f}"
            if len(tables) != 1:
                found = f"{len(tables)} tables of {published['n']} runs give its rates and correlation"
                why = f"{found}, and the flags are not released"
                lines.append(Line(key, text, None, None, "not reproducible here", why))
                continue
            (table,) = tables
            ours = _paper_cells(table)[column]
            reading = (
                f"from the only counts that give rates and correlation: {table.faulty_present} of {table.present} "
                f"hallucinate with the flag, {table.faulty_absent} of {table.absent} without"
            )
            exact = "" if same(text, ours.value or 0.0) else f"exactly {ours.value:.6f}"
            lines.append(ledger_line(key, text, ours, reading, exact))
    pair = " and ".join(published["both_absent"]["flags"])
    why = f"needs both flags of each run ({pair}), which are not released"
    lines.append(
        Line("both_absent.rate", f"{published['both_absent']['rate']:.3f}", None, None, "not reproducible here", why)
    )
    return lines


def _share(hits: int, n: int) -> Estimate:
    return Estimate(hits / n, *wilson(hits, n), n, "wilson")


def _paper_cells(table: Counts) -> dict[str, Estimate]:
    n = table.present + table.absent
    present, absent = _share(table.faulty_present, table.present), _share(table.faulty_absent, table.absent)
    return {
        "rate_present": present,
        "rate_absent": absent,
        "difference": _difference(absent, present),
        "pearson_r": Estimate(table.phi, n=n),
        "auc": auc_interval(table),
    }


def _difference(a: Estimate, b: Estimate) -> Estimate:
    """Return the difference of two independent rates with Newcombe's interval."""
    assert a.value is not None and b.value is not None and a.low is not None and b.low is not None  # noqa: PT018
    assert a.high is not None and b.high is not None  # noqa: PT018
    value = a.value - b.value
    below = ((a.value - a.low) ** 2 + (b.high - b.value) ** 2) ** 0.5
    above = ((a.high - a.value) ** 2 + (b.value - b.low) ** 2) ** 0.5
    return Estimate(value, value - below, value + above, a.n + b.n, "newcombe")


def signal_table(published: Mapping[str, Any], sets: Sequence[SignalSet]) -> Table:
    """Return the paper's table and each set's, flag by flag, in the paper's order of AUC."""
    columns = (
        *(_FLAG, _SET, Column("runs", "runs", "count"), Column("present", "with flag", "count")),
        *(Column("rate_present", "rate with"), Column("rate_absent", "rate without")),
        *(Column("difference", "without − with", "difference"), Column("phi", "phi"), Column("auc", "AUC")),
    )
    counts = paper_counts(published)
    rows = []
    for flag in in_order(published):
        rows.append(Row((flag, PAPER, published["n"], *_paper_row(published, flag, counts[flag]))))
        for one in sets:
            measures = one.measures[flag]
            cells: tuple[Cell, ...] = tuple(
                measures[key] for key in ("rate_present", "rate_absent", "difference", "phi", "auc")
            )
            rows.append(Row((flag, one.key, len(one.runs.faulty), measures["rate_present"].n, *cells)))
    notes = (
        "Rate: share of runs that hallucinate, with the flag and without it. AUC is that of the flag's absence; phi is "
        "the Pearson correlation of two binary columns. Values of different sets are not comparable, orders are.",
        "The paper's counts are recovered from its printed figures; its intervals take runs as independent.",
    )
    return Table("signals", "Execution-quality flags and hallucination", columns, tuple(rows), notes)


def _paper_row(published: Mapping[str, Any], flag: str, tables: list[Counts]) -> tuple[Cell, ...]:
    if len(tables) == 1:
        cells = _paper_cells(tables[0])
        return (
            tables[0].present,
            *(cells[key] for key in ("rate_present", "rate_absent", "difference", "pearson_r", "auc")),
        )
    said = dict(zip(published["columns"], published["flags"][flag], strict=True))
    gap = said["rate_absent"] - said["rate_present"]
    return (None, said["rate_present"], said["rate_absent"], gap, said["pearson_r"], said["auc"])


def in_order(published: Mapping[str, Any]) -> list[str]:
    """Return the flags by the paper's AUC, highest first."""
    place = published["columns"].index("auc")
    return sorted(published["flags"], key=lambda flag: -published["flags"][flag][place])


def pair_table(published: Mapping[str, Any], sets: Sequence[SignalSet]) -> Table:
    """Return the rate of hallucination where both flags of a pair are absent; the paper prints one pair."""
    columns = (
        *(Column("a", "flag", "text"), Column("b", "and flag", "text"), Column("paper", "paper")),
        *(column for one in sets for column in (Column(one.key, one.key), Column(f"{one.key}_n", "runs", "count"))),
    )
    told = set(published["both_absent"]["flags"])
    rows = []
    for a, b in sets[0].pairs:
        paper = published["both_absent"]["rate"] if {a, b} == told else None
        cells = [cell for one in sets for cell in (one.pairs[a, b], one.pairs[a, b].n)]
        rows.append(Row((a, b, paper, *cells)))
    return Table("pairs", "Rate of hallucination where both flags are absent", columns, tuple(rows))


def increment_table(sets: Sequence[SignalSet]) -> Table:
    """Return what each flag adds beside the others."""
    columns = (
        *(_SET, _FLAG, Column("log_odds", "log odds ratio", "difference"), Column("p_wald", "robust p", "p")),
        *(
            Column("p_holm", "Holm p", "p"),
            Column("ratio", "likelihood ratio", "seconds"),
            Column("p_ratio", "its p", "p"),
        ),
        Column("auc_gain", "AUC gain", "difference"),
    )
    rows = tuple(
        Row((one.key, row.flag, row.log_odds, row.p_wald, row.p_holm, row.ratio, row.p_ratio, row.auc_gain))
        for one in sets
        for row in one.increments
    )
    notes = (
        "One logistic model a set, with all flags; below zero, the flag's presence speaks against hallucination. The "
        "robust p is by clusters, with Holm's correction over the flags of a set; the likelihood ratio takes runs as "
        "independent. AUC gain: what the model's AUC loses without the flag, on the runs that it was fitted to.",
    )
    return Table("increments", "What each flag adds beside the others", columns, rows, notes)


def area_table(sets: Sequence[SignalSet]) -> Table:
    """Return the paired comparisons of the flags' AUCs, one family a set."""
    table = comparison_table([replace(row, metric=one.key) for one in sets for row in one.areas])
    columns = (Column("set", "set", "text"), *table.columns[1:])
    return replace(table, key="areas", title="Do the AUCs of two flags differ?", columns=columns)


def order_table(sets: Sequence[SignalSet]) -> Table:
    """Return how far the order of the flags by AUC is the paper's."""
    columns = (
        *(_SET, Column("order", "flags by AUC", "text"), Column("tau", "Kendall's tau with the paper", "difference")),
        *(Column("p", "exact p", "p"), Column("same", "resamples in the paper's order")),
    )
    rows = tuple(
        Row((one.key, " > ".join(by_area(one)), one.order.tau, one.order.p_value, one.order.same_order)) for one in sets
    )
    note = "Of five flags, no tau but ±1 and ±0.8 is beyond chance at 0.1; exact p over all orders of them."
    return Table("order", "Is it the same ranking?", columns, rows, (note,))


def by_area(one: SignalSet) -> list[str]:
    """Return a set's flags by AUC, highest first."""
    return sorted(one.measures, key=lambda flag: -(one.measures[flag]["auc"].value or 0.0))


def noise_table(agreement: Mapping[str, tuple[Estimate, Estimate]]) -> Table:
    """Return how far the judge agrees with itself on each flag and on the label."""
    columns = (
        *(Column("what", "judgment", "text"), Column("runs", "runs judged again", "count")),
        *(Column("agreement", "agreement"), Column("kappa", "kappa")),
    )
    rows = tuple(Row((what, agreed.n, agreed, kappa)) for what, (agreed, kappa) in agreement.items())
    note = (
        "Agreement over the pairs of judgments of a run, each run counting once; kappa is Fleiss's with that weighting."
    )
    return Table("judge_noise", "How far the judge agrees with itself", columns, rows, (note,))


def findings(published: Mapping[str, Any], sets: Sequence[SignalSet]) -> list[str]:
    """Return what the tables say, in sentences."""
    said = [_counts_finding(published)]
    a, b = published["both_absent"]["flags"]
    for one in sets:
        differing = [f"{row.a} / {row.b}" for row in one.areas if row.p_holm is not None and row.p_holm < 0.05]
        adding = [row.flag for row in one.increments if row.p_holm is not None and row.p_holm < 0.05]
        undefined = next((row.log_odds.reason for row in one.increments if row.log_odds.value is None), None)
        both = one.pairs[a, b] if (a, b) in one.pairs else one.pairs[b, a]
        said += [
            _order_finding(one, in_order(published)),
            f"{one.key}: AUCs that differ after Holm: {', '.join(differing) or 'none'} (of {len(one.areas)} pairs)",
            f"{one.key}: flags that add to the other four after Holm: {', '.join(adding) or 'none'}"
            f"{f' ({undefined})' if undefined else ''}",
            f"{one.key}: where {a} and {b} are both absent, {printed(both)} of {both.n} runs hallucinate "
            f"(the paper: {published['both_absent']['rate']:.3f})",
        ]
    return said


def _order_finding(one: SignalSet, theirs: list[str]) -> str:
    ours, order = by_area(one), one.order
    held = "" if order.same_order is None else f", the paper's order in {order.same_order:.3f} of the resamples"
    return (
        f"{one.key}: {'the same' if ours == theirs else 'not the same'} ranking as the paper's, by AUC "
        f"{' > '.join(ours)} (Kendall's tau {printed(order.tau, 'difference')}{held})"
    )


def _counts_finding(published: Mapping[str, Any]) -> str:
    tables = paper_counts(published)
    faulty = {table.faulty for found in tables.values() for table in found}
    unique = sum(len(found) == 1 for found in tables.values())
    agree = f"all with {faulty.pop()} hallucinating runs" if len(faulty) == 1 else "which disagree on the label"
    return (
        f"the paper's table: {unique} of {len(tables)} rows are given by one table of counts alone, {agree} of "
        f"{published['n']}"
    )
