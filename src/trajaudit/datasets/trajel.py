"""Trajel's annotations: 225 industrial multi-agent runs, what an LLM judge said of each and what a reviewer said.

The texts of the runs were not released, so nothing here is a trajectory: an annotation is a pair of opinions on a run
that nobody can see. The table is read as it was released and checked as it is read; what contradicts itself is kept
and reported, since leaving a row out would move every rate of the paper.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trajaudit._fields import RecordError, fail, file_hash, loads, typed
from trajaudit.datasets.files import need_files
from trajaudit.datasets.trajel_hub import hub_rows
from trajaudit.location import Place, parse_location
from trajaudit.taxonomy import TRAJEL

TABLE, QUESTIONS = "trajel/annotations.csv", "trajel/questions.json"
BENCHMARK_QUESTIONS = "scenarios/multi_agent/end2end_utterance.json"
"""Where a clone of the benchmark holds the questions."""
COLUMNS = (
    *("UID", "Model_ID", "Question_ID", "Reviewer", "Agree/Disagree"),
    *("Agent_Eval_Hallucination", "Human_Eval_Hallucination"),
    *("Agent_Eval_Hallucination_Location", "Human_Eval_Hallucination_Location"),
    *("Agent_Eval_Hallucination_Type", "Agent_Eval_Hallucination_Type_Clean"),
    *("Human_Eval_Hallucination_Type", "Human_Eval_Hallucination_Type_Clean", "Comments"),
)
_TYPE_WORD = re.compile("|".join(TRAJEL.types), re.IGNORECASE)


@dataclass(frozen=True)
class Opinion:
    """What one side said of a run: whether it hallucinates (null where the cell is empty), where, of which types."""

    hallucinates: bool | None
    location: str
    places: tuple[Place, ...]
    types: frozenset[str]


@dataclass(frozen=True)
class Annotation:
    """One row of the table. ``agreement`` is the reviewer's word on the judge: agree, disagree or partial."""

    uid: str
    model: str
    question: str
    reviewer: str
    agreement: str
    judge: Opinion
    human: Opinion
    comment: str


@dataclass(frozen=True)
class Lint:
    """Something in a row that does not fit together; the row is kept as it is."""

    uid: str
    side: str
    kind: str
    detail: str


@dataclass(frozen=True)
class Question:
    """A question that the agents were asked.

    ``expected`` is the form of a right answer (null where none is given), which no judge sees unless it is asked to.
    """

    text: str
    category: str | None
    expected: str | None


@dataclass(frozen=True)
class Annotations:
    """The table, the questions it is about, what does not fit together in it, and the files by SHA-256.

    ``questions`` is empty where their texts are not at hand: they were released with the benchmark, not with the table.
    """

    rows: tuple[Annotation, ...]
    questions: Mapping[str, Question]
    lints: tuple[Lint, ...]
    files: Mapping[str, str] = field(default_factory=dict)


def types_in(text: str) -> frozenset[str]:
    """Return the hallucination types that an uncleaned cell names.

    >>> sorted(types_in("['procedural', 'Factual ']")), sorted(types_in("logical scope"))
    (['factual', 'procedural'], ['logical', 'scope'])
    """
    return frozenset(word.lower() for word in _TYPE_WORD.findall(text))


def trajel(*, data_dir: str = "data", benchmark: str | None = None, hub_id: str | None = None) -> Annotations:
    """Return the annotations, and the questions where their texts are at hand.

    Args:
        data_dir: folder that holds ``trajel/annotations.csv`` and, if at hand, ``trajel/questions.json``.
        benchmark: folder of a clone of AssetOpsBench, whose own file of questions is read instead.
        hub_id: dataset on the Hugging Face hub (or a local folder of that layout) that holds the table instead.

    Raises:
        FileNotFoundError: naming the missing file.
        RecordError: naming file, line and column.
        ValueError: the hub's dataset cannot be loaded.
    """
    lints: list[Lint] = []
    files: dict[str, str] = {}
    if hub_id is None:
        (table,) = need_files("trajel", data_dir, (TABLE,))
        files[TABLE] = file_hash(table)
        rows = tuple(read_annotations(table, lints))
    else:
        rows = tuple(annotations_of(hub_rows(hub_id), lints))
    asked = Path(data_dir) / QUESTIONS if benchmark is None else Path(benchmark) / BENCHMARK_QUESTIONS
    if benchmark is not None and not asked.is_file():
        raise FileNotFoundError(f"dataset.benchmark: no such file: {asked}; expected a clone of AssetOpsBench")
    if not asked.is_file():
        return Annotations(rows, {}, tuple(lints), files)
    files[QUESTIONS] = file_hash(asked)
    return Annotations(rows, _questions(asked), tuple(lints), files)


def read_annotations(path: str | Path, lints: list[Lint]) -> Iterator[Annotation]:
    """Yield the rows of the released table in order, appending to ``lints`` what does not fit together.

    Raises:
        RecordError: for a missing column, a value outside its column's set, or a second row of one UID.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        _check_columns(reader.fieldnames or (), f"{path}:1")
        yield from annotations_of(((f"{path}:{reader.line_num}", row) for row in reader), lints)


def _check_columns(columns: Sequence[str], where: str) -> None:
    if tuple(columns) != COLUMNS:
        fail(f"{where}: columns", ", ".join(COLUMNS), list(columns))


def annotations_of(rows: Iterable[tuple[str, Mapping[str, str]]], lints: list[Lint]) -> Iterator[Annotation]:
    """Yield the annotations of rows, each with where it stands, appending to ``lints`` what does not fit together.

    Raises:
        RecordError: for a missing column, a value outside its column's set, or a second row of one UID.
    """
    seen: set[str] = set()
    for where, row in rows:
        _check_columns(tuple(row), where)
        if row["UID"] in seen:
            raise RecordError(f"{where}: UID: duplicate id {row['UID']!r}")
        seen.add(row["UID"])
        judge, human = (_opinion(row, side, where) for side in ("Agent", "Human"))
        lints += [*_lint(row, "judge", judge), *_lint(row, "human", human)]
        yield Annotation(
            row["UID"],
            row["Model_ID"],
            row["Question_ID"],
            row["Reviewer"],
            _one_of(row, "Agree/Disagree", ("agree", "disagree", "partial"), where),
            judge,
            human,
            row["Comments"],
        )


def _opinion(row: Mapping[str, str], side: str, where: str) -> Opinion:
    column = f"{side}_Eval_Hallucination"
    verdict = _one_of(row, column, ("True", "False", ""), where)
    location = row[f"{column}_Location"].strip()
    types = row[f"{column}_Type_Clean"]
    names = [TRAJEL.check(name.strip(), f"{where}: {column}_Type_Clean") for name in types.split(",") if name.strip()]
    return Opinion({"True": True, "False": False}.get(verdict), location, parse_location(location), frozenset(names))


def _one_of(row: Mapping[str, str], column: str, allowed: tuple[str, ...], where: str) -> str:
    value = row[column].strip()
    if value not in allowed:
        fail(f"{where}: {column}", f"one of {', '.join(word or 'an empty cell' for word in allowed)}", value)
    return value


def _lint(row: Mapping[str, str], side: str, said: Opinion) -> Iterator[Lint]:
    """Yield what does not fit together in one side of a row."""
    raw = row[f"{'Agent' if side == 'judge' else 'Human'}_Eval_Hallucination_Type"]
    if said.hallucinates is None:
        yield Lint(row["UID"], side, "no binary label", f"types: {', '.join(sorted(said.types)) or 'none'}")
    if said.hallucinates is False and (said.types or said.places):
        yield Lint(row["UID"], side, "label contradicts types", "no hallucination, yet a type or a place is named")
    if said.hallucinates and not said.types:
        yield Lint(row["UID"], side, "label contradicts types", "a hallucination, yet no type is named")
    if said.places and not any(place.component for place in said.places):
        yield Lint(row["UID"], side, "location names no component", f"{len(said.places)} task(s) named")
    if types_in(raw) != said.types:
        yield Lint(row["UID"], side, "type was cleaned to something else", f"{raw!r} became {sorted(said.types)}")


def _questions(path: Path) -> dict[str, Question]:
    """Read the questions, from the benchmark's own list or from a table by their id."""
    content = loads(path.read_bytes(), str(path))
    if isinstance(content, list):
        content = {f"Q_{typed(row, dict, f'{path}: [{i}]').get('id')}": row for i, row in enumerate(content)}
    return {
        key: Question(
            typed(value["text"], str, f"{path}: {key}.text"),
            value.get("category"),
            value.get("characteristic_form"),
        )
        for key, value in typed(content, dict, str(path)).items()
    }
