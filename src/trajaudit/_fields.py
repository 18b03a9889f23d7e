"""Strict reading of JSON objects into records, with errors that say where, what was expected and what was given.

Python's own conversions are forgiving in ways that falsify results (``bool("false")`` is True, ``int(True)`` is 1,
a missing key becomes a default), so every field of every record is read through a function here, which checks the
exact JSON type and never converts.
"""

from __future__ import annotations

import difflib
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
Json = Any
"""Any JSON value: None, bool, int, float, str, list or dict with string keys."""

_NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


class RecordError(ValueError):
    """A record that breaks its schema. The message names the place, what was expected and what was given."""


def nearest(name: str, valid: Collection[str]) -> str:
    """Return ``' (did you mean 'x'?)'`` for the closest valid name, or an empty string where none is close.

    >>> nearest("tresholds", ["threshold", "seed"])
    " (did you mean 'threshold'?)"
    """
    close = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def shown(value: Json, limit: int = 60) -> str:
    """Return a short JSON-like rendering of a value for an error message."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def fail(where: str, expected: str, got: Json) -> NoReturn:
    """Raise a RecordError for the field at ``where``."""
    raise RecordError(f"{where}: expected {expected}, got {shown(got)}")


def typed(value: Json, kind: type[T], where: str) -> T:
    """Return ``value`` if its JSON type is exactly ``kind`` (an integer counts as a number, a bool as neither)."""
    right = isinstance(value, kind) or (kind is float and isinstance(value, int))
    if not right or (isinstance(value, bool) and kind is not bool):
        fail(where, _NAMES[kind], value)
    return value


class Fields:
    """A JSON object being read field by field; unknown keys are refused when it is closed."""

    def __init__(self, obj: Json, where: str, known: Collection[str]) -> None:
        self.obj: Mapping[str, Json] = typed(obj, dict, where.rstrip(":"))
        self.where = where
        for key in self.obj:
            if key not in known:
                raise RecordError(
                    f"{where.rstrip(':')}: unknown key {key!r}{nearest(key, known)}; known: {', '.join(known)}"
                )

    def at(self, key: str) -> str:
        """Return the path of a field; a ``where`` that ends in a colon is a file and line, the root of the record."""
        return f"{self.where} {key}" if self.where.endswith(":") else f"{self.where}.{key}"

    def need(self, key: str, kind: type[T]) -> T:
        """Return a required field of an exact type."""
        if key not in self.obj:
            raise RecordError(f"{self.at(key)}: missing; expected {_NAMES[kind]}")
        return typed(self.obj[key], kind, self.at(key))

    def maybe(self, key: str, kind: type[T]) -> T | None:
        """Return a field that may be absent or null."""
        value = self.obj.get(key)
        return None if value is None else typed(value, kind, self.at(key))

    def each(self, key: str, read: Callable[[Json, str], T]) -> tuple[T, ...]:
        """Return a list field (absent or null reads as empty) with ``read(item, where)`` applied to every item."""
        items = self.maybe(key, list) or []
        return tuple(read(item, f"{self.at(key)}[{i}]") for i, item in enumerate(items))


def dumps(obj: Json) -> str:
    """Return compact JSON on one line; NaN and infinity are refused, since JSON has no such numbers.

    >>> dumps({"half a surrogate pair": "\\ud800", "whole": "é"})
    '{"half a surrogate pair":"\\\\ud800","whole":"\\\\u00e9"}'
    """
    text = json.dumps(obj, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:  # JSON can hold half a surrogate pair, UTF-8 cannot
        return json.dumps(obj, allow_nan=False, separators=(",", ":"))
    return text


def canonical(obj: Json) -> bytes:
    """Return the bytes that hashes are taken over: sorted keys, compact, UTF-8."""
    return json.dumps(obj, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True).encode(
        "utf-8", "surrogatepass"
    )


def file_hash(path: str | Path) -> str:
    """Return the SHA-256 of a file's bytes, read in pieces."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def loads(text: str | bytes, where: str, constant: Callable[[str], Json] = _refuse_constant) -> Json:
    """Parse strict JSON, naming ``where`` on failure.

    NaN and infinity are refused, since JSON has no such numbers; for a source that wrote them all the same,
    ``constant`` says what each becomes.
    """
    try:
        return json.loads(text, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: not valid JSON: {error}") from error


def lines(path: str | Path, constant: Callable[[str], Json] = _refuse_constant) -> Iterator[tuple[str, Json]]:
    """Yield ``("file:line", object)`` for each line of a JSONL file (or its gzip); a blank or torn line is an error."""
    for number, raw in enumerate(raw_lines(path), start=1):
        where = f"{path}:{number}"
        if not raw.strip():
            raise RecordError(f"{where}: expected a JSON object, got an empty line")
        yield where, loads(raw, where, constant)


def raw_lines(path: str | Path) -> Iterator[bytes]:
    """Yield the lines of a file, or of what it holds packed.

    Raises:
        RecordError: a packed file was cut off or is none.
    """
    if Path(path).suffix != ".gz":
        with open(path, "rb") as file:
            yield from file
        return
    try:
        with gzip.open(path) as packed:
            yield from packed
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordError(f"{path}: expected a whole gzip file: {error}") from error
