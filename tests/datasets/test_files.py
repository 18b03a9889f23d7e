"""A fetched file is the pinned one or it is not there at all."""

from __future__ import annotations

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from trajaudit._fields import RecordError, file_hash
from trajaudit.dataset import Procedure
from trajaudit.datasets.files import fetch, load_pins


@pytest.fixture
def pins(tmp_path: Path):
    """One pinned file behind a real HTTP server on loopback."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "a.jsonl").write_text('{"a": 1}\n')
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(served)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sha = hashlib.sha256(b'{"a": 1}\n').hexdigest()
    yield {"toy": {"toy/a.jsonl": {"url": f"http://127.0.0.1:{server.server_port}/a.jsonl", "sha256": sha}}}
    server.shutdown()


def test_a_fetched_file_is_left_alone_the_second_time(pins, tmp_path: Path) -> None:
    first, again = fetch("toy", tmp_path / "data", pins), fetch("toy", tmp_path / "data", pins)
    assert (first[0].downloaded, again[0].downloaded) == (True, False)
    assert file_hash(tmp_path / "data/toy/a.jsonl") == pins["toy"]["toy/a.jsonl"]["sha256"]


def test_a_file_that_is_not_the_pinned_one_is_never_put_in_place(pins, tmp_path: Path) -> None:
    pins["toy"]["toy/a.jsonl"]["sha256"] = "0" * 64
    with pytest.raises(ValueError, match="expected sha256 0000.*nothing was put in place"):
        fetch("toy", tmp_path / "data", pins)
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]


def test_a_file_of_the_users_is_not_overwritten(pins, tmp_path: Path) -> None:
    own = tmp_path / "data/toy/a.jsonl"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    with pytest.raises(ValueError, match="not the pinned one"):
        fetch("toy", tmp_path / "data", pins)
    assert own.read_text() == "mine"


def test_an_unreachable_address_is_named(tmp_path: Path) -> None:
    pins = {"toy": {"toy/a": {"url": "http://127.0.0.1:9/a", "sha256": "0" * 64}}}
    with pytest.raises(OSError, match=r"could not fetch http://127\.0\.0\.1:9/a"):
        fetch("toy", tmp_path, pins)


def test_a_dataset_without_pins_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean 'trajectory_judge'"):
        fetch("trajectory_judg", tmp_path)


def test_every_pin_is_an_address_at_a_full_commit_and_a_sha256() -> None:
    for files in load_pins().values():
        for pin in files.values():
            assert any(len(part) == 40 for part in pin["url"].split("/"))
            assert len(bytes.fromhex(pin["sha256"])) == 32


def test_the_pins_are_the_files_that_the_figures_were_checked_on(data_dir: Path) -> None:
    for name, pin in load_pins()["trajectory_judge"].items():
        assert file_hash(data_dir / name) == pin["sha256"]


def test_a_procedure_file_is_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("name: own\nversion: 1\npoints: [Check first., Then act.]\nstanding_claims: [Paid in 5 days.]\n")
    text = Procedure.named(str(path)).text
    assert text.splitlines()[:2] == ["1. Check first.", "2. Then act."]
    assert text.endswith("- Paid in 5 days.")
    path.write_text("name: own\nversion: 1\npoint: [x]\n")
    with pytest.raises(RecordError, match=r"own\.yaml: unknown key 'point' \(did you mean 'points'\?\)"):
        Procedure.read(path)
    with pytest.raises(ValueError, match="unknown procedure 'support_dek'.*did you mean 'support_desk'"):
        Procedure.named("support_dek")


def test_a_set_that_is_made_here_has_nothing_to_fetch_and_every_set_that_has_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'support_desk' has no published files.*smart_grid, trajectory_judge, trajel"):
        fetch("support_desk", tmp_path)
