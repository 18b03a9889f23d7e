"""Build a whole report in a folder: tables in every format, figures, the page, and the metrics for machines.

A report has one part or several (a generated set, say, and the published one beside it): each is a set of trajectories
with its own scorecards, and the viewer holds the trajectories of all. Scorecards of different sets never share a table.
Where both conventions are given, the first (``published``) fills the report and the other stands beside it, folded,
and only where some item went unanswered: otherwise the two are the same numbers.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trajaudit import __version__
from trajaudit._fields import Json
from trajaudit.analysis.result import CONVENTIONS, Comparison, Scorecard
from trajaudit.reports.comparison_tables import bounds_table, comparison_table, denominator_table
from trajaudit.reports.figures import (
    Drawing,
    confusion_matrices,
    cost_quality,
    per_type_recall,
    recall_by_stratum,
    reliability_curves,
    save,
)
from trajaudit.reports.flag_counts import flag_count_table
from trajaudit.reports.formats import write
from trajaudit.reports.html import Fact, Picture, Section, page
from trajaudit.reports.numbers import count
from trajaudit.reports.scorecard_tables import scorecard_tables
from trajaudit.reports.table import Table
from trajaudit.reports.viewer_data import embed
from trajaudit.trajectory import STRATA, Trajectory
from trajaudit.verdict import Verdict, check_verdicts

FIGURES: tuple[Callable[[Sequence[Scorecard]], Drawing], ...] = (
    recall_by_stratum,
    per_type_recall,
    confusion_matrices,
    reliability_curves,
    cost_quality,
)
OF_TYPES = (per_type_recall, confusion_matrices)
"""Figures of fault types, left out where no label names any."""
SECTIONS = (
    ("suspects", "Which runs to read first", (), ("suspects",)),
    ("flags", "Who flags what", (), ("flags",)),
    ("summary", "Who finds what", ("recall_by_stratum",), ("summary",)),
    ("comparisons", "Which differences are certain", (), ("comparisons",)),
    ("detection", "Is there a fault?", (), ("detection",)),
    ("localisation", "At which step?", (), ("localisation",)),
    ("types", "Of which type?", ("per_type_recall", "confusion"), ("typing", "type_recall")),
    ("calibration", "How surely?", ("reliability",), ("calibration",)),
    ("cost", "At what cost?", ("cost_quality",), ("cost",)),
    ("wording", "Does the prompt's wording move it?", (), ("prompt_flips", "prompt_shifts", "prompt_agreement")),
    ("attacks", "Does text that addresses the judge?", (), ("attacks",)),
    ("uncertainty", "Does doubt foretell error?", (), ("uncertainty",)),
    ("denominators", "Who is counted", (), ("denominators", "bounds")),
)
"""The sections of the page: key, title, figures and tables by their keys."""

LEAD = (
    "Auditors read recorded runs of an agent and say whether something went wrong in them, at which step, of which "
    "type and how surely. Here they are measured on the same runs, whose faults are known, and every verdict can be "
    "read beside the run it was given on."
)
FALLIBLE_LEAD = (
    "Auditors read recorded runs of an agent and say whether something went wrong in them, at which step, of which "
    "type and how surely. Here they are measured on the same runs against labels that are not there by construction, "
    "so a score is agreement with whoever gave them; every verdict can be read beside the run it was given on."
)
UNLABELLED_LEAD = (
    "Auditors read recorded runs of an agent and say whether something went wrong in them, at which step, of which "
    "type and how surely. Nobody has said what is true of these runs, so nothing here is a score; every verdict can be "
    "read beside the run it was given on."
)


@dataclass(frozen=True)
class Part:
    """One set of trajectories in a report, with the verdicts on it and what they are worth.

    ``key`` names its folder and its place in the page; ``lead`` says in a sentence or two what the set is; ``studies``
    are further tables (a prompt's variants, say), shown in the section that names their key.
    """

    key: str
    title: str
    trajectories: Sequence[Trajectory]
    verdicts: Sequence[Verdict]
    scorecards: Sequence[Scorecard]
    comparisons: Sequence[Comparison] = ()
    lead: str = ""
    studies: Sequence[Table] = ()

    @property
    def labelled(self) -> bool:
        """Whether any of its runs has a label, so that verdicts can be scored."""
        return any(trajectory.label is not None for trajectory in self.trajectories)


def build_report(
    folder: str | Path, *, title: str, parts: Sequence[Part], notes: Sequence[str] = (), max_embedded: int = 2000
) -> Path:
    """Write the report and return the path of its page.

    ``folder`` gets ``report.html``, ``metrics.json``, ``tables/`` and ``figures/``; with several parts, the last two
    stand in a folder of each part. ``notes`` are warnings that the page shows first. Above ``max_embedded``
    trajectories the page holds a stated sample of them.

    Raises:
        RecordError: for verdicts on other trajectories than a part's, or on other content under the same id.
        ValueError: where a part with labels has no scorecard, or a metric is not a finite number.
    """
    if not parts or not all(part.scorecards or not part.labelled for part in parts):
        raise ValueError("scorecards: expected at least one in every part that is labelled, got none")
    folder = Path(folder)
    sections: list[Section] = []
    for part in parts:
        check_verdicts(part.verdicts, part.trajectories)
        own = list(_part_sections(part, folder / part.key if len(parts) > 1 else folder))
        sections += own if len(parts) == 1 else _under_heading(part, own)
    trajectories = list({t.id: t for part in parts for t in part.trajectories}.values())
    given = {(v.trajectory_id, v.auditor, v.spec_hash): v for part in parts for v in part.verdicts}
    verdicts = list(given.values())
    facts = head_facts(trajectories, verdicts)
    _write(folder / "metrics.json", metrics_json(title, facts, parts, notes))
    path = folder / "report.html"
    _write(path, page(title, _lead(trajectories), facts, notes, sections, embed(trajectories, verdicts, max_embedded)))
    return path


def _lead(trajectories: Iterable[Trajectory]) -> str:
    """Return what the page says first, by how the labels are known: a score is about faults or about a view of them."""
    origins = {run.label.origin for run in trajectories if run.label is not None}
    return (LEAD if origins == {"construction"} else FALLIBLE_LEAD) if origins else UNLABELLED_LEAD


def _part_sections(part: Part, folder: Path) -> Iterator[Section]:
    """Write a part's tables and figures, and return what the page shows of them."""
    if not part.scorecards:
        unscored = [*part.studies, flag_count_table(part.trajectories, part.verdicts)]
        for table in unscored:
            write(table, folder / "tables")
        return _sections({table.key: table for table in unscored}, {}, [])
    first, *others = _by_convention(part.scorecards)
    tables = part_tables(part)
    failed = _any_failed(part.scorecards)
    aside = [table for cards in others for table in scorecard_tables(cards)] if failed else []
    for table in tables.values():
        write(table, folder / "tables")
    for table in aside:
        write(table, folder / "tables" / str(table.convention))
    typed = any(card.per_type_recall or card.confusion for card in first)
    shown = [draw(first) for draw in FIGURES if typed or draw not in OF_TYPES]
    pictures = {drawing.key: _picture(drawing, folder / "figures") for drawing in shown}
    return _sections(tables, pictures, aside)


def _under_heading(part: Part, sections: Sequence[Section]) -> list[Section]:
    """Return a part's sections with keys of their own, the first of them below the part's heading."""
    named = [replace(section, key=f"{part.key}-{section.key}") for section in sections]
    return [replace(named[0], part=part.title, part_lead=part.lead), *named[1:]]


def _write(path: Path, text: str) -> None:
    """Write UTF-8 text; half a surrogate pair, which JSON can hold and UTF-8 cannot, becomes a character reference."""
    path.write_text(text, encoding="utf-8", errors="xmlcharrefreplace", newline="\n")


def _by_convention(cards: Iterable[Scorecard]) -> list[list[Scorecard]]:
    cards = list(cards)
    groups = [[card for card in cards if card.convention == convention] for convention in CONVENTIONS]
    return [group for group in groups if group]


def _any_failed(cards: Iterable[Scorecard]) -> bool:
    return any(card.denominator.answered < card.denominator.attempted for card in cards)


def part_tables(part: Part) -> dict[str, Table]:
    """Return a part's tables by key, those of the first convention, with who is counted under both."""
    first = _by_convention(part.scorecards)[0]
    tables = [*scorecard_tables(first), denominator_table(part.scorecards)]
    bounds = bounds_table(part.scorecards)
    tables += [bounds] if bounds.rows else []
    tables += [comparison_table(part.comparisons)] if part.comparisons else []
    tables += part.studies
    return {table.key: table for table in tables}


def _picture(drawing: Drawing, folder: Path) -> Picture:
    png = next(path for path in save(drawing, folder) if path.suffix == ".png")
    return Picture(png.read_bytes(), drawing.caption, round(96 * drawing.figure.get_figwidth()))


def _sections(
    tables: Mapping[str, Table], pictures: Mapping[str, Picture], aside: Sequence[Table]
) -> Iterator[Section]:
    for key, title, figures, names in SECTIONS:
        shown = [tables[name] for name in names if name in tables]
        folded, folded_title = [table for table in aside if table.key in names], "The same, unanswered items left out"
        if key == "types":
            folded = [table for name, table in tables.items() if name.startswith("confusion_")]
            folded_title = "Confusion in numbers"
        if shown:
            yield Section(
                key, title, [pictures[name] for name in figures if name in pictures], shown, folded, folded_title
            )


def head_facts(trajectories: Sequence[Trajectory], verdicts: Sequence[Verdict]) -> list[Fact]:
    """Return the counts at the head of the page."""
    strata = Counter("unlabelled" if t.label is None else t.label.stratum for t in trajectories)
    known = ", ".join(f"{count(strata[name])} {name}" for name in (*STRATA, "unlabelled") if strata[name])
    statuses = Counter(verdict.status for verdict in verdicts)
    failed = ", ".join(f"{count(n)} {status}" for status, n in sorted(statuses.items()) if status != "ok")
    datasets = ", ".join(sorted({trajectory.source.dataset for trajectory in trajectories}))
    return [
        Fact("Trajectories", count(len(trajectories)), known),
        Fact("Groups", count(len({trajectory.group for trajectory in trajectories})), f"dataset: {datasets}"),
        Fact("Auditors", count(len({verdict.auditor for verdict in verdicts}))),
        Fact("Verdicts", count(len(verdicts)), failed or "all with an opinion"),
    ]


def metrics_json(title: str, facts: Sequence[Fact], parts: Sequence[Part], notes: Sequence[str]) -> str:
    """Return everything measured as strict JSON at full precision."""
    obj: Json = {
        "title": title,
        "trajaudit": __version__,
        "counts": {fact.name.lower(): {"value": fact.value, "detail": fact.detail} for fact in facts},
        "notes": list(notes),
        "parts": {
            part.key: {
                "title": part.title,
                "scorecards": [_plain(card) for card in part.scorecards],
                "comparisons": [_plain(comparison) for comparison in part.comparisons],
            }
            for part in parts
        },
    }
    return json.dumps(obj, ensure_ascii=True, allow_nan=False, indent=1) + "\n"


def _plain(value: Any) -> Json:
    """Return dataclasses, mappings of any kind and sequences as JSON values."""
    if dataclasses.is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
