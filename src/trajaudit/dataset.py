"""What a source or testbed hands over: trajectories, and whatever an auditor must be told that only the source knows.

The procedure and the taxonomy travel with the dataset, so that no judge carries the prompt of one domain inside it;
the receipt says what was read, dropped and inferred on the way, so that nothing is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import yaml

from trajaudit._fields import Fields, Json, RecordError, nearest, typed
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory


@dataclass(frozen=True)
class Procedure:
    """The written procedure that agents of a domain must follow, and what replies may say without an observation.

    ``standing_claims`` are statements that a reply may always make (a payout time that holds for every refund, say); an
    auditor that checks claims must be told of them to be fair, and none are assumed.
    """

    name: str
    version: int
    points: tuple[str, ...]
    standing_claims: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The numbered list that judges are shown."""
        lines = [f"{number}. {point}" for number, point in enumerate(self.points, start=1)]
        if self.standing_claims:
            lines += [
                "A reply may also state, without an observation:",
                *(f"- {claim}" for claim in self.standing_claims),
            ]
        return "\n".join(lines)

    @classmethod
    def named(cls, name_or_path: str) -> Procedure:
        """Read a procedure that ships with trajaudit by its name, or one's own by the path of its YAML file.

        Raises:
            ValueError, FileNotFoundError, RecordError
        """
        if name_or_path.endswith((".yaml", ".yml")):
            if not Path(name_or_path).is_file():
                raise FileNotFoundError(f"dataset.procedure: no such file: {name_or_path}")
            return cls.read(name_or_path)
        folder = Path(__file__).parent / "datasets" / "procedures"
        known = sorted(path.stem for path in folder.glob("*.yaml"))
        if name_or_path not in known:
            raise ValueError(
                f"dataset.procedure: unknown procedure {name_or_path!r}{nearest(name_or_path, known)}; known: "
                f"{', '.join(known)}, or the path of a .yaml file"
            )
        return cls.read(folder / f"{name_or_path}.yaml")

    @classmethod
    def read(cls, path: str | Path) -> Procedure:
        """Read a procedure file (YAML).

        Raises:
            RecordError: naming the file and the key that is missing, unknown or of the wrong type.
        """
        try:
            with open(path, encoding="utf-8") as file:
                content = yaml.safe_load(file)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise RecordError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
        fields = Fields(content, f"{path}:", ("name", "version", "points", "standing_claims"))

        def sentence(item: Json, where: str) -> str:
            return typed(item, str, where)

        points = fields.each("points", sentence)
        if not points:
            raise RecordError(f"{fields.at('points')}: expected at least one sentence, got none")
        claims = fields.each("standing_claims", sentence)
        return cls(fields.need("name", str), fields.need("version", int), points, claims)


@dataclass
class Receipt:
    """What happened to a source's records on the way to trajectories: each count says of what, and why."""

    read: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    inferred: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Dataset:
    """A named source of trajectories.

    ``load`` starts a fresh pass (a set of 100,000 is never held whole unless the caller does); ``rules`` names the
    testbed whose rule engine knows the tools of these runs; ``files`` are the files that were read, by SHA-256;
    ``size`` is the number of trajectories where it is known beforehand.
    """

    name: str
    load: Callable[[], Iterator[Trajectory]]
    taxonomy: Taxonomy
    procedure: Procedure
    receipt: Receipt = field(default_factory=Receipt)
    rules: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    size: int | None = None

    def __iter__(self) -> Iterator[Trajectory]:
        return self.load()

    def prefix(self, n: int | None) -> Iterator[Trajectory]:
        """Return the first ``n`` trajectories, or all of them where ``n`` is null."""
        if n is not None and n < 1:
            raise ValueError(f"limit: expected at least 1, got {n}")
        return islice(self.load(), n)
