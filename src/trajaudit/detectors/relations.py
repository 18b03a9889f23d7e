"""Intermediate training: teach an encoder to tell entailment, neutral and contradiction apart, before any trajectory.

The premise alone is cut where a pair is too long, so that no hypothesis loses its end; how many tokens went is counted.
What comes out is a folder of weights with a relation head, which `encoder.weights` takes like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from sklearn.metrics import accuracy_score, f1_score
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

from trajaudit._fields import Json, canonical
from trajaudit.detectors.backbone import freeze
from trajaudit.detectors.batches import loader
from trajaudit.detectors.encoders import RELATIONS, Encoder, quieten
from trajaudit.detectors.encoding import ids_of
from trajaudit.detectors.fitting import fit
from trajaudit.detectors.logs import Logs
from trajaudit.detectors.trained import Trained
from trajaudit.detectors.training import Training
from trajaudit.detectors.tuning import merge, open_sliver


class Pair(Protocol):
    """A premise and a hypothesis, with one of `RELATIONS` between them."""

    @property
    def premise(self) -> str: ...
    @property
    def hypothesis(self) -> str: ...
    @property
    def relation(self) -> str: ...


@dataclass
class PairBatch:
    """n pairs: token ids and start of the hypothesis of each, and the position of its relation, [n]."""

    windows: list[Tensor]
    second: list[int]
    target: Tensor


class PairRows(Dataset[PairBatch]):
    """Tokenised pairs; ``unseen`` is how many tokens of premises did not fit."""

    budget: int | None = None

    def __init__(self, pairs: Sequence[Pair], tokenizer: Any, window: int) -> None:
        self.epoch, self.unseen = 0, 0
        self.windows, self.second = [], list[int]()
        self.targets = [RELATIONS.index(pair.relation) for pair in pairs]
        known = {text: ids_of(tokenizer, text) for text in {pair.premise for pair in pairs}}
        special = tokenizer.num_special_tokens_to_add(pair=True)
        between = [tokenizer.sep_token_id] * (special - 2)
        for pair in pairs:
            premise, claim = known[pair.premise], ids_of(tokenizer, pair.hypothesis)
            kept = premise[: max(window - special - len(claim), 0)]
            self.unseen += len(premise) - len(kept)
            first = [tokenizer.cls_token_id, *kept, *between]
            self.windows.append([*first, *claim, tokenizer.sep_token_id])
            self.second.append(len(first))
        self.sizes = np.array([len(window) for window in self.windows], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, rows: Any) -> PairBatch:
        windows = [torch.tensor(self.windows[row]) for row in rows]
        target = torch.tensor([self.targets[row] for row in rows])
        return PairBatch(windows, [self.second[row] for row in rows], target)


class RelationModule(Trained):
    """Trains a sequence classifier on pairs."""

    def __init__(self, model: Any, settings: Training, seed: int) -> None:
        super().__init__(settings, seed)
        self.model = model

    def inside(self) -> Iterator[nn.Parameter]:
        base: nn.Module = self.model.base_model
        return base.parameters()

    def losses(self, batch: PairBatch) -> Tensor:
        return nn.functional.cross_entropy(self(batch), batch.target, reduction="none")

    def forward(self, batch: PairBatch) -> Tensor:
        ids = pad_sequence(batch.windows, batch_first=True, padding_value=int(self.model.config.pad_token_id or 0))
        place = torch.arange(ids.shape[1], device=ids.device)
        lengths = torch.tensor([len(window) for window in batch.windows], device=ids.device)[:, None]
        given = {"input_ids": ids, "attention_mask": (place < lengths).long()}
        if int(getattr(self.model.config, "type_vocab_size", 0) or 0) > 1:
            second = torch.tensor(batch.second, device=ids.device)[:, None]
            given["token_type_ids"] = ((place >= second) & (place < lengths)).long()
        logits: Tensor = self.model(**given).logits
        return logits


def train_relations(
    parts: Mapping[str, Sequence[Pair]],
    encoder: Encoder,
    settings: Training,
    folder: Path,
    *,
    window: int = 256,
    seed: int = 0,
    logs: Logs | None = None,
) -> Json:
    """Train on the part ``train``, stop early on ``dev``, and write the weights to ``folder/encoder``.

    Returns:
        accuracy and macro F1 of every other part, with its size and the accuracy of the commonest relation.

    Raises:
        ValueError: the settings train heads alone; a relation head on a frozen encoder learns next to nothing.
    """
    if settings.tuning == "frozen":
        raise ValueError(
            "trainer.tuning: relations are learnt by the encoder: give trainer=lora, trainer=top or trainer=all"
        )
    torch.manual_seed(seed)
    model, tokenizer = classifier(encoder), encoder.tokenizer()
    open_part(model, settings)
    rows = {part: PairRows(pairs, tokenizer, window) for part, pairs in parts.items()}
    module = RelationModule(model, settings, seed)
    spec = {"encoder": encoder.identity(), "training": settings.spec(), "window": window, "seed": seed}
    content = [[part, [list(pair) for pair in pairs]] for part, pairs in parts.items()]  # type: ignore[call-overload]
    identity = hashlib.sha256(canonical({**spec, "pairs": content})).hexdigest()
    done = fit(module, rows["train"], rows["dev"], settings, folder, identity, logs or Logs())
    merge(model.base_model)
    model.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    unseen = sum(part.unseen for part in rows.values())
    scores = {part: _scores(module, rows[part], settings) for part in parts if part != "train"}
    return {"epochs": done.epochs, "train": len(rows["train"]), "unseen_premise_tokens": unseen, "parts": scores}


def open_part(model: Any, settings: Training) -> None:
    """Let be trained what the settings name; the layers above the encoder's own (pooler, relation head) always are."""
    freeze(model.base_model, settings.trained_from)
    open_sliver(model.base_model, settings)
    pooler = getattr(model.base_model, "pooler", None)
    if pooler is not None:
        pooler.requires_grad_(True)


def classifier(encoder: Encoder) -> Any:
    """Return the encoder with a new head for the relations, or with the one that its adapter was taught."""
    from transformers import AutoModelForSequenceClassification

    if encoder.adapter is not None:
        return replace(encoder, relation=True).load().model

    quieten()
    source = encoder.weights if encoder.folder is None else str(encoder.folder)
    labels = dict(enumerate(RELATIONS))
    return AutoModelForSequenceClassification.from_pretrained(
        source,
        dtype="float32",
        num_labels=len(RELATIONS),
        id2label=labels,
        label2id={name: number for number, name in labels.items()},
        local_files_only=encoder.folder is not None,
    )


@torch.inference_mode()
def _scores(module: RelationModule, rows: PairRows, settings: Training) -> Json:
    said, truth = list[int](), list[int]()
    module.to("cpu")
    for batch in loader(rows, settings.batch_tokens, 256):
        said += module(batch).argmax(-1).tolist()
        truth += batch.target.tolist()
    return {
        "pairs": len(truth),
        "accuracy": float(accuracy_score(truth, said)),
        "macro_f1": float(f1_score(truth, said, average="macro")),
        "commonest": float(np.bincount(truth).max() / len(truth)),
    }
