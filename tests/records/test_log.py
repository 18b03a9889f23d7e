"""The append-only log: what a crash, a full disk, a hand edit and a second process do to it."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from trajaudit._fields import RecordError
from trajaudit._log import AppendLog, LogLocked


def test_what_was_appended_is_read_back_in_order(tmp_path):
    path = tmp_path / "folder" / "log.jsonl"
    with AppendLog(path) as log:
        assert log.entries == []
        for n in range(3):
            log.append({"n": n, "text": "é\n"})
    with AppendLog(path) as log:
        assert [obj["n"] for _, obj in log.entries] == [0, 1, 2]
        assert log.entries[1] == (f"{path}:2", {"n": 1, "text": "é\n"})


@pytest.mark.parametrize(
    "tail",
    [b'{"id": 7, "fa', b'{"id": 7', b"{", b"\x00\x00\x00", b'{"text": "\xc3', b'"x"', b'{"big": "' + b"y" * 200_000],
    ids=["cut key", "cut value", "brace", "zeros", "cut utf-8", "no object", "longer than a block"],
)
def test_a_torn_tail_is_truncated_before_anything_is_appended(tmp_path, tail):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id": 1}\n{"id": 2}\n' + tail)
    with AppendLog(path) as log:
        assert [obj["id"] for _, obj in log.entries] == [1, 2]
        log.append({"id": 3})
    assert path.read_bytes() == b'{"id": 1}\n{"id": 2}\n{"id":3}\n'


def test_a_file_that_is_only_a_torn_line_becomes_empty(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id": 1, "te')
    with AppendLog(path) as log:
        assert log.entries == []
    assert path.read_bytes() == b""


def test_a_whole_last_object_without_its_newline_was_stored_and_is_kept(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"id":1}\n{"id":2}')
    with AppendLog(path) as log:
        log.append({"id": 3})
        assert len(log.entries) == 2
    assert path.read_bytes() == b'{"id":1}\n{"id":2}\n{"id":3}\n'


@pytest.mark.parametrize("bad", [b'{"id": 2, "fa', b"", b"[2]", b'{"x": NaN}'], ids=["torn", "blank", "list", "nan"])
def test_corruption_before_the_last_line_is_an_error_with_its_line_and_changes_nothing(tmp_path, bad):
    path = tmp_path / "log.jsonl"
    content = b'{"id": 1}\n' + bad + b'\n{"id": 3}\n'
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"log\.jsonl:2: "):
        AppendLog(path)
    assert path.read_bytes() == content
    path.write_bytes(b"")
    AppendLog(path).close()  # the failed opening gave its lock back


def test_nan_is_refused_and_leaves_no_bytes(tmp_path):
    with AppendLog(tmp_path / "log.jsonl") as log:
        with pytest.raises(ValueError, match="not JSON compliant"):
            log.append({"score": float("nan")})
        log.append({"score": 0.5})
    assert (tmp_path / "log.jsonl").read_bytes() == b'{"score":0.5}\n'


def test_a_closed_log_takes_nothing_more(tmp_path):
    log = AppendLog(tmp_path / "log.jsonl")
    log.close()
    log.close()
    with pytest.raises(ValueError, match="closed"):
        log.append({})


def test_a_full_disk_takes_the_partial_line_back_and_says_so(tmp_path):
    # A file size limit behaves as a full disk: the kernel writes what fits, then refuses the rest.
    path = tmp_path / "log.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with AppendLog(path) as log:
        log.append({"id": 1})
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            with pytest.raises(OSError, match="intact") as raised:
                log.append({"id": 2, "text": "x" * 500})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert raised.value.filename == str(path)
        assert path.read_bytes() == b'{"id":1}\n'
        log.append({"id": 3})
    assert path.read_bytes() == b'{"id":1}\n{"id":3}\n'


_WRITER = """
import sys
from trajaudit._log import AppendLog
log = AppendLog(sys.argv[1])
n = len(log.entries)
print("open", flush=True)
while True:
    log.append({"n": n, "text": "x" * 3000})
    n += 1
    print(n, flush=True)
"""


def _writer(path):
    return subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)


def test_a_second_process_is_refused_and_told_who_holds_the_file(tmp_path):
    path = tmp_path / "log.jsonl"
    writer = _writer(path)
    try:
        assert writer.stdout.readline() == "open\n"
        with pytest.raises(LogLocked, match=f"in use by process {writer.pid}"):
            AppendLog(path)
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    AppendLog(path).close()  # a killed process leaves no lock behind


def test_a_second_opening_in_the_same_process_is_refused(tmp_path):
    with AppendLog(tmp_path / "log.jsonl"), pytest.raises(LogLocked, match=str(os.getpid())):
        AppendLog(tmp_path / "log.jsonl")


def test_kill_9_loses_no_line_that_append_returned_from(tmp_path):
    path = tmp_path / "log.jsonl"
    for pause in (0.01, 0.05, 0.02):
        writer = _writer(path)
        assert writer.stdout.readline() == "open\n"
        time.sleep(pause)
        writer.send_signal(signal.SIGKILL)
        acknowledged = writer.stdout.read().split()
        writer.wait()
        writer.stdout.close()
        with AppendLog(path) as log:
            numbers = [obj["n"] for _, obj in log.entries]
            assert numbers == list(range(len(numbers)))
            whole = [line for line in acknowledged if line.isdigit()]
            assert len(numbers) >= (int(whole[-2]) if len(whole) > 1 else 0)
    assert all(json.loads(line) for line in path.read_bytes().splitlines())
