"""The encoder inside a detector: windows of tokens in, one vector a unit mention out.

Chunks of windows of like length are padded together, so that what is padded is a few per cent, and it is counted. A
window that stands in a batch more than once (a step that variants of one run share, a call made again) is read once
where nothing is learnt from it; in training each has dropout of its own. In a Longformer the first token and every
step's marker attend to, and are seen by, the whole run. An encoder with a relation head adds its log-probabilities of
entailment, neutral and contradiction to each vector, as its last three numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from trajaudit.detectors.batches import Batch, chunks
from trajaudit.detectors.encoders import RELATIONS, Loaded
from trajaudit.detectors.quantised import in_int8


class Backbone(nn.Module):
    """A pretrained encoder.

    Args:
        frozen: layers from the bottom that are not trained, with the embeddings; null for all of them, -1 for none.
        budget: most tokens of a chunk, padding included.

    Attributes:
        width: numbers in each vector.
        real, padded: tokens that were read, and that were computed, so far.
    """

    def __init__(self, loaded: Loaded, frozen: int | None = None, budget: int = 8192) -> None:
        super().__init__()
        self.model, self.relations, self.budget = loaded.model, loaded.relations, budget
        self.pad = int(loaded.tokenizer.pad_token_id or 0)
        self.segments = int(getattr(loaded.model.config, "type_vocab_size", 0) or 0) > 1
        self.long = loaded.model.config.model_type == "longformer"
        self.width = int(loaded.model.config.hidden_size) + (len(RELATIONS) if loaded.relations else 0)
        self.real = self.padded = 0
        freeze(self.model, frozen)

    def quantise(self) -> None:
        """Go on in int8; nothing can be trained after that."""
        self.model = in_int8(self.model)

    def forward(self, batch: Batch) -> Tensor:
        """Return [V, width], in the order of windows and of spans within each."""
        same = list(range(len(batch.windows))) if torch.is_grad_enabled() else _first_alike(batch)
        distinct = sorted(set(same))
        found: dict[int, Tensor] = {}
        for part in chunks([len(batch.windows[i]) for i in distinct], self.budget):
            chunk = [distinct[i] for i in part]
            states, relations = self._states(batch, chunk)
            for place, window in enumerate(chunk):
                spans = batch.spans[window].tolist()
                vectors = torch.stack([states[place][start:end].mean(0) for start, end in spans])
                own = [] if relations is None else [relations[place].expand(len(spans), -1)]
                found[window] = torch.cat([vectors, *own], dim=-1)
        return torch.cat([found[window] for window in same])

    def _states(self, batch: Batch, chunk: Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Return hidden states [n, length, hidden] and log-probabilities of the relations [n, 3], if there are any."""
        ids = pad_sequence([batch.windows[i] for i in chunk], batch_first=True, padding_value=self.pad)
        lengths = torch.tensor([len(batch.windows[i]) for i in chunk], device=ids.device)
        place = torch.arange(ids.shape[1], device=ids.device)
        mask = place < lengths[:, None]
        self.real += int(mask.sum())
        self.padded += mask.numel()
        given: dict[str, Tensor] = {"input_ids": ids, "attention_mask": mask.long()}
        if self.segments:
            second = torch.tensor([batch.second[i] for i in chunk], device=ids.device)
            given["token_type_ids"] = ((place >= second[:, None]) & mask).long()
        if self.long:
            given["global_attention_mask"] = self._markers(batch, chunk, ids)
        out = self.model(**given, output_hidden_states=self.relations is not None)
        if self.relations is None:
            return out.last_hidden_state, None
        return out.hidden_states[-1], out.logits[:, list(self.relations)].log_softmax(-1)

    @staticmethod
    def _markers(batch: Batch, chunk: Sequence[int], ids: Tensor) -> Tensor:
        out = torch.zeros_like(ids)
        for place, window in enumerate(chunk):
            out[place, batch.spans[window][:, 0]] = 1
        return out

    @property
    def padding(self) -> float | None:
        """The share of computed tokens that were padding so far; null where nothing was computed."""
        return 1 - self.real / self.padded if self.padded else None


def _first_alike(batch: Batch) -> list[int]:
    """Return, for each window, the first one that reads the same tokens for the same vectors."""
    first: dict[tuple[object, ...], int] = {}
    return [
        first.setdefault((*window.tolist(), batch.second[i], *batch.spans[i].flatten().tolist()), i)
        for i, window in enumerate(batch.windows)
    ]


def freeze(model: nn.Module, layers: int | None) -> None:
    """Stop the training of the embeddings and of the lowest ``layers``; of everything where null, of nothing where -1.

    Raises:
        ValueError: the encoder has fewer layers.
    """
    if layers == -1:
        return
    if layers is None:
        model.requires_grad_(False)
        return
    stacks = [m for m in model.modules() if isinstance(m, nn.ModuleList)]
    stack = max(stacks, key=len)
    if layers > len(stack):
        raise ValueError(f"frozen_layers: expected at most {len(stack)}, got {layers}")
    for name, part in model.named_modules():
        if name.rpartition(".")[2] == "embeddings":
            part.requires_grad_(False)
    for part in stack[:layers]:
        part.requires_grad_(False)
