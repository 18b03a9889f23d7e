"""What in a text is a name, a date or a number: how the rules read what an agent says without knowing its words.

Names are recognised by how this plant writes them (a class and a number, the catalogue's sensors and failure modes,
paths, order numbers), so a name from outside the catalogue that looks like none of these is not seen. Percentages are
no numbers here: they are never observed, only worked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.catalogue import CODES, MODES, SENSORS, SITES

_KNOWN = sorted((*SENSORS, *MODES, *CODES, *SITES), key=len, reverse=True)
_NAME = re.compile(
    r"(?P<path>/tmp/[\w./-]+\.json)|(?P<id>\b(?:WO|WB|EV)-\d+)|(?P<model>\bttm_\w+)"
    rf"|(?P<asset>\b(?:Chiller|AHU|Pump) \d+\b)|\b(?P<known>{'|'.join(map(re.escape, _KNOWN))})\b"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?")
_PERCENT = re.compile(r"\d+(?:\.\d+)? ?%")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?")


def names_in(text: str) -> list[str]:
    """Return the names in a text.

    >>> names_in("Data of Motor Current on Pump 4 are in /tmp/cbmdir/0a.json.")
    ['Motor Current', 'Pump 4', '/tmp/cbmdir/0a.json']
    """
    return [match[0] for match in _NAME.finditer(text)]


def assets_in(text: str) -> list[str]:
    return [match["asset"] for match in _NAME.finditer(text) if match["asset"]]


def dates_in(text: str) -> list[str]:
    """Return the days and hours in a text that is free of paths."""
    return _DATE.findall(text)


def numbers_in(text: str) -> list[float]:
    """Return the numbers in a text that are part of no name, date or percentage.

    >>> numbers_in("Pump 4 drew 3.50 kW, 2.1 % more, in the 2 hours from 2020-04-27.")
    [3.5, 2.0]
    """
    for pattern in (_NAME, _DATE, _PERCENT):
        text = pattern.sub("_", text)
    return [float(number) for number in _NUMBER.findall(text)]


def leaves(data: Json) -> Iterator[str | float]:
    """Yield the strings, numbers and keys inside an observation, and the length of every list."""
    if isinstance(data, dict):
        yield from data
        for value in data.values():
            yield from leaves(value)
    elif isinstance(data, list):
        yield float(len(data))
        for value in data:
            yield from leaves(value)
    elif isinstance(data, (int, float)) and not isinstance(data, bool):
        yield float(data)
    elif isinstance(data, str):
        yield data
