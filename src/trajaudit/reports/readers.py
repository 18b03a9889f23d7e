"""Tables of how far readers agree, and the page that shows people's and judges' views beside each run.

People and judges are never averaged together: alpha is over people alone, and each table says between whom it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trajaudit.analysis.readers import Overlap, PairAgreement
from trajaudit.analysis.result import Estimate
from trajaudit.reports.html import Fact, Section, page
from trajaudit.reports.numbers import count
from trajaudit.reports.table import Cell, Column, Row, Table
from trajaudit.reports.viewer_data import embed
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

_WHO = (Column("a", "reader", "text"), Column("b", "other reader", "text"), Column("n", "runs read by both", "count"))
_CELLS = (
    Column("both", "both", "count"),
    Column("a_only", "only the first", "count"),
    Column("b_only", "only the other", "count"),
    Column("neither", "neither", "count"),
    Column("kappa", "kappa"),
)
LEAD = (
    "What people said of each run, read blind, and what the judges said of the same runs. Only runs that enough people "
    "had annotated before are here, so nobody's reading was coloured by a judge's."
)


def agreement_table(pairs: Sequence[PairAgreement], key: str, title: str) -> Table:
    """Return a row a pair of readers: presence with its counts and kappa, then how far types and places overlap."""
    more = (
        Column("agreement", "same presence"),
        Column("same_types", "same types"),
        Column("type_jaccard", "overlap of types"),
        Column("shares_step", "a step in common"),
    )
    rows = [
        Row((*_who(p), *_cells(p.presence), p.agreement, p.same_types, p.type_jaccard, p.shares_step)) for p in pairs
    ]
    notes = (
        "Counts and kappa: whether a fault is present, over the runs that both gave an opinion on.",
        "Types and steps: over the runs that both flagged (and, for steps, with a step).",
    )
    return Table(key, title, (*_WHO, *_CELLS, *more), tuple(rows), notes)


def type_table(pairs: Sequence[PairAgreement], key: str, title: str) -> Table:
    """Return a row a pair of readers and type: the four counts and kappa."""
    columns = (*_WHO[:2], Column("type", "type", "text"), *_CELLS)
    rows = [Row((p.a, p.b, kind, *_cells(overlap))) for p in pairs for kind, overlap in p.types.items()]
    return Table(key, title, columns, tuple(rows))


def alpha_table(alphas: Mapping[str, Estimate], readers: int) -> Table:
    """Return Krippendorff's alpha of ``readers`` people, on presence, each type, and whole sets of types."""
    columns = (
        Column("of", "agreement on", "text"),
        Column("alpha", "Krippendorff's alpha"),
        Column("n", "runs", "count"),
    )
    rows = tuple(Row((name, value, value.n)) for name, value in alphas.items())
    notes = (f"Over {readers} people; runs that fewer than two of them read are left out. Sets by Jaccard distance.",)
    return Table("alpha", "Agreement of people", columns, rows, notes)


def review_page(
    title: str,
    tables: Sequence[Table],
    trajectories: Sequence[Trajectory],
    verdicts: Sequence[Verdict],
    notes: Sequence[str] = (),
) -> str:
    """Return one page with the tables, and a viewer of every annotated run with all that was said of it."""
    people = {verdict.auditor for verdict in verdicts if verdict.auditor.startswith("human:")}
    facts = [
        Fact("runs", count(len(trajectories))),
        Fact("people", count(len(people))),
        Fact("judges", count(len({verdict.auditor for verdict in verdicts} - people))),
    ]
    section = Section("agreement", "Who agrees with whom", tables=tables)
    return page(title, LEAD, facts, notes, [section], embed(trajectories, verdicts, max(1, len(trajectories))))


def _who(pair: PairAgreement) -> tuple[Cell, ...]:
    return pair.a, pair.b, pair.n


def _cells(overlap: Overlap) -> tuple[Cell, ...]:
    return overlap.both, overlap.a_only, overlap.b_only, overlap.neither, overlap.kappa
