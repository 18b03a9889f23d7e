"""All of an adapter but its tensors: what decides a verdict beside them, and how they came about.

What is read back is checked key by key, and whatever was another thing at the training (the detector's recipe, the
encoder's files) is refused with the first difference named, since the tensors would go on giving numbers all the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from trajaudit._fields import Fields, Json, RecordError, shown

VERSION = 1
KINDS = ("detector", "entailment", "free_auditors")
_SAMPLE = 24
"""Characters of a value that an error shows: hashes are known by their beginnings."""


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
