"""A small run to put into tests."""

from __future__ import annotations

from trajaudit.trajectory import Action, Label, Source, Step, Trajectory


def make_run(id: str = "t1", group: str = "g1", label: Label | None = None, steps: int = 3) -> Trajectory:
    """A small run of a support agent, with as many steps as asked."""
    turns = tuple(Step(i, f"thought {i}", Action("lookup", {"n": i}), {"ok": True, "n": i}) for i in range(steps))
    return Trajectory(id, group, "Refund order 1.", turns, "Done.", Source("example"), label)
