"""A stacked hybrid fitted again on less: without a part, with one part alone, or without the runs of one fault type.

The parts are not fitted again (they learn from clean runs, which all of these keep); the hybrid is, on the very
out-of-fold verdicts that the whole one learnt from, so a difference is owed to what was left out and to nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.stacked import Stacked
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict


def ablated(stacked: Stacked, train: Sequence[Trajectory]) -> dict[str, Hybrid]:
    """Return the hybrid with all parts, and hybrids of the same recipe without each part and with each alone.

    Args:
        train: the runs that ``stacked`` was fitted on, in the same order.
    """
    parts = stacked.hybrid.columns.parts
    subsets = {f"without {part}": tuple(other for other in parts if other != part) for part in parts}
    subsets |= {f"{part} alone": (part,) for part in parts}
    everything = range(len(train))
    return {"all parts": stacked.hybrid} | {
        name: _again(stacked, train, everything, of) for name, of in subsets.items() if of
    }


def left_out(
    stacked: Stacked, train: Sequence[Trajectory], runs: Sequence[Trajectory], said: Mapping[str, Sequence[Verdict]]
) -> dict[str, tuple[list[Trajectory], list[Verdict]]]:
    """Return, for each fault type, its runs and the clean ones, as judged by a hybrid that was never shown the type.

    Args:
        said: the parts' verdicts on ``runs``.
    """
    parts = stacked.hybrid.columns.parts
    found = {}
    for kind in stacked.hybrid.columns.types:
        hybrid = _again(stacked, train, [i for i, run in enumerate(train) if kind not in _types(run)], parts)
        at = [i for i, run in enumerate(runs) if _types(run) in ((), (kind,))]
        asked = [runs[i] for i in at]
        found[kind] = asked, hybrid.predict(asked, {part: [said[part][i] for i in at] for part in parts})
    return found


def _again(stacked: Stacked, train: Sequence[Trajectory], kept: Sequence[int], parts: Sequence[str]) -> Hybrid:
    """Return a hybrid of the same recipe over some parts, fitted on some of the training runs."""
    whole = stacked.hybrid
    hybrid = Hybrid(
        parts, whole.columns.types, budget=whole.budget, strength=whole.strength, folds=whole.folds, seed=whole.seed
    )
    hybrid.fit([train[i] for i in kept], {part: [stacked.learnt_from[part][i] for i in kept] for part in parts})
    return hybrid


def _types(run: Trajectory) -> tuple[str, ...]:
    return tuple(fault.type for fault in run.label.faults) if run.label is not None else ()
