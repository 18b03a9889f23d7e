"""What a training of a hybrid left fold by fold: the fitted hybrid, and what its parts said of the runs on either side.

An ablation needs nothing else: it fits the hybrid again, on the very verdicts that the whole one learnt from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trajaudit._fields import RecordError, loads
from trajaudit.detectors import hybrid as hybrid_room
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.stacked import ASKED, LEARNT_FROM, said_by_parts
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.ablation import ablated
from trajaudit.verdict import Verdict

Said = dict[str, list[Verdict]]


@dataclass(frozen=True)
class StackedFold:
    """One fold. ``learnt_from`` and ``asked`` are the parts' verdicts on ``train`` and ``test``, in order."""

    name: str
    hybrid: Hybrid
    train: list[Trajectory]
    learnt_from: Said
    test: list[Trajectory]
    asked: Said


def is_stacked(training: Path) -> bool:
    """Say whether a training's folder is that of a hybrid."""
    return any(training.glob(f"fold-*/model/{hybrid_room.MODEL}"))


def stacked_folds(
    training: Path, trained_on: Mapping[str, Trajectory], tested: Mapping[str, Trajectory]
) -> list[StackedFold]:
    """Return the folds of a hybrid's training.

    Args:
        trained_on, tested: the runs of the two sets by id; the same set but under `split=transfer`.

    Raises:
        RecordError: a verdict is on a run that the set does not hold as it is now.
    """
    return [_fold(path.parent, trained_on, tested) for path in sorted(training.glob("fold-*/fold.json"))]


def _fold(place: Path, trained_on: Mapping[str, Trajectory], tested: Mapping[str, Trajectory]) -> StackedFold:
    model = place / "model"
    hybrid = Hybrid.load(model / hybrid_room.MODEL)
    learnt_from, asked = (said_by_parts(model / side, hybrid.columns.parts) for side in (LEARNT_FROM, ASKED))
    name = loads((place / "fold.json").read_bytes(), str(place / "fold.json"))["fold"]["fold"]
    train, test = _runs(learnt_from, trained_on, model), _runs(asked, tested, model)
    return StackedFold(str(name), hybrid, train, learnt_from, test, asked)


def _runs(said: Said, runs: Mapping[str, Trajectory], where: Path) -> list[Trajectory]:
    first = next(iter(said.values()))
    for verdict in first:
        run = runs.get(verdict.trajectory_id)
        if run is None or run.content_hash != verdict.content_hash:
            raise RecordError(
                f"{where}: {verdict.trajectory_id!r} is not in the set, or has changed since the training"
            )
    return [runs[verdict.trajectory_id] for verdict in first]


def ablation_of(folds: Sequence[StackedFold]) -> dict[str, list[Verdict]]:
    """Return, over all folds, what each part says as it is, and what hybrids of all parts, of all but one and of each
    alone say; by name, without seconds."""
    found: dict[str, list[Verdict]] = {}
    for fold in folds:
        hybrids = ablated(fold.hybrid, fold.train, fold.learnt_from)
        said = fold.asked | {name: hybrid.predict(fold.test, fold.asked) for name, hybrid in hybrids.items()}
        for name, verdicts in said.items():
            found.setdefault(name, []).extend(replace(v, auditor=name, latency_s=None) for v in verdicts)
    return found
