"""Tables of trained detectors on one set: how each ranks runs, over seeds, models and protocols; where it disagrees.

The order of rows is the AUC's, so that the table is read from the top; the AUC within groups stands beside the pooled
one, since a detector can earn the second by knowing which scenario is hard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajaudit.analysis.result import Estimate, Scorecard
from trajaudit.reports.table import Cell, Column, Row, Table
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

_DETECTOR = Column("detector", "detector", "text")
WITHIN_NOTE = (
    "AUC within scenarios: the ROC area among the runs of a scenario, averaged over scenarios of both classes weighted "
    "by runs; by pairs: weighted by pairs of a faulty and a clean run; plain: every scenario counts once."
)
_QUOTE = 110


@dataclass(frozen=True)
class Measured:
    """One detector under one seed: its scorecard, and the area within groups by reading."""

    card: Scorecard
    within: Mapping[str, Estimate]

    @property
    def auc(self) -> Estimate:
        return self.card.metrics["roc_auc"]


@dataclass(frozen=True)
class Tested:
    """A detector's AUC under one protocol and seed, with the number of runs it was tested on."""

    detector: str
    protocol: str
    seed: int
    auc: Estimate
    small: tuple[float, float] | None = None


def detector_table(measured: Sequence[Measured]) -> Table:
    """Return ranking, decision and calibration of each detector, best AUC first."""
    columns = (
        *(_DETECTOR, Column("roc_auc", "AUC pooled"), Column("within", "AUC within")),
        *(Column("pairs", "within, by pairs"), Column("groups", "within, plain")),
        *(Column("average_precision", "AP"), Column("precision", "precision"), Column("recall", "recall")),
        *(Column("f1", "F1"), Column("ece", "ECE"), Column("n", "runs", "count")),
    )
    ordered = sorted(measured, key=lambda one: -(one.auc.value or 0.0))
    rows = []
    for one in ordered:
        of, within = one.card.metrics, one.within
        ranks: list[Cell] = [of["roc_auc"], within["runs"], within["pairs"], within["groups"]]
        decided: list[Cell] = [of[name] for name in ("average_precision", "precision", "recall", "f1", "ece")]
        rows.append(Row((one.card.auditor, *ranks, *decided, of["roc_auc"].n)))
    return Table("detectors", "Detectors on real runs, out of fold", columns, tuple(rows), (WITHIN_NOTE,))


def seed_table(by_detector: Mapping[str, Sequence[tuple[float, float]]]) -> Table:
    """Return AUC pooled and within over draws of the folds, with mean and range; a pair for each training."""
    note = "A seed draws the folds and starts the detector. The spread is that of the folds, not of new scenarios."
    return _spread("seeds", "Over seeds of folds", by_detector, note)


def start_table(by_detector: Mapping[str, Sequence[tuple[float, float]]]) -> Table:
    """Return the same over starts of a detector on one draw of the folds."""
    note = "The same folds, the detector started from several seeds: the spread of its training alone."
    return _spread("starts", "Over starts on the same folds", by_detector, note)


def _spread(key: str, title: str, by_detector: Mapping[str, Sequence[tuple[float, float]]], note: str) -> Table:
    columns = (
        *(_DETECTOR, Column(key, key, "count"), Column("auc", "AUC pooled, mean")),
        *(Column("least", "least"), Column("most", "most")),
        *(Column("within", "AUC within, mean"), Column("within_least", "least"), Column("within_most", "most")),
    )
    rows = []
    for detector, areas in sorted(by_detector.items(), key=lambda item: -_mean(item[1], 0)):
        pooled, within = zip(*areas, strict=True)
        cells: list[Cell] = [_mean(areas, 0), min(pooled), max(pooled), _mean(areas, 1), min(within), max(within)]
        rows.append(Row((detector, len(areas), *cells)))
    return Table(key, title, columns, tuple(rows), (note,))


def _mean(areas: Sequence[tuple[float, float]], at: int) -> float:
    return sum(pair[at] for pair in areas) / len(areas)


def model_table(rows: Sequence[tuple[str, str, Estimate, Estimate]]) -> Table:
    """Return AUC pooled and within by (detector, left-out model)."""
    columns = (
        *(_DETECTOR, Column("model", "model left out", "text"), Column("auc", "AUC pooled")),
        *(Column("within", "AUC within"), Column("n", "runs", "count")),
    )
    note = "Trained on the other models' runs of other scenarios."
    cells = tuple(Row((detector, model, auc, within, auc.n)) for detector, model, auc, within in rows)
    return Table("models", "Leave one model out", columns, cells, (note,))


def protocol_table(tested: Sequence[Tested], size: int) -> Table:
    """Return the clean and the published protocol side by side; ``size`` is of the small test, in runs."""
    columns = (
        *(_DETECTOR, Column("protocol", "protocol", "text"), Column("seed", "seed", "count")),
        *(Column("auc", "AUC"), Column("n", "tested", "count")),
        *(Column("low", f"{size} runs: from"), Column("high", "to")),
    )
    rows = tuple(
        Row((one.detector, one.protocol, one.seed, one.auc, one.auc.n, *(one.small or (None, None)))) for one in tested
    )
    notes = (
        "Published protocol: undersampled to balance, rows split at random, intervals as if runs were independent. "
        "Clean: scenarios kept whole, intervals by scenario.",
        f"From and to: where 95 % of balanced tests of {size} of the same runs would fall, the published test's size.",
    )
    return Table("protocols", "What the published protocol adds to the score", columns, rows, notes)


def leak_table(tested: Sequence[Tested], size: int) -> Table:
    """Return, by detector, what the published protocol adds to the mean over seeds, and how wide intervals are.

    A detector that was trained under one protocol only has no difference.
    """
    columns = (
        *(_DETECTOR, Column("clean", "clean AUC"), Column("published", "published AUC")),
        *(Column("leak", "published − clean", "difference"), Column("clean_width", "clean interval, width")),
        *(Column("published_width", "published interval, width"), Column("small_width", f"width at {size} runs")),
    )
    rows = []
    for detector in dict.fromkeys(one.detector for one in tested):
        own = [one for one in tested if one.detector == detector]
        clean, published = ([one for one in own if one.protocol == name] for name in ("clean", "published"))
        areas = [_average([one.auc.value for one in of]) for of in (clean, published)]
        leak = None if None in areas else (areas[1] or 0.0) - (areas[0] or 0.0)
        widths = [_average([_width(one.auc.low, one.auc.high) for one in of]) for of in (clean, published)]
        small = _average([_width(*one.small) for one in published if one.small is not None])
        rows.append(Row((detector, *areas, leak, *widths, small)))
    notes = (
        f"Means over seeds. Width at {size} runs: of the range that holds 95 % of balanced tests of so many of the "
        "runs tested under the published protocol.",
    )
    return Table("leak", "What of a published score is leak, and how wide its interval is", columns, tuple(rows), notes)


def _width(low: float | None, high: float | None) -> float | None:
    return None if low is None or high is None else high - low


def _average(values: Sequence[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class Disagreement:
    """A run on which detector and claim checker agree with each other and not with the label."""

    run: Trajectory
    detector: Verdict
    checker: Verdict


def disagreement_table(found: Sequence[Disagreement]) -> Table:
    """Return the runs, with what each auditor points at."""
    columns = (
        *(
            Column("run", "run", "text"),
            Column("scenario", "scenario", "text"),
            Column("label", "silver label", "text"),
        ),
        *(Column("score", "detector"), Column("checker", "claim checker"), Column("answer", "answer", "text")),
        *(Column("points", "detector points at", "text"), Column("claims", "claim checker says", "text")),
    )
    rows = []
    for one in found:
        label = "faulty" if one.run.label is not None and one.run.label.faulty else "clean"
        scores: list[Cell] = [one.detector.score, one.checker.score]
        texts = [_short(one.run.final_answer or "(none)"), _pointed(one.detector), _short(one.checker.rationale or "")]
        rows.append(Row((one.run.id, one.run.group, label, *scores, *texts)))
    note = "Detector and claim checker side with each other against the judge; who is right needs a reader."
    return Table("disagreements", "Where the auditors most disagree with the label", columns, tuple(rows), (note,))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE else flat[: _QUOTE - 1] + "…"


def _pointed(verdict: Verdict) -> str:
    """Return the first two findings of a verdict."""
    said = []
    for item in verdict.evidence[:2]:
        place = "answer" if item.step is None else f"step {item.step}"
        said.append(f"{place}: {_short(item.quote or '')} ({_short(item.note or '')})")
    return "; ".join(said)
