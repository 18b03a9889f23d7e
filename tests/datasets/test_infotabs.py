"""InfoTabS: every pair is read, and a broken line is named."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from trajaudit.datasets.infotabs import infotabs


@pytest.fixture(scope="module")
def folder(data_dir: Path) -> Path:
    if not (data_dir / "nli" / "infotabs").is_dir():
        pytest.skip("InfoTabS is not in the data folder")
    return data_dir


def test_every_published_pair_is_read(folder: Path) -> None:
    pairs = infotabs(data_dir=str(folder))
    sizes = {part: len(found) for part, found in pairs.parts.items()}
    assert sizes == {"train": 16538, "dev": 1800, "test_alpha1": 1800, "test_alpha2": 1800, "test_alpha3": 1800}
    assert sum(sizes.values()) == 23738
    first = pairs.parts["train"][0]
    assert first.hypothesis == "In Rainbows was released over ten years ago."
    assert first.relation == "entailment"
    assert first.premise.startswith("title: In Rainbows; ")
    assert set(Counter(pair.relation for pair in pairs.parts["dev"]).values()) == {600}
    assert not {p.group for p in pairs.parts["train"]} & {p.group for p in pairs.parts["test_alpha3"]}


def test_a_broken_line_is_named(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "nli", tmp_path / "nli")
    path = tmp_path / "nli" / "infotabs" / "maindata" / "infotabs_dev.tsv"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("\tE\n", "\tX\n", 1))
    with pytest.raises(ValueError, match=r"infotabs_dev.tsv:2: expected a known table, a hypothesis and E, N or C"):
        infotabs(data_dir=str(tmp_path))
