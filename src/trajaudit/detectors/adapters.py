"""What ships of a trained auditor: a folder with what was trained and nothing of the encoder it was trained on.

Three files. ``adapter.safetensors`` holds tensors, matrices in float16 and the rest in float32 (or an auditor's own
plain JSON files lie in its place); ``adapter.json`` everything else that decides a verdict, and how it came about;
``README.md`` the card, written from the two. Nothing here is ever unpickled, and nothing in a file says which code to
run: a detector is named from a closed list.

An adapter on other weights than its own gives numbers that look like verdicts and are none, so the encoder is known by
the hash of its files, the tensors by theirs, and anything that does not match is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajaudit._fields import RecordError, dumps, file_hash, loads, nearest
from trajaudit.detectors.adapter_facts import Facts, check_same
from trajaudit.detectors.encoders import Encoder

FACTS, TENSORS, CARD = "adapter.json", "adapter.safetensors", "README.md"
SHIPPED = Path(__file__).parent / "fitted"

Tensors = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Adapter:
    """An adapter as it lies in a folder; ``name`` is the folder's own."""

    folder: Path
    facts: Facts

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def size(self) -> int:
        """Bytes of what was trained."""
        return sum((self.folder / name).stat().st_size for name in self.facts.files)

    def tensors(self) -> Tensors:
        """Return what was trained.

        Raises:
            RecordError: the file is torn or is not the one that the facts speak of.
        """
        from safetensors import SafetensorError
        from safetensors.numpy import load

        path = self.folder / TENSORS
        check_files(self.folder, self.facts)
        try:
            return dict(load(path.read_bytes()))
        except (SafetensorError, ValueError) as error:
            raise RecordError(f"{path}: expected a whole safetensors file: {error}") from None


def keep(folder: Path, facts: Facts, tensors: Tensors, card: Callable[[Facts], str]) -> Adapter:
    """Write an adapter; the files are there whole or not at all, and ``adapter.json`` last.

    Args:
        tensors: as `compact` returns them. card: from the facts to the text of ``README.md``.
    """
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / TENSORS, save({name: np.ascontiguousarray(value) for name, value in sorted(tensors.items())}))
    return describe(folder, facts, (TENSORS,), card)


def describe(folder: Path, facts: Facts, files: Sequence[str], card: Callable[[Facts], str]) -> Adapter:
    """Write the facts and the card beside files that lie in the folder already."""
    named = replace(facts, files={name: file_hash(folder / name) for name in files})
    _replace(folder / CARD, card(named).encode())
    _replace(folder / FACTS, dumps(named.to_json()).encode() + b"\n")
    return Adapter(folder, named)


def compact(weights: Mapping[str, Any]) -> Tensors:
    """Return tensors as they ship: matrices in half precision; biases, norms and scales, which are few, in single."""
    arrays = {name: value.detach().cpu().numpy() for name, value in weights.items()}
    return {name: value.astype(np.float16 if value.ndim > 1 else np.float32) for name, value in arrays.items()}


def read(name_or_folder: str | Path) -> Adapter:
    """Return an adapter that ships, by its name, or one's own, by its folder.

    Raises:
        ValueError: no such adapter; the nearest name is said.
        RecordError: a file of it is broken.
    """
    folder = Path(name_or_folder)
    if not (folder / FACTS).is_file():
        known = [one.name for one in shipped()]
        if str(name_or_folder) not in known:
            raise ValueError(
                f"adapter: no such adapter, nor a folder with {FACTS}: {str(name_or_folder)!r}"
                f"{nearest(str(name_or_folder), known)}; known: {', '.join(known)}"
            )
        folder = SHIPPED / name_or_folder
    path = folder / FACTS
    return Adapter(folder, Facts.from_json(loads(path.read_bytes(), str(path)), str(path)))


def shipped() -> list[Adapter]:
    """Return the adapters that ship with trajaudit, by name."""
    found = sorted(path.parent for path in SHIPPED.glob(f"*/{FACTS}"))
    return [read(folder) for folder in found]


def encoder_of(adapter: Adapter, weights: str | None = None) -> Encoder:
    """Return the encoder that an adapter was trained on.

    Args:
        weights: where they lie, where that is elsewhere than at the training.

    Raises:
        FileNotFoundError: the package of the weights is not installed.
        ValueError: what lies there is another encoder.
    """
    told = dict(adapter.facts.encoder or {})
    identity = told.pop("identity")
    encoder = Encoder(**{**told, "weights": weights or told["weights"]})
    why = f"the adapter was trained on other weights than {encoder.weights!r}; `weights` says where its own lie"
    check_same(identity, encoder.identity(), f"{adapter.folder}: encoder", why)
    return encoder


def check_files(folder: Path, facts: Facts) -> None:
    """Refuse files that are not those the facts speak of.

    Raises:
        RecordError: naming the file and both hashes.
    """
    for name, expected in facts.files.items():
        path = folder / name
        got = file_hash(path) if path.is_file() else "no such file"
        if got != expected:
            raise RecordError(f"{path}: expected sha256 {expected[:12]}…, got {got[:12]}…: torn, or of another adapter")


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)
