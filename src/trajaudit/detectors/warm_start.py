"""Weights of a finished training as the start of another: what a detector learnt on one domain, taken to the next.

Everything that was trained is taken over, the scale of the vectors included, so that before its own training a warm
detector says what the source says. Domains have fault types of their own, so an output for a type that the source does
not know starts afresh, and between domains without a common type nothing but "faulty" is transferred. A start is known
by its content: recipe, encoder, heads and what is tuned have to be the same, and the hash of the weights is part of
what identifies the new training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from trajaudit._fields import Json, dumps, file_hash
from trajaudit.auditor import spec_hash
from trajaudit.detectors.fitting import BEST, MARK

SPEC = "spec.json"
"""Beside the weights of a fit: the spec of the detector that has them."""
_SAME = ("detector", "version", "recipe", "encoder", "heads")
_TUNED = ("tuning", "frozen_layers", "rank")


@dataclass(frozen=True)
class Start:
    """A finished fit: where its weights lie, and the spec of the detector that has them."""

    path: Path
    spec: Mapping[str, Json]

    @property
    def identity(self) -> Json:
        """What of a start can change a verdict: the weights, and whose they are."""
        return {"weights": file_hash(self.path), "spec": spec_hash(dict(self.spec))}


def leave_spec(folder: Path, spec: Mapping[str, Json]) -> None:
    """Say beside the weights of a fit what detector has them, so that another training can start from it."""
    (folder / SPEC).write_text(dumps(dict(spec)) + "\n", encoding="utf-8")


def start_from(folder: str | Path, spec: Mapping[str, Json]) -> Start:
    """Return a finished training to start from, checked against the spec of the detector that is to start.

    Args:
        folder: what `trajaudit train` left of a split of one fold (`split=transfer`, `split=few_shot`).

    Raises:
        FileNotFoundError: no finished training lies there.
        ValueError: it is of several folds, or of another detector; naming what differs.
    """
    fits = sorted(path.parent for path in Path(folder).glob(f"fold-*/model/{MARK}"))
    if len(fits) > 1:
        raise ValueError(f"start: {folder} is a training of {len(fits)} folds; expected one fold, as of split=transfer")
    if not fits or not json.loads((fits[0] / MARK).read_text()).get("done") or not (fits[0] / SPEC).is_file():
        raise FileNotFoundError(f"trainer.start: no finished training of an encoder's detector in {folder}")
    found = Start(fits[0] / BEST, json.loads((fits[0] / SPEC).read_text()))
    pairs = [(key, found.spec.get(key), spec.get(key)) for key in _SAME]
    pairs += [(key, _tuned(found.spec, key), _tuned(spec, key)) for key in _TUNED]
    for key, theirs, own in pairs:
        if theirs != own:
            raise ValueError(
                f"start: {folder}: {key}: expected {dumps(own)}, as what is to be trained, got {dumps(theirs)}"
            )
    return found


def begin(module: nn.Module, start: Start, types: Sequence[str]) -> None:
    """Put the weights of a start into a module whose outputs are "faulty" and ``types``.

    Raises:
        ValueError: a tensor is unknown, or of a shape that other types do not explain.
    """
    weights: dict[str, Tensor] = torch.load(start.path, map_location="cpu", weights_only=True)["state_dict"]
    theirs, own = ["faulty", *start.spec["types"]], ["faulty", *types]
    rows = [(own.index(name), theirs.index(name)) for name in own if name in theirs]
    outputs = {f"{name}.{part}" for name, part in _outputs(module, len(own))}
    state = module.state_dict()
    for name, given in weights.items():
        if name not in state:
            raise ValueError(f"start: {start.path}: unknown tensor {name!r}")
        if name in outputs and theirs != own:
            for to, at in rows:
                state[name][to] = given[at]
        elif state[name].shape == given.shape:
            state[name] = given
        else:
            raise ValueError(
                f"start: {start.path}: {name}: expected {list(state[name].shape)}, got {list(given.shape)}"
            )
    module.load_state_dict(state)


def _outputs(module: nn.Module, count: int) -> list[tuple[str, str]]:
    """Return name and part of each tensor with one row an output: the last layers of the heads."""
    heads = ((name, part) for name, part in module.named_modules() if ".heads." in f".{name}")
    last = [name for name, part in heads if isinstance(part, nn.Linear) and part.out_features == count]
    return [(name, part) for name in last for part in ("weight", "bias")]


def _tuned(spec: Mapping[str, Json], key: str) -> Json:
    return (spec.get("training") or {}).get(key)
