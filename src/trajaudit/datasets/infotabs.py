"""InfoTabS (Gupta et al. 2020): does a table entail a sentence, contradict it, or neither?

23,738 pairs of a table and a claim about it, judged by people: the nearest thing with a permissive licence to "does
what the tool returned entail what the agent says". Not trajectories but pairs, for the intermediate training of an
entailment model. The three test sets ask for more and more: alpha1 is like the training set, alpha2 has claims edited
so that they turn over, alpha3 has tables of other subjects.
"""

from __future__ import annotations

import csv
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from trajaudit._fields import Json, RecordError, file_hash
from trajaudit.datasets.files import need_files

PARTS = ("train", "dev", "test_alpha1", "test_alpha2", "test_alpha3")
TABLES = "nli/infotabs/tables_json.tar.xz"
RELATIONS = {"E": "entailment", "N": "neutral", "C": "contradiction"}


class Pair(NamedTuple):
    """A premise, a hypothesis, the relation between them, and the table that the premise is."""

    premise: str
    hypothesis: str
    relation: str
    group: str


@dataclass(frozen=True)
class NliPairs:
    """Pairs by part, with the files that they were read from by SHA-256."""

    name: str
    parts: Mapping[str, tuple[Pair, ...]]
    files: Mapping[str, str]


def infotabs(*, data_dir: str) -> NliPairs:
    """Return the pairs of every part.

    Raises:
        FileNotFoundError, RecordError: naming the file, and the line at fault.
    """
    names = [TABLES, *(f"nli/infotabs/maindata/infotabs_{part}.tsv" for part in PARTS)]
    paths = need_files("infotabs", data_dir, names)
    tables = _tables(paths[0])
    parts = {part: tuple(_pairs(path, tables)) for part, path in zip(PARTS, paths[1:], strict=True)}
    return NliPairs("infotabs", parts, {str(path): file_hash(path) for path in paths})


def premise_of(table: Mapping[str, Json]) -> str:
    """Return a table as a line of text, its title first.

    >>> premise_of({"title": ["Fargo"], "Starring": ["Frances McDormand", "Steve Buscemi"]})
    'title: Fargo; Starring: Frances McDormand, Steve Buscemi'
    """
    return "; ".join(f"{key}: {', '.join(map(str, values))}" for key, values in table.items())


def _tables(path: Path) -> dict[str, str]:
    """Return the premise of each table, by its number."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".json") else None
            if file is not None:
                found[Path(member.name).stem] = premise_of(json.load(file))
    return found


def _pairs(path: Path, tables: Mapping[str, str]) -> list[Pair]:
    found = []
    with open(path, encoding="utf-8", newline="") as file:
        for line, row in enumerate(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), start=2):
            table, label = row.get("table_id") or "", row.get("label") or ""
            if table not in tables or label not in RELATIONS or not row.get("hypothesis"):
                raise RecordError(f"{path}:{line}: expected a known table, a hypothesis and E, N or C, got {row}")
            found.append(Pair(tables[table], row["hypothesis"], RELATIONS[label], table))
    return found
