"""What is installed from the wheel works without the checkout around it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the unpacked wheel, as ``pip install`` would lay it."""
    pytest.importorskip("build", reason="the wheel is built with the package `build`")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "site")
    return folder / "site"


def run(site: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("TRAJAUDIT_")} | {
        "PYTHONPATH": str(site)
    }
    command = [sys.executable, "-m", "trajaudit.cli", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd, timeout=300)


def test_the_wheel_carries_what_is_no_python(site: Path) -> None:
    for name in (
        *("conf/generate.yaml", "experiments/trajectory_judge/published.yaml", "judges/prompts/v1/system.md"),
        *("conf/annotate_export.yaml", "reports/sheet/sheet.html", "agents/prompts/v1/system.md"),
        *("conf/audit.yaml", "detectors/fitted/support_desk/adapter.json", "detectors/fitted/support_desk/README.md"),
        *("reports/viewer/page.html", "datasets/pins.yaml", "datasets/procedures/support_desk.yaml", "llm/prices.yaml"),
    ):
        assert (site / "trajaudit" / name).is_file(), name


def test_the_pipeline_runs_from_the_wheel(site: Path, tmp_path: Path) -> None:
    imported = [sys.executable, "-c", "import trajaudit; print(trajaudit.__file__)"]
    env = {**os.environ, "PYTHONPATH": str(site)}
    where = subprocess.run(imported, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert where.stdout.startswith(str(site))
    for args in (("generate",), ("judge",), ("judge", "judge=never"), ("score", "stats.resamples=200"), ("report",)):
        done = run(site, tmp_path, *args, "dataset.n=24")
        assert done.returncode == 0, done.stderr
    assert list((tmp_path / "outputs/report").rglob("report.html"))
    (traces,) = (tmp_path / "outputs/generate").rglob("trajectories.jsonl")
    audited = run(site, tmp_path, "audit", f"traces={traces}", "auditors=[rules,conformance,claims,hybrid]")
    assert audited.returncode == 0, audited.stderr
    assert list((tmp_path / "outputs/audit").rglob("report.html"))


def test_the_wheel_carries_every_adapter_whole(site: Path) -> None:
    from trajaudit.detectors.adapters import check_files, shipped

    for adapter in shipped():
        check_files(site / "trajaudit" / "detectors" / "fitted" / adapter.name, adapter.facts)


def test_reproduce_finds_its_figures_in_the_wheel(site: Path, tmp_path: Path, data_dir: Path) -> None:
    done = run(site, tmp_path, "reproduce", "experiment=trajectory_judge", f"paths.data_dir={data_dir}")
    assert done.returncode == 0, done.stderr
    assert "0 differs" in done.stdout.splitlines()[-1]
