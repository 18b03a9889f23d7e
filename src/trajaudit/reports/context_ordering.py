"""Tables of the context-ordering experiment: every auditor by fault type and stratum, and what theory predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajaudit.analysis.combinations import Combined
from trajaudit.analysis.interactions import ANY, STRATA
from trajaudit.analysis.result import Estimate
from trajaudit.reports.table import Cell, Column, Row, Table

TITLES = {
    "auc": ("AUC by fault type", "Faulty runs of the type and stratum against all clean runs."),
    "step_exact": (
        "Exact step by fault type",
        "Share of the faulty runs whose most suspicious step is the fault's, flagged or not; naming no step is a miss.",
    ),
    "step_within_one": ("Step within one, by fault type", "The same, one step off allowed."),
    "type_f1": (
        "F1 of each fault type",
        "Over the faulty runs; a run that is not flagged names no type. Last column: share of them named right.",
    ),
}


@dataclass(frozen=True)
class Contrast:
    """An interaction contrast: ``auditor`` on the types predicted for ``paradigm``, against its rivals.

    ``p_holm`` is over ``family``; ``detectable`` the smallest true contrast that this many runs would show.
    """

    family: str
    auditor: str
    paradigm: str
    types: tuple[str, ...]
    rivals: tuple[str, ...]
    stratum: str
    told: Combined
    p_holm: float | None = None
    detectable: float | None = None

    @property
    def verdict(self) -> str:
        """What the contrast says of the prediction: supported, opposite, not shown or undefined."""
        if self.p_holm is None or self.told.estimate.value is None:
            return "undefined"
        if self.p_holm >= round(1 - self.told.estimate.level, 12):
            return "not shown"
        return "supported" if self.told.estimate.value > 0 else "opposite"


@dataclass(frozen=True)
class Gain:
    """AUC of ``auditor`` on a fault type less that of ``over``; ``p_holm``, over all auditors, is of any type alone."""

    auditor: str
    over: str
    kind: str
    told: Combined
    p_holm: float | None = None


def cell_table(
    measure: str, types: Sequence[str], found: Mapping[tuple[str, str, str], Estimate], counts: Mapping[str, int]
) -> Table:
    """Return one measure: a row an auditor and stratum, a column a fault type.

    Args:
        found: by (auditor, type, stratum). counts: faulty runs by stratum.
    """
    columns = (
        *(Column("auditor", "auditor", "text"), Column("stratum", "faults", "text"), Column("n", "faulty", "count")),
        *(Column(kind.replace(" ", "_"), kind) for kind in (*types, ANY)),
    )
    rows = []
    for auditor in dict.fromkeys(name for name, _, _ in found):
        for stratum in STRATA:
            cells: list[Cell] = [found[auditor, kind, stratum] for kind in (*types, ANY)]
            rows.append(Row((auditor, stratum, counts[stratum], *cells)))
    title, note = TITLES[measure]
    return Table(measure, title, columns, tuple(rows), (note, "Means over seeds where an auditor has several."))


def contrast_table(rows: Sequence[Contrast]) -> Table:
    """Return the interaction contrasts with Holm's p over each declared family, and a verdict in words."""
    columns = (
        *(Column("family", "family", "text"), Column("auditor", "auditor", "text")),
        *(Column("types", "predicted best on", "text"), Column("stratum", "faults", "text")),
        *(Column("contrast", "contrast", "difference"), Column("p", "p", "p"), Column("p_holm", "Holm p", "p")),
        *(Column("detectable", "detectable"), Column("verdict", "verdict", "text")),
    )
    told = tuple(
        Row(
            (
                *(one.family, one.auditor, ", ".join(one.types), one.stratum, one.told.estimate),
                *(_or(one.told.p_value, one), _or(one.p_holm, one), _or(one.detectable, one), one.verdict),
            )
        )
        for one in rows
    )
    notes = (
        "Contrast: mean AUC on the predicted types less that on the others, less the same averaged over the other "
        "paradigms. Bootstrap over groups, Holm within each family; not shown is not refuted: detectable is the "
        "smallest true contrast found with 80 % power.",
        "Placebo: an auditor without a theory in the place of each paradigm. Where placebos move as much, a contrast "
        "says something of the fault types and nothing of what a paradigm reads.",
    )
    return Table("contrasts", "Does each paradigm do best where theory says?", columns, told, notes)


def gain_table(gains: Sequence[Gain], types: Sequence[str]) -> Table:
    """Return what each further trained paradigm gains: a row an auditor, a column a fault type."""
    columns = (
        *(Column("auditor", "auditor", "text"), Column("over", "over", "text")),
        *(Column(kind.replace(" ", "_"), kind, "difference") for kind in (*types, ANY)),
        Column("p_holm", "Holm p", "p"),
    )
    rows = []
    for auditor, over in dict.fromkeys((one.auditor, one.over) for one in gains):
        of = {one.kind: one for one in gains if (one.auditor, one.over) == (auditor, over)}
        every = of[ANY]
        p = Estimate(every.p_holm, reason=every.told.estimate.reason or "the same in every resample")
        rows.append(Row((auditor, over, *(of[kind].told.estimate for kind in (*types, ANY)), p)))
    notes = (
        "Difference in AUC, each a mean over its seeds, on the same runs; bootstrap over groups, Holm over those on "
        "any type.",
        "relations: vectors of an encoder that was taught entailment first; top, lora, biases, all: what of the "
        "encoder is trained beside the heads; plain: values not marked as new; zero_shot: nothing is trained.",
    )
    return Table("gains", "What further training gains", columns, tuple(rows), notes)


def _or(value: float | None, one: Contrast) -> Estimate:
    return Estimate(value, reason=one.told.estimate.reason or "the same in every resample")
