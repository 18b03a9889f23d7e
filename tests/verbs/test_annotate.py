"""From sheets to labels: what the command line writes, reads back and shows, and when it shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trajaudit import cli
from trajaudit._fields import RecordError
from trajaudit.annotation import Annotation, Location
from trajaudit.trajectory import Trajectory, read_trajectories

SET = ("dataset.n=24",)
QUICK = "stats.resamples=200"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "outputs"


def command(out: Path, *words: str) -> int:
    return cli.run(words[0], *SET, f"paths.output_dir={out}", *words[1:])


def runs(out: Path) -> list[Trajectory]:
    command(out, "generate")
    (path,) = out.glob("generate/*/*/trajectories.jsonl")
    return list(read_trajectories(path))


def answer(folder: Path, run: Trajectory, who: str, present: bool | None = None) -> None:
    """Put a file as a sheet saves it; by default it says what the construction's label says."""
    label = run.label
    assert label is not None
    say = label.faulty if present is None else present
    first = label.first
    places = (Location(first.step, "action"),) if say and first and first.step is not None else ()
    types = (first.type if first else "wrong_tool",) if say else ()
    one = Annotation(run.id, run.content_hash, "support_desk", who, say, places, types, "Because.")
    folder.mkdir(exist_ok=True)
    (folder / f"{who}-{run.id}.json").write_text(json.dumps(one.to_json()))


def page_of(out: Path) -> str:
    (page,) = out.glob("annotate_import/*/*/review.html")
    return page.read_text(encoding="utf-8")


def test_sheets_are_written_once_and_the_same_command_finds_them(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(out, "annotate export", "n=5") == command(out, "annotate export", "n=5") == 0
    sheets = sorted(out.glob("annotate_export/support_desk/*/sheets/*.html"))
    assert len(sheets) == 6
    assert capsys.readouterr().out.count("5 sheets: ") == 2
    told = re.findall(r'"content_hash":"(\w{64})"', "".join(path.read_text() for path in sheets))
    assert len(set(told)) == 5


def test_what_people_said_becomes_labels_that_judges_are_scored_against(
    out: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = runs(out)[:12]
    for i, run in enumerate(some):
        answer(tmp_path / "in", run, "Ann")
        answer(tmp_path / "in", run, "Bo", present=True if i == 0 else None)
    command(out, "judge")
    assert command(out, "annotate import", f"answers={tmp_path / 'in'}", QUICK) == 0
    shown = capsys.readouterr().out
    assert "24 annotations of 12 trajectories by 2 people" in shown
    for title in ("Agreement of people", "People with each other", "People with judges"):
        assert title in shown
    (labels,) = out.glob("annotate_import/*/*/trajectories.jsonl")
    written = list(read_trajectories(labels))
    assert {run.label.origin for run in written if run.label} == {"human"}
    assert [run.content_hash for run in written] == [
        run.content_hash for run in some if run.id in {w.id for w in written}
    ]
    own = ("dataset=jsonl", f"dataset.path={labels}", "dataset.rules=support_desk", f"paths.output_dir={out}")
    assert cli.run("judge", *own) == 0
    assert cli.run("score", *own, QUICK) == 0
    assert "rules" in capsys.readouterr().out


def test_a_judges_view_is_shown_only_of_runs_that_enough_people_have_read(out: Path, tmp_path: Path) -> None:
    first, second, *_ = runs(out)
    for run, people in ((first, ("Ann", "Bo")), (second, ("Ann",))):
        for who in people:
            answer(tmp_path / "in", run, who)
    command(out, "judge")
    command(out, "annotate import", f"answers={tmp_path / 'in'}", QUICK, "people=2")
    page = page_of(out)
    assert first.id in page
    assert second.id not in page
    (summary,) = out.glob("annotate_import/*/*/summary.txt")
    assert "1 wait for more people" in summary.read_text()


def test_without_a_judge_people_are_compared_all_the_same(out: Path, tmp_path: Path) -> None:
    for run in runs(out)[:4]:
        answer(tmp_path / "in", run, "Ann")
    assert command(out, "annotate import", f"answers=[{tmp_path / 'in'}]", QUICK) == 0
    assert "human:Ann" in page_of(out)


def test_an_annotation_of_another_set_is_refused_by_file(out: Path, tmp_path: Path) -> None:
    run = runs(out)[0]
    answer(tmp_path / "in", run, "Ann")
    with pytest.raises(RecordError, match=r"Ann-.*\.json: trajectory_id: .* is not in the dataset"):
        cli.run("annotate import", "dataset.seed=8", f"answers={tmp_path / 'in'}", f"paths.output_dir={out}")
