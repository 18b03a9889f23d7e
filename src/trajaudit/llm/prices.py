"""What a token costs: a dated table, the user's own prices before it, and no guess where neither knows.

Prices are kept for each class of token, because a cached token costs a tenth to a half of a fresh one and an hour's
cache write twice it. A class without a price makes the cost null: a cost that silently leaves a class out is too low by
an unknown amount, and a zero would rank the judge first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import resources
from urllib.parse import urlsplit

from trajaudit._fields import nearest


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one million tokens of each class; null where unknown. ``date`` and ``source`` say whence."""

    input: float | None = None
    cached_input: float | None = None
    cache_write: float | None = None
    cache_write_1h: float | None = None
    output: float | None = None
    date: str | None = None
    source: str | None = None


CLASSES = tuple(field.name for field in fields(Price) if field.name not in ("date", "source"))
FREE = Price(0.0, 0.0, 0.0, 0.0, 0.0, source="runs on this machine")


def own_price(given: Mapping[str, float | None]) -> Price:
    """Return the price that the user states, in US dollars for one million tokens of each class.

    Raises:
        ValueError: an unknown class, or a price that is not a number of zero or more.
    """
    for name, value in given.items():
        if name not in CLASSES:
            raise ValueError(f"price.{name}: unknown{nearest(name, CLASSES)}; known: {', '.join(CLASSES)}")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (number and 0 <= value < float("inf")):
            raise ValueError(f"price.{name}: expected US dollars for a million tokens, 0 or more, got {value!r}")
    return _price(given, None, "own price")


def listed_price(model: str, base_url: str) -> Price | None:
    """Return the table's price of a model at the host of ``base_url``, null where the table does not list it.

    >>> listed_price("gpt-4.1-mini", "https://api.openai.com/v1").output
    1.6
    >>> listed_price("gpt-4.1-mini", "http://localhost:8000/v1") is None
    True
    """
    return _table().get((urlsplit(base_url).hostname or "", model))


@cache
def _table() -> dict[tuple[str, str], Price]:
    import yaml

    text = resources.files(__package__).joinpath("prices.yaml").read_text()
    table = {}
    for block in yaml.safe_load(text):
        for row in block["models"]:
            price = _price(row, str(row["date"]), block["source"])
            table.update({(block["endpoint"], name): price for name in row["names"]})
    return table


def _price(rates: Mapping[str, float | None], date: str | None, source: str) -> Price:
    known = [rates.get(name) for name in CLASSES]
    return Price(known[0], known[1], known[2], known[3], known[4], date, source)
