"""The verdict store: an answer is kept for good, a failure is tried again, and a crash costs one line at most."""

from __future__ import annotations

from dataclasses import replace

import pytest
from slow_judge import SlowJudge, runs

from trajaudit._fields import RecordError
from trajaudit._log import LogLocked
from trajaudit.runs.store import VerdictStore, final_verdicts, key_of
from trajaudit.verdict import RETRYABLE, STATUSES

RUN_A, RUN_B = runs(2)
VERDICT = SlowJudge().verdict(RUN_A)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "verdicts.jsonl"


def store_of(path, *verdicts) -> None:
    with VerdictStore(path) as store:
        for verdict in verdicts:
            store.append(verdict)


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "ok"])
def test_only_a_failure_that_can_mend_is_superseded(path, status):
    failure = SlowJudge().verdict(RUN_A, status)
    store_of(path, failure)
    with VerdictStore(path) as store:
        assert store.is_final(key_of(failure)) == (status not in RETRYABLE)
        if status in RETRYABLE:
            store.append(VERDICT)
            assert store.is_final(key_of(VERDICT))
        else:
            with pytest.raises(RecordError, match=f"'t0' already has an answer .{status}."):
                store.append(VERDICT)
    assert final_verdicts(path) == ([VERDICT] if status in RETRYABLE else [failure])


def test_a_failure_tried_again_in_vain_is_one_verdict(path):
    failure = SlowJudge().verdict(RUN_A, "api_error")
    store_of(path, failure, SlowJudge().verdict(RUN_B), replace(failure, detail="again"))
    assert [verdict.detail for verdict in final_verdicts(path)] == ["again", None]
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("change", [{"content_hash": "other"}, {"spec_hash": "other"}, {"trajectory_id": "t9"}])
def test_other_content_another_spec_or_another_id_is_another_question(path, change):
    store_of(path, VERDICT)
    with VerdictStore(path) as store:
        other = replace(VERDICT, **change)
        assert store.status(key_of(other)) is None
        store.append(other)
        assert len(store) == 2


def test_a_changed_label_asks_nothing_again_and_a_changed_observation_does(path):
    store_of(path, VERDICT)
    corrected = replace(RUN_A, label=None, group="other")
    changed = replace(RUN_A, steps=(replace(RUN_A.steps[0], observation="denied"),))
    with VerdictStore(path) as store:
        assert store.is_final((corrected.content_hash, VERDICT.spec_hash, corrected.id))
        assert not store.is_final((changed.content_hash, VERDICT.spec_hash, changed.id))


def test_a_torn_tail_is_cut_before_anything_is_appended(path):
    store_of(path, VERDICT)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"trajectory_id": "t1", "fa')
    assert final_verdicts(path) == [VERDICT]
    other = SlowJudge().verdict(RUN_B)
    store_of(path, other)
    assert path.read_bytes().startswith(whole)
    assert final_verdicts(path) == [VERDICT, other]


def test_a_store_cut_at_any_byte_reads_as_a_prefix_and_takes_the_rest(path):
    verdicts = [SlowJudge().verdict(run) for run in runs(3)]
    store_of(path, *verdicts)
    whole = path.read_bytes()
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with VerdictStore(path) as store:
            for verdict in verdicts:
                if not store.is_final(key_of(verdict)):
                    store.append(verdict)
        assert path.read_bytes() == whole


def test_corruption_in_the_middle_is_an_error_with_its_line(path):
    store_of(path, *[SlowJudge().verdict(run) for run in runs(3)])
    first, _, last = path.read_bytes().splitlines(keepends=True)
    for bad, why in ((b'{"id": 7, "fa\n', "not valid JSON"), (b'{"id": 7}\n', "unknown key 'id'")):
        path.write_bytes(first + bad + last)
        for read in (VerdictStore, final_verdicts):
            with pytest.raises(RecordError, match=rf"verdicts\.jsonl:2:.*{why}"):
                read(path)


def test_a_refused_store_is_not_left_locked(path):
    path.write_text('{"id": 7}\n')
    for _ in range(2):
        with pytest.raises(RecordError):
            VerdictStore(path)


def test_a_second_answer_in_the_file_is_an_error_with_its_line(path):
    store_of(path, VERDICT)
    path.write_bytes(path.read_bytes() * 2)
    for read in (VerdictStore, final_verdicts):
        with pytest.raises(RecordError, match=r"verdicts\.jsonl:2: .*already has an answer"):
            read(path)


def test_a_second_writer_is_refused_and_a_reader_is_not(path):
    with VerdictStore(path) as store:
        store.append(VERDICT)
        with pytest.raises(LogLocked, match="in use by process"):
            VerdictStore(path)
        assert final_verdicts(path) == [VERDICT]
    store_of(path)
