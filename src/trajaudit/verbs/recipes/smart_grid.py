"""The recipe of Trajel's Table 12 on real runs: every training found is scored, compared and held against the labels.

Whatever `trajaudit train experiment=smart_grid` left under ``runs`` is a row; nothing here knows a detector by name but
the claim checker, which needs no training and is asked here. Comparisons are the best detector's with every other under
the first seed: one declared family a metric. A detector that was started several times on the same folds is one row of
the table of starts; everywhere else each draw of the folds is asked once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from trajaudit._fields import file_hash
from trajaudit.analysis import Comparison, compare, score, tabulate
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.metrics import statistics
from trajaudit.analysis.resampling import design
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.within import READINGS, area, compare_within, spread_at, within_groups
from trajaudit.config import experiments_dir
from trajaudit.dataset import Dataset
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.reports import Line, comparison_table
from trajaudit.reports.detector_tables import (
    Disagreement,
    Measured,
    Tested,
    detector_table,
    disagreement_table,
    leak_table,
    model_table,
    protocol_table,
    seed_table,
    start_table,
)
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats
from trajaudit.verbs.trained import TrainedRun, hashes, trained_runs
from trajaudit.verdict import Verdict

CLEAN, MODELS, PUBLISHED = "GroupKFold", "LeaveOneModelOut", "PaperProtocol"
COMPARED = ("roc_auc", "average_precision", "f1", "ece")
GOALS = {"roc_auc": 0.80, "within": 0.70}
"""What the best detector was to reach, pooled and within scenarios."""


@dataclass(frozen=True)
class Room:
    """What every table is made from: labelled runs by id, trainings, and how intervals are made."""

    runs: dict[str, Trajectory]
    trained: list[TrainedRun]
    stats: Stats

    def of(self, split: str, seed: int | None = None) -> list[TrainedRun]:
        """Return one training for each detector and draw of the split: the one that started from the split's own seed,
        else the first.
        """
        chosen: dict[tuple[str, int | None], TrainedRun] = {}
        for one in sorted(
            self.starts(split, seed), key=lambda run: (run.auditor, run.seed or 0, run.start != run.seed)
        ):
            chosen.setdefault((one.auditor, one.seed), one)
        return list(chosen.values())

    def starts(self, split: str, seed: int | None = None) -> list[TrainedRun]:
        """Return every training under a split, on one draw of it if given."""
        return [one for one in self.trained if one.split == split and seed in (None, one.seed)]

    def tested(self, verdicts: Iterable[Verdict]) -> list[Trajectory]:
        return [self.runs[verdict.trajectory_id] for verdict in verdicts]


def smart_grid(
    *, dataset: Dataset, stats: Stats, runs: str, show: int = 15, figures: str | None = None
) -> Reproduction:
    """Score every training under a folder.

    Args:
        runs: folder that `trajaudit train` wrote to.
        show: how many disagreements of either kind are listed.
        figures: the published figures; the file that ships with trajaudit where null.
    """
    path = Path(figures) if figures else experiments_dir() / "smart_grid" / "published.yaml"
    published = yaml.safe_load(path.read_text(encoding="utf-8"))
    labelled = {run.id: run for run in dataset if run.label is not None}
    room = Room(labelled, trained_runs(runs, dataset.name, starts=True), stats)
    checker = ClaimsJudge(dataset.taxonomy, dataset.procedure.standing_claims).predict(list(labelled.values()))
    measured = _measured(room, checker)
    first = {one.auditor: one for one in room.of(CLEAN, 0)}
    best = max((one for one in measured if one.card.auditor in first), key=lambda one: one.auc.value or 0.0)
    comparisons = _compared(room, checker, best.card.auditor)
    size = published["test_rows"]["trajectories"]
    protocols = _protocols(room, size)
    tables = [
        seed_table(_areas_by_detector(room, room.of(CLEAN))),
        comparison_table(comparisons),
        protocol_table(protocols, size),
        leak_table(protocols, size),
        disagreement_table(_disagreements(room, first[best.card.auditor].verdicts, checker, show)),
    ]
    if room.of(MODELS):
        tables.insert(2, model_table(_by_model(room)))
    if several := _started_again(room):
        tables.insert(1, start_table(_areas_by_detector(room, several)))
    return Reproduction(
        _ledger(published),
        detector_table(measured),
        tables,
        [],
        _findings(best, comparisons),
        {**dataset.files, **hashes(room.trained), path.name: file_hash(path)},
    )


def _measured(room: Room, checker: Sequence[Verdict]) -> list[Measured]:
    """Measure every detector of the first seed, and the claim checker."""
    trained = room.of(CLEAN, 0)
    said = [verdict for one in trained for verdict in one.verdicts] + list(checker)
    items, answers = tabulate(room.runs.values(), said)
    stats = room.stats
    how = (stats["resamples"], stats["seed"], stats["level"])
    cards = score(items, answers, resamples=how[0], seed=how[1], level=how[2], method=stats["method"])
    wanted = [within_groups(items, answers[card.auditor], reading) for card in cards for reading in READINGS]
    ready = estimates(design(items), wanted, *how)
    size = len(READINGS)
    return [
        Measured(card, dict(zip(READINGS, ready[size * i : size * i + size], strict=True)))
        for i, card in enumerate(cards)
    ]


def _compared(room: Room, checker: Sequence[Verdict], best: str) -> list[Comparison]:
    said = [verdict for one in room.of(CLEAN, 0) for verdict in one.verdicts] + list(checker)
    items, answers = tabulate(room.runs.values(), said)
    pairs = [(best, name) for name in answers if name != best]
    stats, family = room.stats, "the best detector against every other"
    how: dict[str, Any] = {"resamples": stats["resamples"], "seed": stats["seed"], "level": stats["level"]}
    rows = compare(items, answers, COMPARED, pairs, family=f"{family}, pooled", **how)
    return rows + compare_within(items, answers, pairs, family=f"{family}, within scenarios", **how)


def _areas_by_detector(room: Room, trained: Sequence[TrainedRun]) -> dict[str, list[tuple[float, float]]]:
    """Return the AUC pooled and within of each training, by detector."""
    found: dict[str, list[tuple[float, float]]] = {}
    for one in trained:
        items, answers = tabulate(room.tested(one.verdicts), one.verdicts)
        within = within_groups(items, answers[one.auditor]).value
        pooled = area(answers[one.auditor].score, items.faulty)
        found.setdefault(one.auditor, []).append((pooled, within or 0.5))
    return found


def _started_again(room: Room) -> list[TrainedRun]:
    """Return the trainings on the first draw of the folds of every detector that was started more than once."""
    found = room.starts(CLEAN, 0)
    often = Counter(one.auditor for one in found)
    return [one for one in found if often[one.auditor] > 1]


def _by_model(room: Room) -> list[tuple[str, str, Estimate, Estimate]]:
    rows = []
    for one in room.of(MODELS):
        by_model: dict[str, list[Verdict]] = {}
        for verdict in one.verdicts:
            by_model.setdefault(str(room.runs[verdict.trajectory_id].source.model), []).append(verdict)
        for model, verdicts in sorted(by_model.items()):
            rows.append((one.auditor, model, *_areas(room, room.tested(verdicts), verdicts)))
    return rows


def _areas(room: Room, runs: Sequence[Trajectory], verdicts: Sequence[Verdict]) -> tuple[Estimate, Estimate]:
    """Return the AUC pooled and within, with intervals by group."""
    items, answers = tabulate(runs, verdicts)
    (own,) = answers.values()
    stats = room.stats
    wanted = [statistics(items, own)["roc_auc"], within_groups(items, own)]
    pooled, within = estimates(design(items), wanted, stats["resamples"], stats["seed"], stats["level"])
    return pooled, within


def _protocols(room: Room, size: int) -> list[Tested]:
    """Return each detector that was trained under the published protocol, beside its clean training."""
    detectors = {one.auditor for one in room.of(PUBLISHED)}
    tested = []
    for one in [*room.of(CLEAN), *room.of(PUBLISHED)]:
        if one.auditor not in detectors:
            continue
        leaky = one.split == PUBLISHED
        runs = room.tested(one.verdicts)
        alone = [replace(run, group=run.id) for run in runs] if leaky else runs
        items, answers = tabulate(runs, one.verdicts)
        small = spread_at(answers[one.auditor].score, items.faulty, size)
        protocol = "published" if leaky else "clean"
        tested.append(Tested(one.auditor, protocol, one.seed or 0, _areas(room, alone, one.verdicts)[0], small))
    return sorted(tested, key=lambda t: (t.detector, t.protocol, t.seed))


def _disagreements(
    room: Room, verdicts: Sequence[Verdict], checker: Sequence[Verdict], show: int
) -> list[Disagreement]:
    """Return the runs where both auditors are against the label, the detector's surest first, one a final answer."""
    said = {verdict.trajectory_id: verdict for verdict in checker}
    found: dict[bool, list[Disagreement]] = {True: [], False: []}
    for verdict in sorted(verdicts, key=lambda v: -abs((v.score or 0.5) - 0.5)):
        run, other = room.runs[verdict.trajectory_id], said[verdict.trajectory_id]
        against = run.label is not None and verdict.faulty == other.faulty != run.label.faulty
        told = found[bool(verdict.faulty)]
        if against and len(told) < show and run.final_answer not in [one.run.final_answer for one in told]:
            told.append(Disagreement(run, verdict, other))
    return [*found[True], *found[False]]


def _ledger(published: Any) -> list[Line]:
    """Return the paper's rows: its trajectories are not released, so none can be rebuilt."""
    why = "the texts of its trajectories are not released; the table of detectors holds the same paradigms on real runs"
    return [
        Line(f"{row}.{column}", f"{value:.3f}", None, None, "not reproducible here", why)
        for row, values in published["detectors"].items()
        for column, value in zip(published["columns"], values, strict=True)
        if value is not None
    ]


def _findings(best: Measured, comparisons: Sequence[Comparison]) -> list[str]:
    within = best.within["runs"]
    reached = {"roc_auc": best.auc, "within": within}
    goals = [
        f"{name} {found.value:.3f} [{found.low:.3f}, {found.high:.3f}] "
        f"({'at least' if (found.value or 0) >= GOALS[name] else 'below'} {GOALS[name]:.2f})"
        for name, found in reached.items()
    ]
    beaten = [
        c.b for c in comparisons if c.metric == "roc_auc" and (c.p_holm or 1) < 0.05 and (c.difference.value or 0) > 0
    ]
    unclear = [c.b for c in comparisons if c.metric == "roc_auc" and c.b not in beaten]
    return [
        f"best detector: {best.card.auditor}, {', '.join(goals)}",
        f"its pooled AUC is higher, by DeLong with scenarios as clusters and Holm over the family, than that of: "
        f"{', '.join(beaten) or 'none'}",
        f"not shown against: {', '.join(unclear) or 'none'}",
        "the label is silver: one LLM judge, which two blind readings of 60 runs found precise and half-blind",
    ]
