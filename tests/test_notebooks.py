"""Every notebook runs from its first cell to its last on a fresh kernel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks need the extra `notebooks`")
nbclient = pytest.importorskip("nbclient", reason="notebooks need the extra `notebooks`")
ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "data"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_its_first_cell_to_its_last(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "TRAJAUDIT_DATA" not in os.environ and SHARED.is_dir():
        monkeypatch.setenv("TRAJAUDIT_DATA", str(SHARED))
    notebook = nbformat.read(path, as_version=4)
    needed = notebook.metadata.get("trajaudit", {}).get("needs")
    if needed and not (Path(os.environ.get("TRAJAUDIT_DATA", ROOT / "data")) / needed).is_file():
        pytest.skip(f"{needed} is not at hand: trajaudit fetch")
    assert not any(cell.get("outputs") for cell in notebook.cells), "stored outputs: run nbstripout"
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
