"""The checkable values of a sentence: numbers with units, dates, identifiers, and names.

Two choices change what counts as the same number. A number is matched to the precision it was written with ("27.1" fits
27.13, "27" fits 27.4), never more loosely. And where digits can be read in several ways ("1.234" is 1234 to a German
and 1.234 to an Englishman) every reading is kept, and one that fits is enough: a claim is not false for its spelling.
Units of one dimension are converted (2 hours fits 120 minutes, 33 kV fits 33000 V); across dimensions nothing fits.
"""

from __future__ import annotations

import calendar
import re
from functools import lru_cache
from typing import NamedTuple

_SCALES: dict[str, dict[float, str]] = {
    "time": {
        1: "second seconds sec secs s",
        60: "minute minutes min mins",
        3600: "hour hours hr hrs h",
        86400: "day days d",
        604800: "week weeks wk",
        2629800: "month months",
        31557600: "year years yr yrs",
    },
    "percent": {1: "percent percentage pct per-cent %"},
    "money": {1: "eur euro euros usd dollar dollars gbp chf sek pln jpy kwd kr zł € $ £ ¥ cad aud inr cny"},
    "voltage": {1: "v volt volts", 1e3: "kv"},
    "current": {1: "a amp amps ampere amperes", 1e3: "ka"},
    "power": {1: "w watt watts", 1e3: "kw", 1e6: "mw", 1e9: "gw"},
    "energy": {1: "wh", 1e3: "kwh", 1e6: "mwh"},
    "apparent": {1: "va", 1e3: "kva", 1e6: "mva"},
    "temperature": {1: "°c celsius degc c °"},
    "frequency": {1: "hz", 1e3: "khz"},
    "concentration": {1: "ppm"},
    "speed": {1: "kmh km/h"},
}
UNITS = {word: (name, scale) for name, of in _SCALES.items() for scale, words in of.items() for word in words.split()}
"""Each unit word with its dimension and its size in that dimension's base unit."""

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SIGNS = "€$£¥"
_CODES = "|".join(word for word, (kind, _) in UNITS.items() if kind == "money" and len(word) == 3)
_POINTER = re.compile(r"\b(?:step|task|section|page|line|no\.)s? #?\d+(?:(?:,| and| to|-) ?\d+)*", re.IGNORECASE)
"""Numbers that point at a place in the run or the text and state nothing."""
_UNIT = "|".join(sorted((re.escape(word) for word in UNITS), key=len, reverse=True))
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_NUMBER = re.compile(
    rf"(?<![\w.,-])(?:(?P<before>[{_SIGNS}]|\b(?:{_CODES})\b)\s?)?(?P<sign>-)?(?P<digits>{_DIGITS})"
    rf"(?![\w]*\d)(?:[\s-]?(?:working|business|calendar|full)?\s?(?P<unit>{_UNIT})(?!\w))?",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    rf"\b(?P<word>{'|'.join(_WORDS)})(?P<gap>[\s-](?:working |business |calendar |full )?(?:{_UNIT})(?!\w))", re.I
)
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_IDENTIFIER = re.compile(rf"{_EMAIL}|(?<![\w.@-])(?=[\w./-]*\d)[A-Za-z][A-Za-z0-9]*(?:[-_/.][A-Za-z0-9]+)+(?![\w@])")
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?\b")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_MONTHS = [name.lower() for name in calendar.month_name[1:]]
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_WRITTEN_DATE = re.compile(
    rf"\b(?:(?P<m1>{_MONTH})\.? (?P<d1>\d{{1,2}})|(?P<d2>\d{{1,2}})\.? (?P<m2>{_MONTH}))"
    r"(?:\w\w)?(?:,? (?P<y>\d{4}))?\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow|yesterday|today|tonight)\b")
_NAME = re.compile(r"(?<![\w'’-])[A-Z][a-zA-Z]+(?:[ -][A-Z][a-zA-Z]+)*(?![\w'’])")
_NEUTRAL = frozenset(
    (
        "I",
        "Note",
        "However",
        "Also",
        "Additionally",
        "Based",
        "Finally",
        "Summary",
        "Yes",
        "No",
        "OK",
        "N/A",
        "None",
        "ID",
        "Step",
        "Task",
    )
)


class Value(NamedTuple):
    """Something checkable in a text.

    ``kind`` is number, date, identifier or name. A number has its possible readings as they were written, the dimension
    and scale of its unit ("" and 1 where none is said), and ``slack``, half a unit of its last digit.
    """

    kind: str
    text: str
    numbers: tuple[float, ...] = ()
    dimension: str = ""
    scale: float = 1.0
    slack: float = 0.0

    def fits(self, number: float, dimension: str = "", scale: float = 1.0) -> bool:
        """Return whether an observed number is what this one states; where one of them has no unit, digits decide.

        >>> values("It takes 2 hours.")[0].fits(120, "time", 60), values("a 27 % rise")[0].fits(27, "time", 1)
        (True, False)
        """
        both = bool(dimension and self.dimension)
        if both and dimension != self.dimension:
            return False
        seen = [number * scale / self.scale if both else number]
        if self.dimension == "percent" and not dimension:
            seen.append(100 * number)  # 60.8 % of a field that holds 0.608
        return any(abs(mine - one) <= self.slack + 1e-9 * abs(mine) for mine in self.numbers for one in seen)


def readings(digits: str) -> tuple[tuple[float, ...], int]:
    """Return what written digits can mean, and how many decimals the most precise reading has.

    >>> readings("1.234,56"), readings("1,234"), readings("27.1")
    (((1234.56,), 2), ((1234.0, 1.234), 3), ((27.1,), 1))
    """
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    marks = [char for char in plain if char in ".,"]
    if not marks:
        return (float(plain),), 0
    whole, _, part = plain.rpartition(marks[-1])
    joined = float(re.sub(r"[.,]", "", plain))
    if len(marks) > 1 and len(set(marks)) == 1:
        return (joined,), 0
    split = float(f"{re.sub(r'[.,]', '', whole) or '0'}.{part}")
    if len(marks) == 1 and len(part) == 3 and len(whole) <= 3 and plain == digits and not whole.startswith("0"):
        return (joined, split), 3
    return (split,), len(part)


def values(text: str) -> tuple[Value, ...]:
    """Return the checkable values of a text in order of kind; no character belongs to two of them.

    >>> [(v.kind, v.text) for v in values("Order ORD-12 went to Billing on 2026-05-03: 1.234,50 €.")]
    [('identifier', 'ORD-12'), ('date', '2026-05-03'), ('number', '1.234,50 €'), ('name', 'Billing')]
    """
    return _values(text)


@lru_cache(maxsize=65536)
def _values(text: str) -> tuple[Value, ...]:
    found: list[Value] = []
    rest = _POINTER.sub(lambda match: "\x00" * len(match.group()), text)
    for take in (_identifiers, _dates, _numbers, _names):
        taken, rest = take(rest)
        found += taken
    return tuple(found)


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + "\x00" * (end - start) + text[end:]


def _identifiers(text: str) -> tuple[list[Value], str]:
    out = []
    for match in _IDENTIFIER.finditer(text):
        word = match.group()
        if word.replace(".", "").isalpha() and "@" not in word:
            continue
        out.append(Value("identifier", word))
        text = _blank(text, *match.span())
    return out, text


def _dates(text: str) -> tuple[list[Value], str]:
    out = []
    for match in _DATE.finditer(text):
        out.append(Value("date", match[1]))
        text = _blank(text, *match.span())
    for match in _CLOCK.finditer(text):
        text = _blank(text, *match.span())
    for match in _WRITTEN_DATE.finditer(text):
        out.append(Value("date", _iso(match)))
        text = _blank(text, *match.span())
    for match in _WEEKDAY.finditer(text):
        out.append(Value("date", match.group()))
        text = _blank(text, *match.span())
    return out, text


def _iso(match: re.Match[str]) -> str:
    """Return a written date as YYYY-MM-DD, or as -MM-DD where no year is said."""
    month, day = (match["m1"] or match["m2"]).lower()[:3], int(match["d1"] or match["d2"])
    number = next(i for i, name in enumerate(_MONTHS, start=1) if name.startswith(month))
    return f"{match['y'] or ''}-{number:02d}-{day:02d}"


def _numbers(text: str) -> tuple[list[Value], str]:
    out = []
    spelled = _SPELLED.sub(lambda match: f"{_WORDS.index(match['word'].lower())}{match['gap']}", text)
    for match in _NUMBER.finditer(spelled):
        unit = (match["unit"] or match["before"] or "").lower()
        dimension, scale = UNITS.get(unit, ("", 1.0))
        numbers, decimals = readings(match["digits"])
        sign = -1.0 if match["sign"] else 1.0
        signed = tuple(sign * number for number in numbers)
        out.append(Value("number", match.group().strip(), signed, dimension, scale, 0.5 * 10.0**-decimals))
    return out, _NUMBER.sub(lambda match: "\x00" * len(match.group()), spelled)


def _names(text: str) -> tuple[list[Value], str]:
    """Return capitalised words, but for those that open a clause, where any word is capitalised, and for labels.

    What fills the rest of a line after a colon is a value ("Status: Scheduled"), though it opens a clause.
    """
    out = []
    for match in _NAME.finditer(text):
        before, after = text[: match.start()].rstrip(" \t\"'“‘(*_"), text[match.end() :].lstrip("*_ ")
        fills = before.endswith(":") and (not after or after[0] in "\n,(")
        opens = not before or before[-1] in ".!?:;\n-–—•|#"
        words = match.group().split(" ")
        name = " ".join(words[1:] if opens and not fills else words)
        unit = name.lower() in UNITS and len(name) < 4
        if unit or after.startswith(":") or name in _NEUTRAL or name.lower().startswith(tuple(_MONTHS)):
            continue
        if name:
            out.append(Value("name", name))
    return out, text
