"""The report as one self-contained HTML page: results first, then every trajectory with every verdict beside it.

The page may run only its own scripts, by their hashes, and loads nothing: a strict content security policy stands in
it. Text of traces and models reaches it in two ways only, through a template that escapes everything and as JSON data
that the viewer writes into text nodes. It stays harmless when it is mailed, hosted or opened from disk.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from trajaudit import __version__
from trajaudit.reports.table import Table, lay_out
from trajaudit.reports.viewer_data import Embedded

SCRIPTS = ("dom.js", "tables.js", "list.js", "trajectory.js", "main.js")


@dataclass(frozen=True)
class Fact:
    """A number of the page's head, with its name and a detail below it."""

    name: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure as it stands in the page: PNG bytes, the width to show them at, and what they show, in words."""

    png_bytes: bytes
    caption: str
    width: int

    @property
    def png(self) -> str:
        return base64.b64encode(self.png_bytes).decode("ascii")


@dataclass(frozen=True)
class Section:
    """A section of the results: figures, then tables, then tables that are folded away under a title.

    ``part`` and ``part_lead`` stand above the first section of each part of a report that has several.
    """

    key: str
    title: str
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    folded: Sequence[Table] = ()
    folded_title: str = ""
    part: str = ""
    part_lead: str = ""


@cache
def _asset(name: str) -> str:
    return (resources.files("trajaudit.reports") / "viewer" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Return the hash by which a content security policy admits an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def policy(scripts: Sequence[str], style: str) -> str:
    """Return the policy: these scripts, this style, images inside the page, and nothing else at all."""
    return (
        f"default-src 'none'; script-src {' '.join(map(_source_hash, scripts))}; style-src {_source_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def visible(value: Any) -> Any:
    """Return text with characters that hide or that turn the reading direction shown by their code points.

    >>> visible("gnp\u202eexe")
    'gnpU+202Eexe'
    """
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _INVISIBLE.sub(lambda match: f"U+{ord(match[0]):04X}", value)


@cache
def _templates() -> Environment:
    loader = DictLoader({name: _asset(name) for name in ("page.html", "table.html")})
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=visible)


def _grid(table: Table) -> Markup:
    return Markup(_templates().get_template("table.html").render(table=table, layout=lay_out(table)))


def page(
    title: str,
    lead: str,
    facts: Sequence[Fact],
    notes: Sequence[str],
    sections: Sequence[Section],
    embedded: Embedded,
) -> str:
    """Return the report as the text of one HTML file.

    ``lead`` says what this is, ``notes`` are warnings that stand before the results.
    """
    scripts, style = [_asset(name) for name in SCRIPTS], _asset("page.css")
    return (
        _templates()
        .get_template("page.html")
        .render(
            title=title,
            lead=lead,
            facts=facts,
            notes=notes,
            sections=sections,
            sampled=embedded.notice,
            version=__version__,
            policy=policy(scripts, style),
            style=Markup(style),
            scripts=[Markup(script) for script in scripts],
            data=Markup(embedded.text),
            grid=_grid,
        )
    )
