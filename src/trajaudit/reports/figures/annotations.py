"""What reviewers found in annotated runs: which types, with which others, in which component, how far along, by model.

Shares are of runs and carry Wilson's interval; in the two heat maps a row is what is given ("of the runs with a scope
fault, how many also have a procedural one"), so cells across the diagonal differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import BoolArray
from trajaudit.reports.figures.grid import cell, frame
from trajaudit.reports.figures.style import BLUE, ORANGE, SOFT, Drawing, rates, short, styled
from trajaudit.reports.table import Column, Row, Table
from trajaudit.reports.trajel import Sides, proportion

COMPONENTS = ("thought", "action", "observation", "response")


def type_by_component(sides: Sides) -> Drawing:
    """Draw, for each type, the share of its runs in which the reviewer put a fault into each component.

    The released table gives a run's types and its places, not which type is at which place: a run with two types counts
    for both.
    """
    columns = {name: np.array([name in named for named in sides.components]) for name in COMPONENTS}
    caption = (
        "Of the runs with a fault of a type (rows), how many have a fault located in a component (columns). A run with "
        "several types or components counts for each. Misspelt components are counted, so two cells are one more than "
        "printed in the paper."
    )
    return _heat_map("type_by_component", "Types by component", sides, columns, caption)


def co_occurrence(sides: Sides) -> Drawing:
    """Draw, for each type, the share of its runs that have each other type as well."""
    columns = {name: sides.column("human", name) for name in sides.types}
    caption = "Of the runs with a fault of one type (rows), how many have one of the other (columns) as well."
    return _heat_map("co_occurrence", "Types that come together", sides, columns, caption)


def _heat_map(key: str, title: str, sides: Sides, columns: dict[str, BoolArray], caption: str) -> Drawing:
    rows, counts = [], {}
    for kind in sides.types:
        own = sides.column("human", kind)
        counts[kind] = [int((own & column).sum()) for column in columns.values()]
        rows.append(Row((kind, *(proportion(hits, int(own.sum())) for hits in counts[kind]))))
    table = Table(key, title, (Column("type", "type", "text"), *(Column(name, name) for name in columns)), tuple(rows))
    with styled():
        figure = Figure(figsize=(1.7 + 0.95 * len(columns), 0.7 + 0.45 * len(rows)))
        ax = figure.subplots()
        for y, row in enumerate(rows):
            for x, share in enumerate(row.cells[1:]):
                assert isinstance(share, Estimate)
                diagonal = key == "co_occurrence" and x == y
                text = f"{counts[sides.types[y]][x]}" + ("" if diagonal else f"\n{share.value:.2f}")
                cell(ax, x, y, 0.0 if diagonal else share.value, text)
        frame(ax, list(range(len(columns))), list(columns), [f"{t} (n = {_runs(sides, t)})" for t in sides.types])
        return Drawing(key, caption, figure, table)


def _runs(sides: Sides, kind: str) -> int:
    return int(sides.column("human", kind).sum())


def model_profiles(sides: Sides) -> Drawing:
    """Draw each model's share of runs with any hallucination and with each type, after the reviewers."""
    columns = {"any": sides.human, **{name: sides.column("human", name) for name in sides.types}}
    names = sorted(dict.fromkeys(sides.model), key=lambda name: float(sides.human[_own(sides, name)].mean()))
    rows = tuple(
        Row((name, *(proportion(int(c[own].sum()), int(own.sum())) for c in columns.values())))
        for name, own in ((name, _own(sides, name)) for name in names)
    )
    heads = (Column("model", "model", "text"), *(Column(name, name) for name in columns))
    table = Table("model_profiles", "Hallucinations by model", heads, rows)
    caption = (
        "Share of each model's labelled runs with a hallucination, and with one of each type, by the reviewers, with "
        "95 % intervals of single rates. Whether two models differ is a paired question: see the findings."
    )
    with styled():
        figure = Figure(figsize=(1.6 * len(columns) + 1.2, 0.9 + 0.3 * len(rows)), layout="constrained")
        for x, ax in enumerate(figure.subplots(1, len(columns), sharey=True)):
            heights = range(len(rows))
            _points(ax, heights, [row.cells[x + 1] for row in rows], BLUE, "o")
            rates(ax)
            ax.set_title(list(columns)[x], loc="left")
            ax.set_yticks(heights, [short(name) for name in names])
            ax.tick_params(axis="y", length=0)
        return Drawing("model_profiles", caption, figure, table)


def _own(sides: Sides, model: str) -> BoolArray:
    return np.asarray(sides.labelled & (np.array(sides.model) == model))


def _points(ax: Axes, heights: Sequence[float], estimates: Sequence[object], colour: str, marker: str) -> None:
    """Draw estimates as points with their intervals, at the given heights."""
    for y, estimate in zip(heights, estimates, strict=True):
        assert isinstance(estimate, Estimate)
        if estimate.value is None or estimate.low is None or estimate.high is None:
            continue
        ax.plot([estimate.low, estimate.high], [y, y], color=colour, linewidth=1.4)
        ax.plot(estimate.value, y, marker, color=colour, mec="white", markersize=5.5)


def task_positions(sides: Sides) -> Drawing:
    """Draw how far along the faults are, by the published reading of the locations and by one that reads lists whole.

    The published count is of mentions, so one run can count twice for a task; it is drawn as it was printed.
    """
    mentions = Counter(number for numbers in sides.mentions for number in numbers)
    runs = Counter(task for tasks in sides.tasks for task in tasks)
    located = sum(bool(tasks) for tasks in sides.tasks)
    tasks = sorted(mentions | runs)
    rows = tuple(Row((str(task), mentions[task], runs[task], proportion(runs[task], located))) for task in tasks)
    heads = (
        *(Column("task", "task", "text"), Column("mentions", "published reading", "count")),
        *(Column("runs", "lists read whole", "count"), Column("share", "share of located runs")),
    )
    table = Table("task_positions", "Where along the run the faults are", heads, rows)
    caption = (
        'Runs with a fault located in each task. Published reading: the number after each word "Task", which loses the '
        "rest of a list. Bars of the corrected counts are 95 % intervals, of shares among the "
        f"{located} runs with a located fault."
    )
    with styled():
        return Drawing("task_positions", caption, _positions(rows, located), table)


def _positions(rows: Sequence[Row], located: int) -> Figure:
    figure = Figure(figsize=(5.6, 2.6), layout="constrained")
    ax = figure.subplots()
    for x, (_, mentions, runs, share) in enumerate(row.cells for row in rows):
        assert isinstance(share, Estimate)
        assert share.low is not None
        assert share.high is not None
        ax.bar(x - 0.2, mentions, 0.36, color="white", edgecolor=SOFT, hatch="////")  # type: ignore[arg-type]
        ax.bar(x + 0.2, runs, 0.36, color=BLUE)  # type: ignore[arg-type]
        ax.plot([x + 0.2] * 2, [share.low * located, share.high * located], color=ORANGE, linewidth=1.6)
    ax.legend([ax.patches[0], ax.patches[1]], ["published reading", "lists read whole"], frameon=False)
    ax.set_xticks(range(len(rows)), [str(row.cells[0]) for row in rows])
    ax.set_xlabel("task")
    ax.set_ylabel("runs (published: mentions)")
    return figure
