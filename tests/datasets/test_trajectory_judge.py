"""The published set becomes records without its label showing anywhere that an auditor looks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from trajaudit._fields import RecordError
from trajaudit.dataset import Receipt
from trajaudit.datasets.trajectory_judge import read_published, trajectory_judge
from trajaudit.taxonomy import SUPPORT_DESK


@pytest.fixture(scope="module")
def published(data_dir: Path):
    return trajectory_judge(data_dir=str(data_dir))


def test_the_strata_are_the_papers(published) -> None:
    runs = list(published)
    assert Counter(run.label.stratum for run in runs) == {"clean": 100, "silent": 175, "loud": 125}
    assert Counter(run.label.first.type for run in runs if run.label.faulty) == dict.fromkeys(SUPPORT_DESK.types, 50)
    assert len({run.group for run in runs}) == 141


def test_no_id_says_what_is_wrong(published) -> None:
    for run in published:
        assert not any(kind in run.id for kind in (*SUPPORT_DESK.types, "clean"))
        assert run.group == run.source.meta["published_id"].rpartition("-")[0]


def test_every_faulty_run_whose_clean_twin_was_published_knows_it(published) -> None:
    runs = {run.id: run for run in published}
    twins = [(run, runs[run.label.twin]) for run in runs.values() if run.label.twin]
    # Clean runs were published of instances 0 to 99 only: all 4 x 50, 34 of the skipped checks, 17 of the ignored ones.
    assert len(twins) == 251
    assert all(twin.group == run.group and not twin.label.faulty for run, twin in twins)


def test_the_receipt_says_what_was_inferred(published) -> None:
    assert (published.receipt.read, published.receipt.kept, published.receipt.dropped) == (400, 400, {})
    assert list(published.receipt.inferred.values()) == [300]


def test_a_type_outside_the_taxonomy_is_refused_by_line(data_dir: Path, tmp_path: Path) -> None:
    row = json.loads((data_dir / "trajectory_judge" / "trajectories.jsonl").read_text().splitlines()[0])
    row["label"]["failure_type"] = "halucinated_argument"
    (tmp_path / "t.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(RecordError, match=r"t\.jsonl:1: label\.failure_type: unknown .*did you mean 'hallucinated_arg"):
        list(read_published(tmp_path / "t.jsonl", Receipt()))


def test_absent_data_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="trajaudit fetch dataset=trajectory_judge.*TRAJAUDIT_DATA"):
        trajectory_judge(data_dir=str(tmp_path))
