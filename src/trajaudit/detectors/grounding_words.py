"""The words of a run that mean the same in every scenario: its answer with all values masked, and how its calls went.

Two choices change the numbers. A number, date or identifier is replaced by where it comes from (the task, an
observation, nowhere), so that a model learns "a number from nowhere" and never "26 days". And the vocabulary holds only
n-grams that occur in a stated share of the training *groups*: what few scenarios say is their topic, and a topic's rate
of faults does not carry over to another. A group weighs with the square root of its size, since its runs repeat each
other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from trajaudit.detectors.grounding_reading import DATE, IDENTIFIER, NUMBER, VERIFIER, Reading, numbers

TOKEN = r"[a-z_]+"
_RARE = 5
"""An n-gram in fewer training runs than this is not looked at."""


def masked(reading: Reading) -> str:
    """Return the answer in lower case, each value replaced by its kind and origin.

    >>> seen = Reading("Check T-1.", "T-1 has 26 days, T-2 has 9.", (), (), (), (), False)
    >>> " ".join(masked(seen).split())
    'name_task has number_nowhere days, name_nowhere has number_nowhere'
    """
    tools = {call.tool for call in reading.calls}

    def name(match: re.Match[str]) -> str:
        return " name_tool " if match[0] in tools else f" name_{reading.origin_of(match[0])} "

    text = DATE.sub(lambda match: f" date_{reading.origin_of(match[0][:10])} ", reading.answer)
    text = IDENTIFIER.sub(lambda match: match[0] if match[0].startswith("date_") else name(match), text)
    return NUMBER.sub(lambda match: _number(reading, match[0]), text).lower()


def _number(reading: Reading, text: str) -> str:
    value = numbers(text)
    return f" number_{reading.origin(value[0])} " if len(value) else " "


def course(reading: Reading) -> str:
    """Return one word a call for its tool and outcome and one for its outcome, and what came before and beside them."""
    parts = ["plan"] if reading.plan else []
    for call in reading.calls:
        tool = re.sub(r"[^a-z_]", "", call.tool.lower())
        parts += [f"{tool}_{call.outcome}", call.outcome]
    parts += ["own"] * len(reading.own) + ["broke_off"] * reading.broke_off
    parts += [f"{VERIFIER}_{re.sub('[^a-z]', '', remark.lower())}" for remark in reading.remarks]
    return " ".join([*parts, "stop"])


def words(reading: Reading) -> str:
    """Return what the vocabulary is made from."""
    return masked(reading) + " " + course(reading)


class SharedWords:
    """TF-IDF over uni- and bigrams that at least a ``share`` of the training groups use.

    Document frequencies, like the vocabulary, are those of the training runs.
    """

    def __init__(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"share: expected a number in [0, 1], got {share}")
        self.share = share

    def fit(self, texts: Sequence[str], groups: Sequence[str]) -> csr_matrix:
        """Learn the vocabulary; return the rows of the training texts, [n, n-grams].

        Raises:
            ValueError: no n-gram is that widespread.
        """
        counter = CountVectorizer(ngram_range=(1, 2), min_df=min(_RARE, len(texts)), token_pattern=TOKEN)
        counts = counter.fit_transform(texts)
        spread = spread_of(counts, groups)
        kept = spread >= self.share * len(set(groups))
        if not kept.any():
            raise ValueError(f"share: no n-gram occurs in a share of {self.share} of the training groups")
        names = counter.get_feature_names_out()[kept]
        self.counter = CountVectorizer(ngram_range=(1, 2), vocabulary=list(names), token_pattern=TOKEN)
        self.weight = np.log((1 + len(texts)) / (1 + counts[:, kept].getnnz(axis=0))) + 1
        return self.rows(texts)

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """Return texts as rows of length 1 (0 where no word is known), counts damped by a logarithm."""
        counts = self.counter.transform(texts).astype(np.float64)
        counts.data = 1 + np.log(counts.data)
        return normalize(counts.multiply(self.weight).tocsr())


def spread_of(counts: csr_matrix, groups: Sequence[str]) -> NDArray[np.int64]:
    """Return in how many groups each column occurs."""
    codes = np.unique(np.array(groups), return_inverse=True)[1]
    member = csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    return np.asarray((member @ (counts > 0)).astype(bool).sum(axis=0), dtype=np.int64).ravel()
