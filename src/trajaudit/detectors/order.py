"""Which of two numbers is the larger, beside the words that say so: for conclusions that do not follow.

"46.02 A lies above the limit of 47.30 A" holds no wrong word and no wrong number, and neither a bag of words nor the
vector of a sentence can see what is wrong with it. So every step is read as *crosses*: of each word of a sentence with
the order of two numbers in it; of each word, and the tool called, with the order of a number of the task and one of
the sentence; of words of the task with words that only the step uses (the maximum was asked for, the mean is told); of
agent and tool. A logistic model over crosses then learns which go together in healthy steps and which do not; no word
of comparison is listed here. It is trained on single steps with the labelled step of a fault as faulty, so it needs
labels of faults that name a step. The run's score is that of its worst step.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.trajectory import Step, Trajectory
from trajaudit.verdict import Verdict

VERSION = 1
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_DATED = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?|\b[A-Z]{1,4}-[\w-]+|\b\w+_[\w]+|/\S+")
"""Dates, identifiers and paths: their digits are no amounts."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])|\bno(?= [a-z])")
_NAMED = re.compile(r"\b[A-Z]\w* \d+\b")
RARE = 3
"""A cross that fewer training steps show is left out."""


class Order:
    """A fitted step detector over crosses.

    Args:
        strength: the inverse penalty of its logistic models.
        features: how many crosses are kept, the most frequent.
    """

    name = "order"

    def __init__(self, *, strength: float = 5.0, features: int = 50000) -> None:
        self.strength, self.features = strength, features
        self.spec: dict[str, Json] = {
            "detector": "order",
            "version": VERSION,
            "strength": strength,
            "features": features,
            "rare": RARE,
        }
        self._crosses: CountVectorizer | None = None
        self._fault: LogisticRegression | None = None
        self._type: LogisticRegression | None = None

    def fit(self, runs: Sequence[Trajectory], folder: Path | None = None) -> None:
        """Learn from the steps of labelled runs; nothing is kept, since fitting again takes seconds.

        Raises:
            ValueError: no step is labelled as faulty, or all are.
        """
        rows, faults = [], []
        for run in runs:
            if run.label is None or (run.label.faulty and any(f.step is None for f in run.label.faults)):
                continue
            rows += [list(crosses(run, step)) for step in run.steps]
            at = {fault.step: fault.type for fault in run.label.faults}
            faults += [at.get(step.index) for step in run.steps]
        faulty = np.array([fault is not None for fault in faults])
        if len(set(faulty.tolist())) < 2:
            raise ValueError(f"{self.name}: expected runs with faults at known steps, and healthy steps")
        self._crosses = CountVectorizer(analyzer=_as_is, binary=True, min_df=RARE, max_features=self.features)
        table = self._crosses.fit_transform(rows)
        self._fault = self._logistic(table, faulty)
        kinds = np.array([fault for fault in faults if fault is not None])
        self._type = self._logistic(table[np.flatnonzero(faulty)], kinds) if len(set(kinds.tolist())) > 1 else None

    def _logistic(self, table: csr_matrix, target: NDArray[np.generic]) -> LogisticRegression:
        with threadpool_limits(1):
            return LogisticRegression(C=self.strength, max_iter=300).fit(table, target)

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run, with a score a step.

        Raises:
            ValueError: nothing was fitted.
        """
        if self._crosses is None or self._fault is None:
            raise ValueError(f"{self.name}: expected a fitted model, call fit first")
        return [self._verdict(run, self._crosses, self._fault) for run in runs]

    def _verdict(self, run: Trajectory, vectorizer: CountVectorizer, fault: LogisticRegression) -> Verdict:
        start = time.perf_counter()
        table = vectorizer.transform([list(crosses(run, step)) for step in run.steps])
        scores = fault.predict_proba(table)[:, 1]
        step = int(scores.argmax())
        kinds = (str(self._type.predict(table[step])[0]),) if self._type is not None else ()
        return Verdict(
            run.id,
            run.content_hash,
            self.name,
            spec_hash(self.spec),
            faulty=bool(scores[step] >= 0.5),
            score=float(scores[step]),
            step=step,
            step_scores=tuple(scores.tolist()),
            types=kinds,
            latency_s=time.perf_counter() - start,
        )


def _as_is(row: list[str]) -> list[str]:
    return row


def crosses(run: Trajectory, step: Step) -> Iterator[str]:
    """Yield the crosses of one step, some of them several times; the last step also says the final answer."""
    names = sorted(set(_NAMED.findall(run.task)), key=lambda name: (-len(name), name))
    asked = list(_amounts(run.task, names))
    tool = step.action.tool if step.action is not None else None
    yield f"{step.agent}:{tool}"
    for sentence in _sentences(run, step):
        words = [*_words(sentence, names), f"tool={tool}"]
        numbers = [number for number, _ in _amounts(sentence, names)]
        for first, second in pairwise(numbers):
            yield from (f"{_order(first, second)}|{word}" for word in words)
        for wanted, unit in asked:
            for number in numbers:
                yield from (f"{unit}{_order(number, wanted)}|{word}" for word in words)
        yield from (f"{step.agent}~{word}" for word in words)


def _order(a: float, b: float) -> str:
    return "=" if a == b else "<" if a < b else ">"


def _sentences(run: Trajectory, step: Step) -> Iterator[str]:
    args = step.action.args if step.action is not None else None
    texts = [step.thought, *(value for value in (args or {}).values() if isinstance(value, str) and " " in value)]
    if step.action is not None:
        texts.append(step.action.text)
    if step.index == len(run.steps) - 1 and run.final_answer not in texts:
        texts.append(run.final_answer)
    for text in texts:
        yield from _SENTENCE.split(text or "")


def _bare(text: str, names: Sequence[str]) -> str:
    """Return a text without dates, identifiers, and the numbers of things that the task names with one."""
    text = _DATED.sub(" ", text)
    for name in names:
        text = text.replace(name, " ")
    return text


def _words(text: str, names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(_bare(text, names))))


def _amounts(text: str, names: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Yield each number with the word that follows it; "no" before a word is 0."""
    bare = _bare(text, names)
    for match in _NUMBER.finditer(bare):
        after = re.match(r"\W*([A-Za-z]+)", bare[match.end() :])
        yield 0.0 if match[0] == "no" else float(match[0]), after[1].lower() if after else ""
