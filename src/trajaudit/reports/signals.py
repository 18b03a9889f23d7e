"""Execution-quality signals: the paper's table, the same on other runs, and how much of it can be told apart.

The paper prints rates without counts; of each row, the two rates and the correlation are given by one two-by-two table
alone, which yields the intervals that the paper lacks and checks its AUC. Its runs share 42 questions and the counts do
not say which, so those intervals take runs as independent and are too narrow; ours are resampled by group. The sets
differ in agents, tasks and in who gave label and flags, so what is compared between them is the order of the flags,
never a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    told_alone,
    unmarked,
)
from trajaudit.analysis.two_by_two import Counts, auc_interval, counts_behind
from trajaudit.reports.ledger import Line, ledger_line, same
from trajaudit.reports.numbers import printed


@dataclass(frozen=True)
class SignalSet:
    """Everything measured of the flags on one set of runs; ``order`` is against the paper's AUCs."""

    key: str
    runs: FlaggedRuns
    measures: Mapping[str, Mapping[str, Estimate]]
    pairs: Mapping[tuple[str, str], Estimate]
    areas: Sequence[Comparison]
    increments: Sequence[Increment]
    alone: Mapping[str, Estimate]
    unmarked: Estimate
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
        told_alone(runs, *how),
        unmarked(runs, runs.faulty, *how),
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
            ours = paper_cells(table)[column]
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


def paper_cells(table: Counts) -> dict[str, Estimate]:
    """Return what the counts behind a row give: rates, their difference, correlation and AUC, with intervals."""
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


def in_order(published: Mapping[str, Any]) -> list[str]:
    """Return the flags by the paper's AUC, highest first."""
    place = published["columns"].index("auc")
    return sorted(published["flags"], key=lambda flag: -published["flags"][flag][place])


def by_area(one: SignalSet) -> list[str]:
    """Return a set's flags by AUC, highest first."""
    return sorted(one.measures, key=lambda flag: -(one.measures[flag]["auc"].value or 0.0))


def findings(published: Mapping[str, Any], sets: Sequence[SignalSet]) -> list[str]:
    """Return what the tables say, in sentences."""
    said = [_counts_finding(published)]
    a, b = published["both_absent"]["flags"]
    for one in sets:
        differing = [f"{row.a} / {row.b}" for row in one.areas if row.p_holm is not None and row.p_holm < 0.05]
        named = "" if len(differing) == len(one.areas) else f": {', '.join(differing)}" if differing else ""
        both = one.pairs[a, b] if (a, b) in one.pairs else one.pairs[b, a]
        said += [
            _order_finding(one, in_order(published)),
            f"{one.key}: of the {len(one.areas)} pairs of flags, the AUCs of {len(differing)} differ after Holm{named}",
            _increment_finding(one),
            f"{one.key}: {printed(one.unmarked)} of the hallucinating runs lack no flag at all",
            f"{one.key}: where {a} and {b} are both absent, {printed(both)} of {both.n} runs hallucinate "
            f"(the paper: {published['both_absent']['rate']:.3f})",
        ]
    return said


def _increment_finding(one: SignalSet) -> str:
    undefined = next((row.log_odds.reason for row in one.increments if row.log_odds.value is None), None)
    if undefined is not None:
        return f"{one.key}: what each flag adds by nested models is not defined: {undefined}"
    adding = [row.flag for row in one.increments if row.p_holm is not None and row.p_holm < 0.05]
    return f"{one.key}: flags that add to the other four after Holm: {', '.join(adding) or 'none'}"


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
