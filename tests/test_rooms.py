"""The house stands: what each room may import, and who knows Hydra."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "trajaudit"
RECORDS = {
    "_fields",
    "_log",
    "taxonomy",
    "trajectory",
    "verdict",
    "auditor",
    "dataset",
    "annotation",
    "episode",
    "location",
    "__init__",
}
ALLOWED = {
    "datasets": set(),
    "detectors": set(),
    "testbeds": set(),
    "llm": set(),
    "agents": {"llm"},
    "judges": {"llm"},
    "analysis": set(),
    "reports": {"analysis"},
    "runs": set(),
}


def imports(path: Path) -> set[str]:
    """Every module that a file imports, by full name."""
    tree = ast.parse(path.read_text())
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}


@pytest.mark.parametrize("room", ALLOWED)
def test_arrows_between_rooms_point_one_way(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("trajaudit.")}
        assert ours <= RECORDS | {room} | ALLOWED[room], f"{path.relative_to(PACKAGE)} imports {ours}"


def test_records_import_nothing_of_ours_but_records() -> None:
    for name in RECORDS - {"__init__"}:
        ours = {n.split(".")[1] for n in imports(PACKAGE / f"{name}.py") if n.startswith("trajaudit.")}
        assert ours <= RECORDS, f"{name} imports {ours}"


def test_only_the_command_line_knows_hydra() -> None:
    knowing = {
        path.name for path in PACKAGE.rglob("*.py") if {n.split(".")[0] for n in imports(path)} & {"hydra", "omegaconf"}
    }
    assert knowing == {"cli.py", "composing.py", "launching.py"}


def test_the_analysis_reads_no_file() -> None:
    for path in (PACKAGE / "analysis").glob("*.py"):
        tree = ast.parse(path.read_text())
        called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert "open" not in called
        assert "pathlib" not in imports(path)
