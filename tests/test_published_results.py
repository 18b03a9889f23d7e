"""The tables that are committed are the ones that the code makes, to the last digit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


PAPERS = {
    "trajectory_judge": "251 figures: 249 same, 0 same under a stated reading, 0 differs",
    "trajel": "215 figures: 201 same, 9 same under a stated reading, 3 differs",
    "signals": "21 figures: 0 same, 19 same under a stated reading, 1 differs",
}
FOLDERS = {"signals": "smart_grid"}
"""The folder that a paper's data lies in, where it is not named after the paper."""


@pytest.mark.parametrize("paper", PAPERS)
def test_the_committed_tables_of_a_paper_are_rebuilt_as_they_are(paper: str, data_dir: Path, tmp_path: Path) -> None:
    folder = FOLDERS.get(paper, paper)
    if not (data_dir / folder).is_dir():
        pytest.skip(f"{folder} is not in {data_dir}")
    command = [sys.executable, "-m", "trajaudit.cli", "reproduce", f"experiment={paper}"]
    places = [f"paths.data_dir={data_dir}", f"paths.output_dir={tmp_path}/outputs", f"results={tmp_path}/results"]
    done = subprocess.run([*command, *places], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(PAPERS[paper])
    committed = ROOT / "experiments" / paper / "results"
    for path in sorted(committed.rglob("*.md")):
        assert (tmp_path / "results" / path.relative_to(committed)).read_text() == path.read_text(), path.name


def test_one_changed_figure_is_an_exit_status_of_1(data_dir: Path, tmp_path: Path) -> None:
    figures = ROOT / "experiments" / "trajectory_judge" / "published.yaml"
    changed = figures.read_text().replace("[0.712, 0.451,", "[0.712, 0.452,")
    assert changed != figures.read_text()
    (tmp_path / "published.yaml").write_text(changed)
    command = [sys.executable, "-m", "trajaudit.cli", "reproduce", "experiment=trajectory_judge", "stats.resamples=200"]
    places = [
        f"paths.data_dir={data_dir}",
        f"paths.output_dir={tmp_path}/o",
        f"recipe.figures={tmp_path}/published.yaml",
    ]
    done = subprocess.run([*command, *places], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "248 same" in done.stdout.splitlines()[-1]
    assert "1 differs" in done.stdout.splitlines()[-1]
