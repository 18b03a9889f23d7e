"""A stacked hybrid fitted again on less: without a part, with one part alone, or without the runs of one fault type.

The parts are not fitted again; the hybrid is, on the very out-of-fold verdicts that the whole one learnt from, so a
difference is owed to what was left out and to nothing else.
A part that learns from labels (signals, a trained detector) has then seen the type that is left out: only a split that
leaves the type out (`split=leave_one_fault_type_out`) holds it back from every part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trajaudit.detectors.hybrid import Hybrid
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

ALL = "all parts"
Said = Mapping[str, Sequence[Verdict]]


def ablated(hybrid: Hybrid, train: Sequence[Trajectory], learnt_from: Said) -> dict[str, Hybrid]:
    """Return the hybrid with all parts, and hybrids of the same recipe without each part and with each alone.

    Args:
        train: the runs that ``hybrid`` was fitted on.
        learnt_from: what its parts said of them out of fold, in the same order.
    """
    parts = hybrid.columns.parts
    subsets = {f"without {part}": tuple(other for other in parts if other != part) for part in parts}
    subsets |= {f"{part} alone": (part,) for part in parts}
    everything = range(len(train))
    return {ALL: hybrid} | {
        name: _again(hybrid, train, learnt_from, everything, of) for name, of in subsets.items() if of
    }


def left_out(
    whole: Hybrid, train: Sequence[Trajectory], learnt_from: Said, runs: Sequence[Trajectory], said: Said
) -> dict[str, tuple[list[Trajectory], list[Verdict]]]:
    """Return, for each fault type, its runs and the clean ones, as judged by a hybrid that was never shown the type.

    Args:
        said: the parts' verdicts on ``runs``.
    """
    parts = whole.columns.parts
    found = {}
    for kind in whole.columns.types:
        hybrid = _again(whole, train, learnt_from, [i for i, run in enumerate(train) if kind not in _types(run)], parts)
        at = [i for i, run in enumerate(runs) if _types(run) in ((), (kind,))]
        asked = [runs[i] for i in at]
        found[kind] = asked, hybrid.predict(asked, {part: [said[part][i] for i in at] for part in parts})
    return found


def _again(
    whole: Hybrid, train: Sequence[Trajectory], learnt_from: Said, kept: Sequence[int], parts: Sequence[str]
) -> Hybrid:
    """Return a hybrid of the same recipe over some parts, fitted on some of the training runs."""
    hybrid = Hybrid(
        parts, whole.columns.types, budget=whole.budget, strength=whole.strength, folds=whole.folds, seed=whole.seed
    )
    hybrid.fit([train[i] for i in kept], {part: [learnt_from[part][i] for i in kept] for part in parts})
    return hybrid


def _types(run: Trajectory) -> tuple[str, ...]:
    return tuple(fault.type for fault in run.label.faults) if run.label is not None else ()
