"""Annotation sheets: one self-contained page a trajectory, with a form that saves JSON without a server.

A sheet is blind: it holds the task, the steps and the final answer, and neither label nor source nor group nor any
verdict; the reference answer only under the condition ``with_reference``, which every record that the sheet saves then
states. The same policy as in the report stands in the page, and the same code writes the trace into it as text, so that
nothing in an observation can run or reach the form.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from trajaudit import __version__
from trajaudit.reports.html import policy, visible
from trajaudit.reports.viewer_data import script_safe
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory

SCRIPTS = ("viewer/dom.js", "viewer/trajectory.js", "sheet/answer.js", "sheet/form.js")
INDEX_SCRIPTS = ("sheet/answer.js", "sheet/index.js")
CONDITIONS = ("blind", "with_reference")


@cache
def asset(name: str) -> str:
    """Return a file of the pages, by its path below ``reports``."""
    return resources.files("trajaudit.reports").joinpath(name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    loader = DictLoader({name: asset(f"sheet/{name}") for name in ("sheet.html", "index.html")})
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, finalize=visible)


def _render(template: str, scripts: Sequence[str], **told: object) -> str:
    texts, style = [asset(name) for name in scripts], asset("viewer/page.css") + asset("sheet/sheet.css")
    return (
        _templates()
        .get_template(template)
        .render(
            policy=policy(texts, style),
            style=Markup(style),
            scripts=[Markup(text) for text in texts],
            version=__version__,
            **told,
        )
    )


def sheet(
    trajectory: Trajectory, taxonomy: Taxonomy, procedure: str, number: int, total: int, condition: str = "blind"
) -> str:
    """Return the page of one trajectory; ``number`` of ``total`` is all that it says of the other sheets."""
    record, types = trajectory.to_json(), [{"name": n, "meaning": m} for n, m in taxonomy.definitions.items()]
    data = {
        "trajectory": {name: record[name] for name in ("id", "task", "steps", "final_answer")} | {"label": None},
        "content_hash": trajectory.content_hash,
        "condition": condition,
        "taxonomy": {"name": taxonomy.name, "types": types},
    }
    return _render(
        "sheet.html",
        SCRIPTS,
        number=number,
        total=total,
        procedure=procedure,
        reference=trajectory.reference if condition == "with_reference" else None,
        types=types,
        data=Markup(script_safe(data)),
    )


def write_sheets(
    folder: str | Path, trajectories: Sequence[Trajectory], taxonomy: Taxonomy, procedure: str, condition: str = "blind"
) -> Path:
    """Write a sheet for each trajectory and an index of them, and return the path of the index.

    A sheet's name is its number and the start of its content hash: an id can be no file's name.

    Raises:
        ValueError: the condition is unknown, or asks for a reference that a trajectory does not have.
    """
    if condition not in CONDITIONS:
        raise ValueError(f"condition: expected one of {', '.join(CONDITIONS)}, got {condition!r}")
    bare = [run.id for run in trajectories if run.reference is None]
    if condition == "with_reference" and bare:
        raise ValueError(f"with_reference: {len(bare)} of {len(trajectories)} have no reference, first {bare[0]!r}")
    path, listed = Path(folder), []
    path.mkdir(parents=True, exist_ok=True)
    for number, run in enumerate(trajectories, start=1):
        name = f"sheet-{number:03d}-{run.content_hash[:8]}.html"
        page = sheet(run, taxonomy, procedure, number, len(trajectories), condition)
        (path / name).write_bytes(page.encode("utf-8", "backslashreplace"))
        listed.append({"file": name, "content_hash": run.content_hash, "task": run.task[:140], "steps": len(run.steps)})
    index = _render("index.html", INDEX_SCRIPTS, sheets=listed, condition=condition)
    (path / "index.html").write_bytes(index.encode("utf-8", "backslashreplace"))
    return path / "index.html"
