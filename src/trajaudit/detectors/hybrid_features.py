"""What a stacked model sees of the verdicts that it stacks: of the run, and of each of its steps.

Only verdicts are read, never the run, so whatever writes a verdict can be a part: rules, a process model, the claim
checker, an encoder, an LLM judge. An auditor without an opinion is told apart from one that says clean: its other
features are then zero and ``answered`` says so.

Whether a run is faulty is decided without the types that parts name, and mainly by ``surprise``: minus the logarithm of
the rate at which the quietest part that flags the run flags clean ones. Weights of each part alone are learnt from the
faults of the training runs, and a fault of a kind that none of them shows would count for nothing, however surely a
part flags it; the rate of false alarms is learnt from clean runs and holds for every kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trajaudit.verdict import Verdict

FloatArray = NDArray[np.float64]


class Columns:
    """The features of a fixed list of parts and fault types, in a fixed order.

    >>> columns = Columns(("rules",), ("wrong_tool",))
    >>> columns.of_runs, columns.of_faults
    (('surprise', 'rules:answered', 'rules:flagged', 'rules:score', 'rules:wrong_tool'), [0, 1, 2, 3])
    """

    def __init__(self, parts: Sequence[str], types: Sequence[str]) -> None:
        self.parts, self.types = tuple(parts), tuple(types)
        each = ("answered", "flagged", "score", *self.types)
        self.of_runs = ("surprise", *(f"{part}:{name}" for part in self.parts for name in each))
        self.of_faults = [i for i, name in enumerate(self.of_runs) if name.rpartition(":")[2] not in self.types]
        named = ("named", "score", *self.types)
        self.of_steps = (*(f"{part}:{name}" for part in self.parts for name in named), "named_by", "last")

    def alarms(self, verdicts: Mapping[str, Sequence[Verdict]], faulty: NDArray[np.bool_]) -> dict[str, float]:
        """Return the rate at which each part flags clean runs, one success and one failure added (Laplace)."""
        lists = zip(self.parts, self._aligned(verdicts), strict=True)
        flagged = {part: np.array([v.ok and bool(v.faulty) for v in own]) for part, own in lists}
        clean = int((~faulty).sum())
        return {part: float((flags & ~faulty).sum() + 1) / (clean + 2) for part, flags in flagged.items()}

    def runs(self, verdicts: Mapping[str, Sequence[Verdict]], alarms: Mapping[str, float]) -> FloatArray:
        """Return [n, columns] for n runs, from one list of n verdicts a part and the parts' rates of false alarm.

        Raises:
            ValueError: a part is missing, or the lists are not on the same runs in the same order.
        """
        lists = self._aligned(verdicts)
        blocks = [[self._run(verdict) for verdict in own] for own in lists]
        surprise = [
            [-np.log(alarms[part]) if v.ok and v.faulty else 0.0 for v in own]
            for part, own in zip(self.parts, lists, strict=True)
        ]
        return np.column_stack(
            [np.array(surprise).max(axis=0), *(np.array(block, dtype=np.float64) for block in blocks)]
        )

    def steps(self, verdicts: Mapping[str, Sequence[Verdict]], lengths: Sequence[int]) -> list[FloatArray]:
        """Return [steps, columns] for each run; ``lengths`` are the numbers of steps."""
        return [self._steps(of_run, length) for *of_run, length in zip(*self._aligned(verdicts), lengths, strict=True)]

    def _aligned(self, verdicts: Mapping[str, Sequence[Verdict]]) -> list[Sequence[Verdict]]:
        if missing := [part for part in self.parts if part not in verdicts]:
            raise ValueError(f"hybrid: no verdicts of {', '.join(missing)}; given: {', '.join(verdicts)}")
        ids = {tuple(verdict.trajectory_id for verdict in verdicts[part]) for part in self.parts}
        if len(ids) != 1:
            raise ValueError("hybrid: expected the parts' verdicts on the same runs in the same order")
        return [verdicts[part] for part in self.parts]

    def _run(self, verdict: Verdict) -> list[float]:
        if not verdict.ok:
            return [0.0] * (3 + len(self.types))
        named = [float(name in verdict.types) for name in self.types]
        return [1.0, float(bool(verdict.faulty)), _score(verdict), *named]

    def _steps(self, of_run: Sequence[Verdict], length: int) -> FloatArray:
        rows = []
        for step in range(length):
            row: list[float] = []
            for verdict in of_run:
                named = verdict.ok and bool(verdict.faulty) and verdict.step == step
                scores = verdict.step_scores
                row += [float(named), scores[step] if scores is not None else 0.0]
                row += [float(named and name in verdict.types[:1]) for name in self.types]
            by = sum(v.ok and bool(v.faulty) and v.step == step for v in of_run)
            rows.append([*row, float(by), float(step == length - 1)])
        return np.array(rows, dtype=np.float64)


def _score(verdict: Verdict) -> float:
    """Return the stated probability of a fault, or the one that the stated confidence implies."""
    if verdict.score is not None:
        return verdict.score
    sure = 1.0 if verdict.confidence is None else verdict.confidence
    return sure if verdict.faulty else 1 - sure
