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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajaudit._fields import Fields, Json, RecordError, dumps, file_hash, loads, nearest, shown

VERSION = 1
FACTS, TENSORS, CARD = "adapter.json", "adapter.safetensors", "README.md"
SHIPPED = Path(__file__).parent / "fitted"
KINDS = ("detector", "entailment", "free_auditors")
_SAMPLE = 24
"""Characters of a value that an error shows: hashes are known by their beginnings."""

Tensors = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Facts:
    """All of an adapter but its tensors.

    Args:
        kind: one of `KINDS`. detector: which one, by the name in the configuration. options: its keyword arguments.
        encoder: how the weights were named, ``window``, ``revision``, ``relation``, and ``identity``; null for none.
        taxonomy, domain: of the runs that it was trained on, by name; the domain is the testbed whose tools they use.
        training: settings. calibration: what turns a raw score into a probability and a decision.
        spec: of the detector; a detector that is another by now does not fit these tensors any more.
        trained_on: configuration of the dataset, runs, faulty runs, groups, and one hash over contents and labels.
        figures: for each set that it was asked about, what it is to the training (``how``) and metrics with intervals.
        command: what made it. versions: of what it was made with. files: SHA-256 of every other file, by name.
    """

    kind: str
    detector: str
    options: dict[str, Json]
    encoder: dict[str, Json] | None
    taxonomy: str | None
    domain: str | None
    training: dict[str, Json] | None
    calibration: dict[str, Json] | None
    spec: Json
    trained_on: dict[str, Json]
    figures: list[Json]
    command: str
    versions: dict[str, str]
    files: dict[str, str]

    def to_json(self) -> Json:
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, obj: Json, where: str) -> Facts:
        """Read them back.

        Raises:
            RecordError: naming file and key.
        """
        fields = Fields(obj, f"{where}:", ("version", *cls.__dataclass_fields__))
        if (version := fields.need("version", int)) != VERSION:
            raise RecordError(f"{where}: version: expected {VERSION}, got {version} (written by a newer trajaudit?)")
        if (kind := fields.need("kind", str)) not in KINDS:
            raise RecordError(f"{where}: kind: expected one of {', '.join(KINDS)}, got {kind!r}")
        return cls(
            kind,
            fields.need("detector", str),
            fields.need("options", dict),
            fields.maybe("encoder", dict),
            fields.maybe("taxonomy", str),
            fields.maybe("domain", str),
            fields.maybe("training", dict),
            fields.maybe("calibration", dict),
            fields.need("spec", dict),
            fields.need("trained_on", dict),
            fields.need("figures", list),
            fields.need("command", str),
            fields.need("versions", dict),
            fields.need("files", dict),
        )


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


def check_same(expected: Json, got: Json, where: str, why: str) -> None:
    """Refuse what differs from what the facts hold.

    Raises:
        ValueError: naming the first key that differs, and both values.
    """
    if expected != got:
        key, a, b = _first_difference(expected, got, "")
        raise ValueError(f"{where}{key}: expected {shown(a, _SAMPLE)}, got {shown(b, _SAMPLE)}: {why}")


def _first_difference(a: Json, b: Json, at: str) -> tuple[str, Json, Json]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            if a.get(key) != b.get(key):
                return _first_difference(a.get(key), b.get(key), f"{at}.{key}")
    return at, a, b


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)
