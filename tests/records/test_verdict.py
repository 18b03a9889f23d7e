"""A verdict says what was decided, or why nothing was; it never turns one into the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError
from trajaudit.trajectory import write_jsonl
from trajaudit.verdict import Evidence, Unseen, Usage, Verdict, by_auditor, check_verdicts, read_verdicts

FIXTURES = Path(__file__).parents[1] / "fixtures"


def full() -> Verdict:
    return Verdict(
        *("t1", "c" * 64, "step:m", "s" * 64, "ok", True, 0.9, 2, (0.1, 0.2, 0.9), ("wrong_tool",), 0.9),
        *((Evidence(2, "quote", "note"),), "because", Usage(1, 10, 5, 3, None), 1.5, None, Unseen(12, (1,))),
    )


def test_a_verdict_survives_the_way_to_disk_and_back() -> None:
    assert Verdict.from_json(json.loads(json.dumps(full().to_json()))) == full()


def test_a_file_of_version_1_is_still_read() -> None:
    first, second = read_verdicts(FIXTURES / "verdict_v1.jsonl")
    assert (first.faulty, first.step, first.usage.usd) == (True, 2, None)
    assert (second.status, second.faulty, second.detail) == ("parse_fail", None, "faulty: missing")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("faulty", "false", "faulty: expected true or false, got 'false'"),
        ("faulty", None, "faulty: expected true or false where status is ok, got None"),
        ("step", 1.0, "step: expected an integer, got 1.0"),
        ("confidence", 1.1, "confidence: expected a number in [0, 1], got 1.1"),
        ("status", "error", "status: expected one of ok, abstain, parse_fail"),
        ("types", "wrong_tool", "types: expected a list, got 'wrong_tool'"),
    ],
)
def test_a_verdict_is_read_strictly(key: str, value: object, message: str) -> None:
    obj = full().to_json()
    obj[key] = value
    with pytest.raises(RecordError) as caught:
        Verdict.from_json(obj, "v.jsonl:4")
    assert message in str(caught.value)
    assert str(caught.value).startswith("v.jsonl:4")


def test_a_failure_holds_no_opinion() -> None:
    with pytest.raises(RecordError, match="null where status is parse_fail"):
        Verdict("t1", "c", "a", "s", status="parse_fail", faulty=False)


def test_an_unknown_price_makes_a_sum_unknown_and_not_smaller() -> None:
    assert (Usage(1, 10, 0, 5, 0.5) + Usage(1, 10, None, 5, None)) == Usage(2, 20, None, 10, None)


def test_a_verdict_on_other_content_under_the_same_id_is_refused() -> None:
    run = make_run("t1")
    good = Verdict("t1", run.content_hash, "rules", "s", faulty=False)
    check_verdicts([good], [run])
    with pytest.raises(
        RecordError, match=r"'rules' on 't1': content_hash: expected .* other content under the same id"
    ):
        check_verdicts([Verdict("t1", "0" * 64, "rules", "s", faulty=False)], [run])
    with pytest.raises(RecordError, match="trajectory_id: 't9' is not in the dataset"):
        check_verdicts([Verdict("t9", "0" * 64, "rules", "s", faulty=False)], [run])


def test_a_second_verdict_of_one_auditor_on_one_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    write_jsonl(path, [full(), full()])
    with pytest.raises(RecordError, match=r":2: trajectory_id: duplicate verdict of 'step:m' on 't1', first on line 1"):
        list(read_verdicts(path))


def test_verdicts_group_by_auditor_in_order_of_appearance() -> None:
    verdicts = [Verdict("t1", "c", name, "s", faulty=False) for name in ("b", "a", "b")]
    assert {name: len(group) for name, group in by_auditor(verdicts).items()} == {"b": 2, "a": 1}
