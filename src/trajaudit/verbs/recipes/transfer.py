"""The recipe of transfer between domains: what is a source worth, counted in labels of the target?

Whatever `trajaudit train experiment=transfer_source` and `experiment=transfer` left under ``runs`` is a point of a
curve: a detector on the target's tested runs after none, 10, 50, 200 or all of the other labels, from nothing or from a
source's weights. A start is matched to the training of its source by the hash of its weights, never by a path. All
points of a target are measured on the same runs, those that its few-shot trainings tested.

Fault types differ between domains, so only "faulty" is measured: an area under the ROC curve, which needs no threshold
and no calibration, for which 10 labels would be too few.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trajaudit._fields import Json
from trajaudit.analysis import Comparison, holm, tabulate
from trajaudit.analysis.combinations import Combined, Weights, added, combined, mean_of, scaled
from trajaudit.analysis.detection import detection
from trajaudit.analysis.paired import detectable
from trajaudit.analysis.resampling import design
from trajaudit.analysis.statistic import Statistic
from trajaudit.analysis.within import within_groups
from trajaudit.config import Choice
from trajaudit.reports import comparison_table
from trajaudit.reports.figures.learning_curves import learning_curves
from trajaudit.reports.transfer import Point, curve_table
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats
from trajaudit.verbs.trained import every_training, hashes_by_path
from trajaudit.verbs.trials import Key, Trial, order, tested_by, trials_of

ALONE = "a start from a source against none, at the same labels"
WORTH = "no label of the target against so many of them and no source"


def transfer(*, stats: Stats, runs: str, data_dir: str) -> Reproduction:
    """Draw the learning curve of every detector between every two domains that it was trained on.

    Args:
        runs: folder that `trajaudit train` wrote to.
        data_dir: where published data lies.

    Raises:
        FileNotFoundError: no training there.
        RecordError: two trainings are the same, tested other runs, or started from weights that nobody has.
    """
    trials = trials_of(every_training(runs))
    points: list[Point] = []
    rows: list[Comparison] = []
    for where in dict.fromkeys(trial.where for trial in trials):
        own = [trial for trial in trials if trial.where == where]
        measured, compared = _target(own, stats, data_dir)
        points, rows = points + measured, rows + compared
    rows = [row for family in (ALONE, WORTH) for row in _adjusted([row for row in rows if row.family == family], stats)]
    return Reproduction(
        [],
        curve_table(points),
        [comparison_table(rows)] if rows else [],
        [learning_curves(points)],
        _findings(points, rows),
        hashes_by_path([trial.run for trial in trials], runs),
    )


def _target(trials: Sequence[Trial], stats: Stats, data_dir: str) -> tuple[list[Point], list[Comparison]]:
    """Return the points of one target, and its comparisons, not adjusted."""
    config = dict(trials[0].target)
    name = str(config["_target_"]).rpartition(".")[2]
    if "data_dir" in config:
        config["data_dir"] = data_dir
    tested = tested_by(trials)
    runs = [run for run in dataset_of(Choice("dataset", config)) if run.id in tested]
    cells: dict[Key, dict[tuple[Json, Json], str]] = {}
    found: dict[str, Statistic] = {}
    within: dict[str, Statistic] = {}
    for number, trial in enumerate(trials):
        cells.setdefault(trial.key, {})[trial.draw] = str(number)
        found[str(number)], within[str(number)] = _measured(runs, trial)
    plan, how = design(tabulate(runs, ())[0]), _how(stats)
    weights = [mean_of(list(of.values())) for of in cells.values()]
    both = zip(combined(plan, found, weights, **how), combined(plan, within, weights, **how), strict=True)
    points = []
    for (key, of), (pooled, inside) in zip(cells.items(), both, strict=True):
        values = [value for one in of.values() if (value := found[one].value) is not None]
        points.append(Point(name, *key, tuple(values), pooled.estimate, inside.estimate))
    contrasts = list(_contrasts(cells))
    told = combined(plan, found, [weight for *_, weight in contrasts], **how)
    rows = [_row(name, a, b, family, one) for (a, b, family, _), one in zip(contrasts, told, strict=True)]
    return sorted(points, key=lambda one: one.order), rows


def _measured(runs: Sequence[Trajectory], trial: Trial) -> tuple[Statistic, Statistic]:
    """Return the area of one training on the tested runs, pooled and within groups."""
    ids = {run.id for run in runs}
    items, answers = tabulate(runs, [verdict for verdict in trial.run.verdicts if verdict.trajectory_id in ids])
    (own,) = answers.values()
    return detection(items, own)["roc_auc"], within_groups(items, own)


def _contrasts(cells: Mapping[Key, Mapping[tuple[Json, Json], str]]) -> Iterator[tuple[Key, Key, str, Weights]]:
    """Yield (a, b, family, weights) for what is compared: over the draws that both sides have, where both have some."""
    for (detector, source, labels), of in sorted(cells.items(), key=lambda cell: order(cell[0])):
        if source is None:
            continue
        others = [
            key for key in sorted(cells, key=order) if key[:2] == (detector, None) and (labels == 0 or key[2] == labels)
        ]
        for other in others:
            if labels == 0:
                a, b = list(of.values()), list(cells[other].values())
            else:
                shared = [draw for draw in of if draw in cells[other]]
                a, b = [of[draw] for draw in shared], [cells[other][draw] for draw in shared]
            if a and b:
                weights = added(mean_of(a), scaled(mean_of(b), -1))
                yield (detector, source, labels), other, WORTH if labels == 0 else ALONE, weights


def _row(target: str, a: Key, b: Key, family: str, one: Combined) -> Comparison:
    """Return a row whose ``mde`` is the standard error until the size of its family is known."""
    told, reason = one.estimate, one.estimate.reason
    names = _named(target, a), _named(target, b)
    return Comparison("roc_auc", *names, told, "paired bootstrap", one.p_value, None, one.error, family, reason)


def _named(target: str, key: Key) -> str:
    detector, source, labels = key
    start = "" if source is None else f" from {source}"
    return f"{detector}{start}, {'all' if labels is None else labels} labels of {target}"


def _adjusted(rows: Sequence[Comparison], stats: Stats) -> list[Comparison]:
    """Return one family with Holm's p values, and what it could have shown in place of the standard errors."""
    alpha = (1 - stats["level"]) / max(1, len(rows))
    adjusted = holm([row.p_value for row in rows])
    return [
        replace(row, p_holm=p, mde=None if row.mde is None else detectable(row.mde, alpha))
        for row, p in zip(rows, adjusted, strict=True)
    ]


def _how(stats: Stats) -> dict[str, Any]:
    return {"resamples": stats["resamples"], "seed": stats["seed"], "level": stats["level"]}


def _findings(points: Sequence[Point], rows: Sequence[Comparison]) -> list[str]:
    told = []
    for target in dict.fromkeys(point.target for point in points):
        zero = [point for point in points if point.target == target and point.labels == 0]
        shown = ", ".join(f"{one.detector} from {one.source} {_printed(one)}" for one in zero) or "none was trained"
        told.append(f"{target}, no label of its own: {shown}")
    for family in (ALONE, WORTH):
        own = [row for row in rows if row.family == family]
        sure = [row for row in own if row.p_holm is not None and row.p_holm < round(1 - row.difference.level, 12)]
        up = sum((row.difference.value or 0) > 0 for row in sure)
        told.append(f"{family}: {up} of {len(own)} higher, {len(sure) - up} lower, {len(own) - len(sure)} not shown")
    return [*told, "domains without a common fault type share the output for faulty alone; types start afresh"]


def _printed(point: Point) -> str:
    return "undefined" if point.auc.value is None else f"{point.auc.value:.3f}"
