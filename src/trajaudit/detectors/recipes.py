"""The three ways in which a run becomes windows, one a paradigm of Trajel's section 4.2.

- `StepWindows`: each step alone, with nothing before it. What is longer than a window is cut in the middle of its
  longest parts (``head_tail``), or spread over several windows that all hold the short parts (``windows``).
- `PremiseWindows`: the task and all steps before as premise, what the step says and does as hypothesis; the final
  answer is a hypothesis of its own, with every step as premise. Only the premise is ever cut up: a hypothesis that
  loses its end can lose the one token that is wrong. A hypothesis longer than half a window becomes several.
- `WholeRun`: everything in one window, with a separator before each step as its marker.

Which steps lost tokens decides what a detector can know, so policies are arguments and part of every spec.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trajaudit._fields import Json
from trajaudit.detectors import marks, retrieval
from trajaudit.detectors.encoding import Encoded, Tokenizer, Window, caps, head_tail, ids_of
from trajaudit.detectors.text import VERSION, answer_text, claim_text, step_texts, task_text
from trajaudit.trajectory import Trajectory

Values = Literal["plain", "marked"]


def _marks(values: Values) -> dict[str, Json]:
    """Return what marking adds to a spec: nothing where values stay plain, so that older caches still fit."""
    return {"marks": marks.VERSION} if values == "marked" else {}


@dataclass(frozen=True)
class StepWindows:
    """Each step in windows of its own.

    Args:
        window: tokens of a window, special ones included.
        long_input: what happens to a step that is longer.
    """

    window: int = 256
    long_input: Literal["head_tail", "windows"] = "head_tail"
    values: Values = "plain"

    @property
    def spec(self) -> dict[str, Json]:
        rest = {"window": self.window, "long_input": self.long_input, **_marks(self.values)}
        return {"recipe": "step", "text": VERSION, **rest}

    def encode(self, run: Trajectory, tokenizer: Tokenizer) -> Encoded:
        run = marks.marked(run, "step") if self.values == "marked" else run
        windows, unseen, cut = [], 0, []
        for step in run.steps:
            parts = [ids_of(tokenizer, text) for text in step_texts(run, step.index)]
            if self.long_input == "windows":
                bodies = list(_spread(parts, self.window - 2))
            else:
                fits = caps([len(part) for part in parts], self.window - 2)
                bodies = [[token for part, cap in zip(parts, fits, strict=True) for token in head_tail(part, cap)]]
                lost = sum(len(part) for part in parts) - len(bodies[0])
                unseen += lost
                cut += [step.index] if lost else []
            for body in bodies:
                ids = (tokenizer.cls_token_id, *body, tokenizer.sep_token_id)
                windows.append(Window(ids, ((0, len(ids)),), (step.index,), len(ids)))
        return Encoded(tuple(windows), len(run.steps), unseen, tuple(cut))


def _spread(parts: Sequence[list[int]], budget: int) -> Iterator[list[int]]:
    """Yield bodies that together hold every token of a step.

    A part of at most a quarter of the budget stands in all of them, as far as half the budget goes, so that a thought
    is read beside each piece of a long observation.
    """
    if sum(len(part) for part in parts) <= budget:
        yield [token for part in parts for token in part]
        return
    short: list[int] = []
    long: list[int] = []
    for part in parts:
        repeated = len(part) <= budget // 4 and len(short) + len(part) <= budget // 2
        (short if repeated else long).extend(part)
    size = budget - len(short)
    for start in range(0, len(long), size):
        yield [*short, *long[start : start + size]]


@dataclass(frozen=True)
class PremiseWindows:
    """Each step as a hypothesis under windows of what came before it.

    Args:
        window: tokens of a window, special ones included.
        overlap: tokens that neighbouring windows of a premise share, so that no fact is torn apart in all of them.
        most: most premise windows a hypothesis gets; null for all. Of more, those that share the largest part of the
            hypothesis's distinct tokens are read, and the first (the task) always.
        long_input: how a longer premise is read: in ``windows`` that overlap, or as one window of the pieces most
            related to the hypothesis, see `trajaudit.detectors.retrieval`; ``overlap`` and ``most`` are of the former.
    """

    window: int = 256
    overlap: int = 32
    most: int | None = 8
    long_input: Literal["windows", "retrieval"] = "windows"
    values: Values = "plain"

    @property
    def spec(self) -> dict[str, Json]:
        sizes: dict[str, Json] = {"window": self.window, "overlap": self.overlap, "most": self.most}
        if self.long_input == "retrieval":
            sizes = {"window": self.window, "piece": retrieval.PIECE}
        return {"recipe": "premise", "text": VERSION, **sizes, **_marks(self.values)}

    def encode(self, run: Trajectory, tokenizer: Tokenizer) -> Encoded:
        run = marks.marked(run, "history") if self.values == "marked" else run
        parts, ends = [ids_of(tokenizer, task_text(run))], []
        owner: list[int | None] = [None] * len(parts[0])
        for step in run.steps:
            ends.append(len(parts))
            added = [ids_of(tokenizer, text) for text in _seen_steps(run, step.index)]
            parts, owner = parts + added, owner + [step.index] * sum(map(len, added))
        claims = [(step.index, ends[step.index], claim_text(step)) for step in run.steps]
        if (answer := answer_text(run)) is not None:
            claims.append((len(run.steps), len(parts), answer))
        windows, seen = [], [False] * len(owner)
        for unit, end, text in claims:
            for ids, second, spans in self._pairs(parts[:end], ids_of(tokenizer, text), tokenizer):
                windows.append(Window(ids, ((second, len(ids)),), (unit,), second))
                for start, stop in spans:
                    seen[start:stop] = [True] * (stop - start)
        # The claims themselves are read whole, as hypotheses; what no window held is what came back from tools.
        lost = [owner[i] for i, was in enumerate(seen) if not was]
        steps = tuple(sorted({step for step in lost if step is not None}))
        return Encoded(tuple(windows), len(run.steps), len(lost), steps)

    def _pairs(
        self, parts: Sequence[list[int]], hypothesis: list[int], tokenizer: Tokenizer
    ) -> Iterator[tuple[tuple[int, ...], int, list[tuple[int, int]]]]:
        """Yield (tokens, start of the hypothesis, spans of the premise that are read) for one hypothesis."""
        premise = [token for part in parts for token in part]
        special = tokenizer.num_special_tokens_to_add(pair=True)
        between = (tokenizer.sep_token_id,) * (special - 2)  # RoBERTa puts two separators between its segments
        longest = (self.window - special) // 2
        for begin in range(0, max(len(hypothesis), 1), longest):
            claim = hypothesis[begin : begin + longest]
            for spans in self._chosen(parts, premise, claim, self.window - special - len(claim)):
                read = [token for start, stop in spans for token in premise[start:stop]]
                first = (tokenizer.cls_token_id, *read, *between)
                yield (*first, *claim, tokenizer.sep_token_id), len(first), spans

    def _chosen(
        self, parts: Sequence[list[int]], premise: list[int], claim: list[int], size: int
    ) -> list[list[tuple[int, int]]]:
        """Return, for each window, the spans of the premise that are read with a claim."""
        if self.long_input == "windows":
            return [[span] for span in self._spread(premise, claim, size)]
        if len(premise) <= size:
            return [[(0, len(premise))]]
        spans = retrieval.pieces([len(part) for part in parts])
        return [[spans[i] for i in retrieval.related(premise, spans, claim, size)]]

    def _spread(self, premise: list[int], claim: list[int], size: int) -> list[tuple[int, int]]:
        """Return the spans of the premise that are read with a claim, in order."""
        stride = max(size - self.overlap, 1)
        count = max(1, -(-(len(premise) - self.overlap) // stride))
        spans = [(i * stride, min(i * stride + size, len(premise))) for i in range(count)]
        if self.most is None or len(spans) <= self.most:
            return spans
        words = set(claim)
        shared = [len(words & set(premise[start:stop])) for start, stop in spans]
        ranked = sorted(range(1, len(spans)), key=lambda i: (-shared[i], -i))  # of equals, the later
        return [spans[i] for i in sorted([0, *ranked[: self.most - 1]])]


def _seen_steps(run: Trajectory, index: int) -> list[str]:
    """Return the parts of a step as history; the final answer is no part of any history."""
    texts, answer = step_texts(run, index), answer_text(run)
    return texts[:-1] if index == len(run.steps) - 1 and answer is not None else texts


@dataclass(frozen=True)
class WholeRun:
    """The whole run in one window: the first token stands for the run, a marker and what follows it for its step.

    Args:
        window: tokens of the window. A longer run loses the middle of its longest parts.
    """

    window: int = 4096
    values: Values = "plain"

    @property
    def spec(self) -> dict[str, Json]:
        rest = {"window": self.window, "long_input": "head_tail", **_marks(self.values)}
        return {"recipe": "whole_run", "text": VERSION, **rest}

    def encode(self, run: Trajectory, tokenizer: Tokenizer) -> Encoded:
        run = marks.marked(run, "history") if self.values == "marked" else run
        owners: list[int | None] = [None]
        parts = [ids_of(tokenizer, task_text(run))]
        for step in run.steps:
            texts = step_texts(run, step.index)
            parts += [ids_of(tokenizer, text) for text in texts]
            owners += [step.index] * len(texts)
        marked = min(len(run.steps), self.window // 2)  # steps without a marker are not read at all
        lengths = [len(part) if (owner or 0) < marked else 0 for owner, part in zip(owners, parts, strict=True)]
        fits = caps(lengths, self.window - 2 - marked)
        ids, starts = [tokenizer.cls_token_id], list[int]()
        lost: Counter[int | None] = Counter()
        for i, (owner, part, cap) in enumerate(zip(owners, parts, fits, strict=True)):
            lost[owner] += len(part) - cap
            if owner is not None and owner != owners[i - 1] and owner < marked:
                starts.append(len(ids))
                ids.append(tokenizer.sep_token_id)
            ids += head_tail(part, cap)
        ids.append(tokenizer.sep_token_id)
        spans = zip(starts, [*starts[1:], len(ids)], strict=True)
        window = Window(tuple(ids), ((0, 1), *spans), (len(run.steps), *range(marked)), len(ids))
        cut = tuple(owner for owner, count in lost.items() if owner is not None and count)
        return Encoded((window,), len(run.steps), lost.total(), cut)
