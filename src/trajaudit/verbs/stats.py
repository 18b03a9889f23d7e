"""What the statistics are told: resamples, seed, level, the kind of interval, and the auditor to compare with."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from typing_extensions import TypedDict

from trajaudit._fields import nearest
from trajaudit.analysis import CONVENTIONS, Answers, Comparison, Items, Scorecard, compare, score, tabulate
from trajaudit.runs import progress_bar
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.collect import Collected


class Stats(TypedDict):
    """``reference`` is the auditor that the others are compared with, and that cost is relative to."""

    resamples: int
    seed: int
    level: float
    method: Literal["percentile", "bca"]
    reference: str


COMPARED = ("silent_recall", "loud_recall", "false_alarm", "f1", "roc_auc")
"""The declared family of a report: every auditor against the reference on each of these."""


def check_stats(stats: Stats) -> None:
    """Refuse values that no interval can be made with.

    Raises:
        ValueError: naming the key.
    """
    if stats["resamples"] < 100:
        raise ValueError(f"stats.resamples: expected at least 100, got {stats['resamples']}")
    if stats["seed"] < 0:
        raise ValueError(f"stats.seed: expected 0 or more, got {stats['seed']}")
    if not 0.5 <= stats["level"] < 1:
        raise ValueError(f"stats.level: expected a number in [0.5, 1), got {stats['level']}")


def scored(found: Collected, stats: Stats) -> tuple[list[Scorecard], list[Comparison]]:
    """Score a set's verdicts under both conventions, and compare its auditors with the reference.

    Unlabelled trajectories are left out, and it is said how many.

    Raises:
        ValueError: nothing is labelled.
    """
    labelled = {run.id: run for run in found.trajectories if run.label is not None}
    if not labelled:
        raise ValueError(
            f"no trajectory of {found.data.name!r} is labelled: there is nothing to score against; `trajaudit report` "
            "shows the runs with every verdict, and who flags how many"
        )
    if left := len(found.trajectories) - len(labelled):
        print(f"not scored: {left} of {len(found.trajectories)} trajectories, which have no label", file=sys.stderr)
    _one_origin(found.data.name, labelled.values())
    items, answers = tabulate(labelled.values(), [v for v in found.verdicts if v.trajectory_id in labelled])
    bar = progress_bar(f"score {found.data.name}", len(CONVENTIONS) + 1)
    try:
        cards: list[Scorecard] = []
        for convention in CONVENTIONS:
            cards += score(items, answers, convention=convention, **stats)
            bar.update()
        comparisons = against_reference(items, answers, stats)
        bar.update()
        return cards, comparisons
    finally:
        bar.close()


def _one_origin(name: str, runs: Iterable[Trajectory]) -> None:
    """Refuse to average over labels that are known in different ways.

    Raises:
        ValueError: naming each origin and how many labels have it.
    """
    origins = Counter(run.label.origin for run in runs if run.label is not None)
    if len(origins) > 1:
        counts = ", ".join(f"{count} by {origin}" for origin, count in origins.most_common())
        raise ValueError(
            f"the labels of {name!r} are of several origins ({counts}), and a rate over all of them is one of neither; "
            f"score them apart: dataset=jsonl dataset.origin={next(iter(origins))}"
        )


def origin_notes(runs: Iterable[Trajectory]) -> list[str]:
    """Return what a reader of rates over these runs must be told of how their labels are known."""
    origins = dict.fromkeys(run.label.origin for run in runs if run.label is not None)
    return [f"Labels by {origin}: {ORIGIN_NOTES[origin]}." for origin in origins if origin in ORIGIN_NOTES]


ORIGIN_NOTES = {
    "human": "what people said, who can be wrong",
    "judge": "what another judge said: this is agreement with it, not accuracy",
    "rule": "no rule fired on a run that counts as clean, and no more; the rules themselves are right by definition",
}
"""What a reader must know of labels that are not there by construction."""


def against_reference(items: Items, answers: Mapping[str, Answers], stats: Stats) -> list[Comparison]:
    """Compare every auditor with the reference on ``COMPARED``, as one family; where it is absent, that is said."""
    reference = stats["reference"]
    if reference not in answers:
        known = ", ".join(answers)
        print(
            f"no paired comparisons: no verdicts of the reference {reference!r}{nearest(reference, answers)}; "
            f"stats.reference can be one of {known}",
            file=sys.stderr,
        )
        return []
    pairs = [(name, reference) for name in answers if name != reference]
    if not pairs:
        return []
    family = f"every auditor against {reference} on {', '.join(COMPARED)}"
    return compare(items, answers, COMPARED, pairs, family=family, **stats)
