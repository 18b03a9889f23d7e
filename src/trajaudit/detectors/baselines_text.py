"""TF-IDF with logistic regression: the words of a run and nothing of its order, the baseline of text classification.

It reads what an auditor may see, task, steps and final answer, and never the id, group or label; or the final answer
alone, which does better where few tasks make up a set, since the words of a task tell it which one it reads. Words are
letters and words with digits are dropped, since identifiers are unique to an instance; document frequencies are fitted
on the training runs alone, because the frequency of a rare word is the size of its group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from trajaudit._fields import dumps
from trajaudit.detectors.baselines import Baseline, Opinion
from trajaudit.trajectory import Trajectory


class TfidfLogistic(Baseline):
    """Unigrams and bigrams of words, weighed by TF-IDF, in a logistic model.

    Args:
        strength: the inverse of the L2 penalty.
        features: at most so many n-grams, the most frequent ones.
        answer_only: read the final answer and nothing else.
    """

    name = "tfidf"

    def __init__(self, *, strength: float = 1.0, features: int = 20_000, answer_only: bool = False) -> None:
        self.name = "tfidf_answer" if answer_only else "tfidf"
        super().__init__()
        self.spec |= {"strength": strength, "features": features, "answer_only": answer_only}
        self.answer_only = answer_only
        self.words = TfidfVectorizer(
            ngram_range=(1, 2), max_features=features, sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b[^\W\d]+\b"
        )
        self.model = LogisticRegression(C=strength, max_iter=1000)
        self.rate: float | None = None

    def learn(self, runs: Sequence[Trajectory], faulty: np.ndarray) -> None:
        one_class = len(set(faulty.tolist())) < 2
        self.rate = float(faulty.mean()) if one_class else None
        if not one_class:
            self.model.fit(self.words.fit_transform([self._text(run) for run in runs]), faulty)

    def opinion(self, run: Trajectory) -> Opinion:
        if self.rate is not None:
            return Opinion(self.rate)
        return Opinion(float(self.model.predict_proba(self.words.transform([self._text(run)]))[0, 1]))

    def _text(self, run: Trajectory) -> str:
        return run.final_answer or "" if self.answer_only else _text(run)


def _text(run: Trajectory) -> str:
    parts = [run.task]
    for step in run.steps:
        action = None if step.action is None else step.action.to_json()
        parts += [step.thought or "", dumps(action), dumps(step.observation)]
    return "\n".join([*parts, run.final_answer or ""])
