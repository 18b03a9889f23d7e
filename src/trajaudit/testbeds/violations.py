"""What a testbed's rule engine says of a run, and how much of each fault type it finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from trajaudit.trajectory import Trajectory


class Violation(NamedTuple):
    """A broken rule: its name, the step, the fault type that it stands for, and what was expected and given."""

    rule: str
    step: int
    type: str
    message: str


def coverage_of(
    check: Callable[[Trajectory], Sequence[Violation]], trajectories: Iterable[Trajectory]
) -> dict[str, float]:
    """Return, for each fault type that is labelled, the share of its faults found with the right type and step."""
    labelled: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for trajectory in trajectories:
        faults = trajectory.label.faults if trajectory.label is not None else ()
        violated = {(violation.type, violation.step) for violation in check(trajectory)} if faults else set()
        for fault in faults:
            labelled[fault.type] += 1
            found[fault.type] += (fault.type, fault.step) in violated
    return {name: found[name] / count for name, count in sorted(labelled.items())}
