"""A trained relation model that is asked: do these premises entail a sentence, contradict it, or say nothing of it?

Premises come as many short texts (an observation's facts, a tool's messages) of which most have nothing to do with the
sentence. Those that share most words with it are read first, and as many windows as are allowed are filled; the
sentence itself is never cut, so a false last word is always seen. What one window entails is entailed, whatever the
others are silent about; where none does, the window that contradicts most decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.encoding import ids_of
from trajaudit.detectors.fitting import take
from trajaudit.detectors.relations import PairBatch, RelationModule, classifier, open_part
from trajaudit.detectors.training import Training

Shares = tuple[float, float, float]
"""Probabilities of entailment, neutral and contradiction; they sum to 1."""
_WORD = re.compile(r"\w+")


class RelationModel:
    """An encoder with a relation head, put together from the encoder and what was trained of it.

    Args:
        weights: tensors by name, as `train_relations` keeps them. where: they lie, for errors.
        window: tokens of a premise and the sentence together. most: windows that are read for one sentence.

    Raises:
        ValueError: a tensor is missing, unknown or of another shape.
    """

    def __init__(
        self,
        encoder: Encoder,
        training: Training,
        weights: Mapping[str, Tensor],
        where: str,
        *,
        window: int = 256,
        most: int = 4,
    ) -> None:
        model = classifier(encoder)
        open_part(model, training)
        self.module, self.tokenizer = RelationModule(model, training, 0), encoder.tokenizer()
        self.window, self.most = window, most
        take(self.module, weights, where)

    def shares(self, premises: Sequence[str], hypothesis: str) -> Shares:
        """Return what the premises say of the hypothesis; without premises, what an empty one does."""
        windows, second = self._windows(premises, hypothesis)
        with torch.inference_mode():
            logits = self.module(PairBatch(windows, second, torch.empty(0)))
        rows = [(row[0], row[1], row[2]) for row in logits.double().softmax(-1).tolist()]
        return decisive(rows)

    def _windows(self, premises: Sequence[str], hypothesis: str) -> tuple[list[Tensor], list[int]]:
        special = self.tokenizer.num_special_tokens_to_add(pair=True)
        between = [self.tokenizer.sep_token_id] * (special - 2)
        claim = ids_of(self.tokenizer, hypothesis)
        room = max(self.window - special - len(claim), 1)
        texts = [ids_of(self.tokenizer, text) for text in by_words_shared(premises, hypothesis)]
        packed = pack(texts, room)[: self.most] or [[]]
        first = [[self.tokenizer.cls_token_id, *ids, *between] for ids in packed]
        windows = [torch.tensor([*ids, *claim, self.tokenizer.sep_token_id]) for ids in first]
        return windows, [len(ids) for ids in first]


def decisive(rows: Sequence[Shares]) -> Shares:
    """Return the window that decides: the one that entails most where any entails, else the one that contradicts most.

    >>> decisive([(0.1, 0.8, 0.1), (0.6, 0.3, 0.1), (0.0, 0.1, 0.9)])
    (0.6, 0.3, 0.1)
    >>> decisive([(0.1, 0.8, 0.1), (0.1, 0.3, 0.6)])
    (0.1, 0.3, 0.6)
    """
    entailing = [row for row in rows if row[0] == max(row)]
    return max(entailing, key=lambda row: row[0]) if entailing else max(rows, key=lambda row: row[2])


def by_words_shared(premises: Sequence[str], hypothesis: str) -> list[str]:
    """Return the distinct premises, those that share most words with the hypothesis first, else in their order.

    >>> by_words_shared(["shipped: true", "status: paid", "shipped: true"], "The order was paid.")
    ['status: paid', 'shipped: true']
    """
    wanted = set(_WORD.findall(hypothesis.casefold()))
    distinct = dict.fromkeys(premises)
    return sorted(distinct, key=lambda text: -len(wanted & set(_WORD.findall(text.casefold()))))


def pack(texts: Sequence[Sequence[int]], room: int) -> list[list[int]]:
    """Return texts joined into windows of at most ``room`` tokens, in order; a longer text is spread over several.

    >>> pack([[1, 2], [3], [4, 5, 6, 7]], 3)
    [[1, 2, 3], [4, 5, 6], [7]]
    """
    windows: list[list[int]] = []
    for text in texts:
        for start in range(0, len(text), room):
            part = list(text[start : start + room])
            if windows and len(windows[-1]) + len(part) <= room:
                windows[-1] += part
            else:
                windows.append(part)
    return windows
