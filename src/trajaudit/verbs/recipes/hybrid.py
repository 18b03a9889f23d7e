"""The recipe of the stacked hybrid: every training of one is taken apart, and held against every other training.

What an ablation compares is decided fold by fold by hybrids of one recipe, each with its own calibration and threshold
from inner folds; a part also stands as it speaks, uncalibrated. Three families of paired comparisons are declared: the
hybrid against each part as it speaks, against each part alone (calibrated in the same way: what stacking adds), and
against the hybrid without each part (what that part adds). A training is judged on the runs that it was given, whatever
the recipe's dataset is told: that only says which trainings are meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trajaudit._fields import canonical
from trajaudit.analysis import Comparison, compare, score, tabulate
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.resampling import design
from trajaudit.analysis.within import compare_within, within_groups
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.reports import Table, comparison_table, verdict_in_words
from trajaudit.reports.hybrid import Placed, held_back_table, placed_table, type_table
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.ablation import ALL
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stacked_folds import Said, StackedFold, ablation_of, is_stacked, stacked_folds
from trajaudit.verbs.stats import Stats
from trajaudit.verbs.trained import TrainedRun, config_of, distinct, every_training, hashes

HELD_BACK = "LeaveOneFaultTypeOut"
HEADLINES = ("roc_auc", "f1", "step_joint", "type_joint")
LOW_IS_GOOD = ("false_alarm", "ece")
COMPARED = ("recall", "silent_recall", "false_alarm", "f1", "roc_auc", "step_joint", "type_joint", "ece")
FAMILIES = {
    "": "the hybrid against each part as it speaks",
    " alone": "the hybrid against each part alone, calibrated as it is",
    "without ": "the hybrid against itself without each part",
}
Runs = dict[str, Trajectory]


@dataclass(frozen=True)
class Training:
    """One training with the runs that it was given, and its folds where it is a hybrid's."""

    run: TrainedRun
    config: Mapping[str, Any]
    tested: Runs
    folds: list[StackedFold]

    @property
    def key(self) -> str:
        seed = f"_seed{self.run.seed}" if self.run.seed else ""
        return f"{self.run.auditor}_{self.run.split.lower()}{seed}"

    @property
    def on(self) -> str:
        """What tells its test runs and folds apart from another training's."""
        return _on(self.config)


def hybrid(*, dataset: Dataset, stats: Stats, runs: str) -> Reproduction:
    """Take every hybrid apart that was trained on a dataset.

    Args:
        dataset: says by its name which trainings are meant: hybrids, and what shares runs and split with one.
        runs: folder that `trajaudit train` wrote to.

    Raises:
        FileNotFoundError: there is no training of a hybrid.
    """
    found = every_training(runs, dataset.name)
    on = {one.path: _on(config_of(one.path)) for one in found}
    with_hybrids = {on[one.path] for one in found if is_stacked(one.path)}
    trained = _trainings(distinct([one for one in found if on[one.path] in with_hybrids]))
    stacked = [one for one in trained if one.folds and one.run.split != HELD_BACK]
    if not stacked:
        raise FileNotFoundError(f"recipe.runs: no training of a hybrid on {dataset.name} under {runs}")
    tables: list[Table] = []
    findings: list[str] = []
    for one in stacked:
        taken_apart, said = _taken_apart(one, stats)
        tables += taken_apart
        findings += said
    for one in trained:
        if one.folds and one.run.split == HELD_BACK:
            tables.append(_held_back(one, stacked, stats))
    side_by_side = _side_by_side(trained, stats)
    files = {**dataset.files, **hashes([one.run for one in trained])}
    return Reproduction([], side_by_side[0], [*side_by_side[1:], *tables], [], findings, files)


def _on(config: Mapping[str, Any]) -> str:
    return canonical([config["dataset"], config["trained_on"], config["split"]]).decode()


def _trainings(found: Iterable[TrainedRun]) -> list[Training]:
    sets: dict[bytes, Runs] = {}

    def runs_of(config: Mapping[str, Any], limit: int | None) -> Runs:
        key = canonical([config, limit])
        if key not in sets:
            sets[key] = {run.id: run for run in dataset_of(Choice("dataset", config)).prefix(limit)}
        return sets[key]

    trainings = []
    for one in found:
        config = config_of(one.path)
        tested = runs_of(config["dataset"], config["limit"])
        trained_on = runs_of(config["trained_on"], config["limit"])
        folds = stacked_folds(one.path, trained_on, tested) if is_stacked(one.path) else []
        trainings.append(Training(one, config, tested, folds))
    return trainings


def _placed(runs: Sequence[Trajectory], said: Said, stats: Stats) -> dict[str, Placed]:
    items, answers = tabulate(runs, [verdict for of in said.values() for verdict in of])
    cards = score(items, answers, **stats)
    wanted = [within_groups(items, answers[card.auditor]) for card in cards]
    within = estimates(design(items), wanted, stats["resamples"], stats["seed"], stats["level"])
    return {card.auditor: Placed(card, one) for card, one in zip(cards, within, strict=True)}


def _taken_apart(one: Training, stats: Stats) -> tuple[list[Table], list[str]]:
    said = ablation_of(one.folds)
    runs = [run for fold in one.folds for run in fold.test]
    placed = _placed(runs, said, stats)
    parts = one.folds[0].hybrid.columns.parts
    beside = {name: placed[name] for name in (*parts, ALL)}
    hybrids = {name: found for name, found in placed.items() if name not in parts}
    comparisons = _compared(runs, said, parts, placed[ALL], stats)
    of = f"{one.run.auditor}, {one.run.split}"
    tables = [
        placed_table(f"{one.key}_parts", f"The parts as they speak, and all of them stacked: {of}", beside),
        placed_table(f"{one.key}_ablation", f"What each part adds: {of}", hybrids),
        replace(comparison_table(comparisons), key=f"{one.key}_comparisons", title=f"Paired comparisons: {of}"),
    ]
    if any(found.card.per_type_recall for found in beside.values()):
        tables.insert(1, type_table(f"{one.key}_types", f"Recall by fault type: {of}", beside))
    return tables, _findings(of, placed, comparisons)


def _compared(
    runs: Sequence[Trajectory], said: Said, parts: Sequence[str], whole: Placed, stats: Stats
) -> list[Comparison]:
    items, answers = tabulate(runs, [verdict for verdicts in said.values() for verdict in verdicts])
    metrics = [name for name in COMPARED if whole.cell(name).value is not None]
    how: dict[str, Any] = {"resamples": stats["resamples"], "seed": stats["seed"], "level": stats["level"]}
    rows: list[Comparison] = []
    for kind, family in FAMILIES.items():
        others = [f"{kind}{part}" if kind.endswith(" ") else f"{part}{kind}" for part in parts]
        pairs = [(ALL, name) for name in others if name in said]
        rows += compare(items, answers, metrics, pairs, family=family, **how)
        if whole.within.value is not None:
            rows += compare_within(items, answers, pairs, family=f"{family}, within groups", **how)
    return rows


def _findings(of: str, placed: Mapping[str, Placed], comparisons: Sequence[Comparison]) -> list[str]:
    """Say how far the whole is ahead of the best part on each headline, and which parts it misses."""
    told = []
    for metric in HEADLINES:
        rows = [row for row in comparisons if row.metric == metric and row.family == FAMILIES[""]]
        ahead = [row for row in rows if placed[row.b].cell(metric).value is not None]
        if ahead:
            row = max(ahead, key=lambda row: placed[row.b].cell(metric).value or 0.0)
            gain, own, best = row.difference, placed[ALL].cell(metric).value, placed[row.b].cell(metric).value
            told.append(
                f"{of}: {metric} {own:.3f}, of the best part, {row.b}, {best:.3f}: {gain.value:+.3f} "
                f"[{gain.low:+.3f}, {gain.high:+.3f}], {verdict_in_words(row)}"
            )
    without = [row for row in comparisons if row.b.startswith("without ")]
    missed: dict[str, list[str]] = {row.b.removeprefix("without "): [] for row in without}
    for row in without:
        if verdict_in_words(row) == "survives" and ((row.difference.value or 0.0) < 0) == (row.metric in LOW_IS_GOOD):
            missed[row.b.removeprefix("without ")].append(f"{row.metric} {row.difference.value:+.3f}")
    sure = "; ".join(f"{part} ({', '.join(rows)})" for part, rows in missed.items() if rows)
    rest = ", ".join(part for part, rows in missed.items() if not rows)
    told.append(f"{of}: missed when left out: {sure or 'none'}; not shown to be missed: {rest or 'none'}")
    return told


def _held_back(one: Training, stacked: Sequence[Training], stats: Stats) -> Table:
    """Return what is found of types that neither a part nor a weight was shown."""
    shown = next((s for s in stacked if s.run.auditor == one.run.auditor and s.tested is one.tested), None)
    with_it = _placed(list(shown.tested.values()), {ALL: ablation_of(shown.folds)[ALL]}, stats)[ALL] if shown else None
    found = {}
    for fold in one.folds:
        said = [replace(verdict, auditor=ALL) for verdict in fold.hybrid.predict(fold.test, fold.asked)]
        placed = _placed(fold.test, {ALL: said}, stats)[ALL]
        found[fold.name] = placed, with_it.cell(fold.name) if with_it else None
    title = f"Leave one fault type out: {one.run.auditor}"
    return held_back_table(one.key, title, found)


def _side_by_side(trained: Sequence[Training], stats: Stats) -> list[Table]:
    """Return a table of all trainings for each split and set, as `trajaudit train` calibrated and decided them."""
    tables = []
    for on in dict.fromkeys(one.on for one in trained if one.folds and one.run.split != HELD_BACK):
        same = [one for one in trained if one.on == on]
        runs = [same[0].tested[verdict.trajectory_id] for verdict in same[0].run.verdicts]
        said = {one.run.auditor: [replace(v, latency_s=None) for v in one.run.verdicts] for one in same}
        first = next(one for one in same if one.folds)
        key, title = f"trainings_{first.key.removeprefix(first.run.auditor + '_')}", "Trainings side by side"
        note = "As `trajaudit train` calibrated and decided them; how a hybrid decides by itself is in its own tables."
        tables.append(placed_table(key, f"{title}: {first.run.split}", _placed(runs, said, stats), (note,)))
    return tables
