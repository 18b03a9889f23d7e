"""Tables of the context-ordering experiment: each detector's profile over fault types, and what theory predicted."""

from __future__ import annotations

from collections.abc import Sequence

from trajaudit.analysis.ordering import Contrast, Profile
from trajaudit.reports.table import Column, Row, Table


def profile_table(rows: Sequence[Profile], stratum: str) -> Table:
    """Return area, localisation and typing of each detector on each type, in one stratum."""
    columns = (
        *(Column("detector", "detector", "text"), Column("type", "fault type", "text"), Column("n", "faulty", "count")),
        *(Column("auc", "AUC"), Column("step", "exact step"), Column("type_f1", "type F1")),
    )
    cells = tuple(
        Row((row.detector, row.type, row.auc.n, row.auc, row.step, row.type_f1))
        for row in rows
        if row.stratum == stratum
    )
    notes = (
        "AUC: faulty runs of the type against all clean runs. Exact step: share of those faulty runs whose most "
        "suspicious step is the fault's, flagged or not. Type F1: of the likeliest type, over the faulty runs. Means "
        "over seeds where a detector has several.",
    )
    of = "" if stratum == "all" else f", {stratum} faults"
    return Table(f"profile_{stratum}", f"Detector by fault type{of}", columns, cells, notes)


def verdict_of(row: Contrast) -> str:
    """Return what a contrast says of its prediction, in words."""
    if row.p_holm is None or row.difference.value is None:
        return "placebo" if row.difference.value is not None else "undefined"
    if row.p_holm >= round(1 - row.difference.level, 12):
        return "not shown"
    return "supported" if row.difference.value > 0 else "opposite"


def contrast_table(rows: Sequence[Contrast]) -> Table:
    """Return the interaction contrasts, their p-values over the declared families, and the placebos."""
    columns = (
        *(Column("detector", "detector", "text"), Column("types", "predicted best at", "text")),
        *(Column("stratum", "faults", "text"), Column("difference", "contrast", "difference"), Column("p", "p", "p")),
        *(Column("p_holm", "Holm p", "p"), Column("mde", "detectable"), Column("verdict", "verdict", "text")),
    )
    cells = tuple(
        Row(
            (
                *(row.detector, ", ".join(row.types), row.stratum, row.difference),
                *(row.p_value, row.p_holm, row.mde, verdict_of(row)),
            )
        )
        for row in rows
    )
    notes = (
        "Contrast: the detector's mean AUC on the types predicted for it less that on the others, less the same "
        "averaged over its rivals. Holm over the three predictions within each stratum. Not shown is not refuted: "
        "detectable is the smallest true contrast found with 80 % power. A placebo has no theory and takes each "
        "prediction in turn.",
    )
    return Table("contrasts", "Does each paradigm do best where theory says?", columns, cells, notes)
