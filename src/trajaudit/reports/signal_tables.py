"""The tables of the execution-quality signals: the paper's beside other sets, and what can be told apart in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trajaudit.analysis.result import Estimate
from trajaudit.analysis.signals import MEASURES, FlaggedRuns, lost, unmarked
from trajaudit.analysis.two_by_two import Counts
from trajaudit.reports.comparison_tables import comparison_table
from trajaudit.reports.signals import SignalSet, by_area, in_order, paper_cells, paper_counts
from trajaudit.reports.table import Cell, Column, Row, Table

PAPER = "paper"
_FLAG, _SET = Column("flag", "flag", "text"), Column("set", "set", "text")


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
            cells: tuple[Cell, ...] = tuple(measures[key] for key in MEASURES)
            rows.append(Row((flag, one.key, len(one.runs.faulty), measures["rate_present"].n, *cells)))
    notes = (
        "Rate: share of runs that hallucinate, with the flag and without it. AUC is that of the flag's absence; phi is "
        "the Pearson correlation of two binary columns. Values of different sets are not comparable, orders are.",
        "The paper's counts are recovered from its printed figures; its intervals take runs as independent.",
    )
    return Table("signals", "Execution-quality flags and hallucination", columns, tuple(rows), notes)


def _paper_row(published: Mapping[str, Any], flag: str, tables: list[Counts]) -> tuple[Cell, ...]:
    if len(tables) == 1:
        cells = paper_cells(tables[0])
        return (
            tables[0].present,
            *(cells[key] for key in ("rate_present", "rate_absent", "difference", "pearson_r", "auc")),
        )
    said = dict(zip(published["columns"], published["flags"][flag], strict=True))
    gap = said["rate_absent"] - said["rate_present"]
    return (None, said["rate_present"], said["rate_absent"], gap, said["pearson_r"], said["auc"])


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
        *(
            _SET,
            _FLAG,
            Column("alone", "told by it alone"),
            Column("log_odds", "log odds ratio", "difference"),
            Column("p_wald", "robust p", "p"),
        ),
        *(
            Column("p_holm", "Holm p", "p"),
            Column("ratio", "likelihood ratio", "seconds"),
            Column("p_ratio", "its p", "p"),
        ),
        Column("auc_gain", "AUC gain", "difference"),
    )
    rows = tuple(
        Row(
            (
                one.key,
                row.flag,
                one.alone[row.flag],
                row.log_odds,
                row.p_wald,
                row.p_holm,
                row.ratio,
                row.p_ratio,
                row.auc_gain,
            )
        )
        for one in sets
        for row in one.increments
    )
    notes = (
        "Told by it alone: share of the hallucinating runs that lack this flag and no other. One logistic model a set, "
        "with all flags; below zero, the flag's presence speaks against hallucination. The robust p is by clusters, "
        "with Holm's correction over the flags of a set; the likelihood ratio takes runs as independent. AUC gain: "
        "what the model's AUC loses without the flag, on the runs that it was fitted to.",
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


def type_table(runs: FlaggedRuns, kinds: Sequence[str], resamples: int, seed: int, level: float) -> Table:
    """Return which flags runs of each kind lack; ``kinds`` is the fault type of each run, or "clean"."""
    columns = (
        *(Column("kind", "fault", "text"), Column("runs", "runs", "count")),
        *(Column(flag, f"lack {flag}") for flag in runs.flags),
        Column("none", "lack none"),
    )
    rows = []
    for kind in dict.fromkeys(kinds):
        among = np.array([own == kind for own in kinds])
        missing = lost(runs, among, resamples, seed, level)
        rows.append(Row((kind, int(among.sum()), *missing.values(), unmarked(runs, among, resamples, seed, level))))
    note = (
        "Constructed runs with one fault each: the share of the runs of each type that lose a flag, and that lose none."
    )
    ordered = tuple(sorted(rows, key=lambda row: str(row.cells[0])))
    return Table("flags_by_type", "What each fault takes from the flags", columns, ordered, (note,))


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
