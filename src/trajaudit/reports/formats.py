"""The formats of a table: Markdown, LaTeX (booktabs), CSV, JSON and plain text.

The first two and the last print what ``lay_out`` decides; CSV and JSON carry every number at full precision with its
interval, n, method and reason, so that a later reader need not parse print. Undefined is empty in CSV and null in JSON.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from trajaudit._fields import Json
from trajaudit.analysis.result import Estimate
from trajaudit.reports.table import Cell, PrintedCell, Table, lay_out

PARTS = ("low", "high", "n", "method", "reason")
"""What CSV says of an estimate beside its value, each in a column of its own."""


def render(table: Table, fmt: str) -> str:
    """Return the table in a format: "md", "tex", "csv", "json" or "txt"."""
    if fmt not in FORMATS:
        raise ValueError(f"format: expected one of {', '.join(FORMATS)}, got {fmt!r}")
    return FORMATS[fmt](table)


def write(table: Table, folder: str | Path, stem: str | None = None) -> list[Path]:
    """Write the table in every file format as ``folder/stem.{md,tex,csv,json}``; the stem defaults to its key."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for fmt in ("md", "tex", "csv", "json"):
        path = folder / f"{stem or table.key}.{fmt}"
        path.write_text(render(table, fmt), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def _markdown_text(text: str) -> str:
    """Escape what Markdown or the HTML inside it would read as markup; intervals in brackets stay readable."""
    text = re.sub(r"([\\|*`])|(?<!\w)_|_(?!\w)", lambda m: "\\" + m[0], " ".join(text.splitlines()))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown(table: Table) -> str:
    layout = lay_out(table)

    def line(cells: list[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def cell(printed: PrintedCell) -> str:
        mark = f"<sup>{printed.mark}</sup>" if printed.mark else ""
        return _markdown_text(f"{printed.text} {printed.interval}".rstrip()) + mark

    rules = [":---" if column.kind == "text" else "---:" for column in table.columns]
    out = [f"### {_markdown_text(table.title)}", ""]
    out += [line([_markdown_text(column.header) for column in table.columns]), line(rules)]
    out += [line([cell(printed) for printed in row]) for row in layout.rows]
    notes = [f"<sup>{mark}</sup> {_markdown_text(reason)}" for mark, reason in layout.footnotes]
    notes += [text.replace("<", "&lt;") for text in layout.lines]
    return "\n".join([*out, "", *(f"{note}  " for note in notes)]).rstrip() + "\n"


_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "—": "---",
    "−": r"$-$",
    "×": r"$\times$",
    "†": r"\textdagger{}",
}


def _latex_text(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in " ".join(text.splitlines()))


def _latex(table: Table) -> str:
    layout = lay_out(table)

    def cell(printed: PrintedCell) -> str:
        mark = rf"\textsuperscript{{{printed.mark}}}" if printed.mark else ""
        return _latex_text(f"{printed.text} {printed.interval}".rstrip()) + mark

    align = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    body = [" & ".join(cell(printed) for printed in row) + r" \\" for row in layout.rows]
    notes = [rf"\textsuperscript{{{mark}}} {_latex_text(reason)}." for mark, reason in layout.footnotes]
    notes += [_latex_text(line) for line in layout.lines]
    wide = len(table.columns) > 6
    return "\n".join(
        [
            f"% needs booktabs{' and graphicx' if wide else ''}",
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{_latex_text(table.title)}}}",
            rf"\label{{tab:{table.key.replace('_', '-')}}}",
            *([r"\resizebox{\linewidth}{!}{%"] if wide else []),
            rf"\begin{{tabular}}{{{align}}}",
            r"\toprule",
            " & ".join(_latex_text(column.header) for column in table.columns) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}" + ("}" if wide else ""),
            *([r"\par\smallskip\footnotesize", " ".join(notes)] if notes else []),
            r"\end{table}",
            "",
        ]
    )


def _csv(table: Table) -> str:
    estimated = [any(isinstance(row.cells[i], Estimate) for row in table.rows) for i in range(len(table.columns))]
    header: list[str] = []
    for column, has_parts in zip(table.columns, estimated, strict=True):
        header += [column.key, *(f"{column.key}_{part}" for part in PARTS if has_parts)]
    marked = any(row.incomplete for row in table.rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*header, *(["incomplete"] if marked else [])])
    for row in table.rows:
        values: list[Json] = []
        for cell, has_parts in zip(row.cells, estimated, strict=True):
            values += _csv_values(cell, has_parts)
        writer.writerow([*values, *([row.incomplete or ""] if marked else [])])
    return out.getvalue()


def _csv_values(cell: Cell, has_parts: bool) -> list[Json]:
    if isinstance(cell, Estimate):
        values = [cell.value, *(getattr(cell, part) for part in PARTS)]
    else:
        values = [cell, *([None] * len(PARTS) if has_parts else [])]
    return ["" if value is None else repr(float(value)) if isinstance(value, float) else value for value in values]


def _json_cell(cell: Cell) -> Json:
    if not isinstance(cell, Estimate):
        return cell
    return {"value": cell.value, **{part: getattr(cell, part) for part in PARTS}, "level": cell.level}


def _json(table: Table) -> str:
    rows = [
        {column.key: _json_cell(cell) for column, cell in zip(table.columns, row.cells, strict=True)}
        | ({"incomplete": row.incomplete} if row.incomplete else {})
        for row in table.rows
    ]
    obj = {
        "key": table.key,
        "title": table.title,
        "convention": table.convention,
        "columns": [{"key": column.key, "header": column.header, "kind": column.kind} for column in table.columns],
        "rows": rows,
        "notes": list(table.notes),
        "denominators": {
            auditor: {
                "attempted": d.attempted,
                "answered": d.answered,
                "failed": dict(d.failed),
                "truncated": d.truncated,
            }
            for auditor, d in table.denominators.items()
        },
    }
    return json.dumps(obj, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _text(table: Table) -> str:
    layout = lay_out(table)
    grid = [[column.header for column in table.columns], *([cell.plain for cell in row] for row in layout.rows)]
    widths = [max(len(row[i]) for row in grid) for i in range(len(table.columns))]

    def line(cells: list[str]) -> str:
        padded = [
            text.ljust(width) if column.kind == "text" else text.rjust(width)
            for text, width, column in zip(cells, widths, table.columns, strict=True)
        ]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    notes = [f"({mark}) {reason}" for mark, reason in layout.footnotes] + list(layout.lines)
    return (
        "\n".join([table.title, "", line(grid[0]), rule, *map(line, grid[1:]), *([""] if notes else []), *notes]) + "\n"
    )


FORMATS: Mapping[str, Callable[[Table], str]] = {
    "md": _markdown,
    "tex": _latex,
    "csv": _csv,
    "json": _json,
    "txt": _text,
}
