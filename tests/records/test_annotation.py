"""The annotation record: strict to read, honest about several readers."""

import pytest
from sample_runs import make_run

from trajaudit._fields import RecordError
from trajaudit.annotation import Annotation, Location, label_of
from trajaudit.taxonomy import SUPPORT_DESK, TRAJEL
from trajaudit.trajectory import Fault

RUN = make_run()


def said(who: str = "Ann", present: bool = True, places=((1, "action"),), types=("wrong_tool",), **more) -> Annotation:
    where = tuple(Location(*place) for place in places) if present else ()
    kinds = types if present else ()
    return Annotation(RUN.id, RUN.content_hash, "support_desk", who, present, where, kinds, **more)


def test_a_saved_annotation_is_read_back_as_it_was() -> None:
    one = said(rationale="Why.", condition="with_reference", saved="2026-01-01T00:00:00Z")
    assert Annotation.from_json(one.to_json()) == one


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"present": "true"}, "a.json: present: expected true or false, got 'true'"),
        ({"annotator": " "}, "a.json: annotator: expected a name"),
        ({"stpes": []}, "a.json: unknown key 'stpes' (did you mean 'types'?)"),
        ({"form": "verdict"}, "a.json: form: expected 'annotation' (a file that a sheet saved), got 'verdict'"),
        ({"version": 2}, "a.json: version: expected 1"),
        ({"types": ["wrong_tool", "wrong_tool"]}, "a.json: types: expected each one once"),
        ({"locations": [{"step": 1, "component": "tool"}]}, "a.json: locations[0].component: expected one of thought"),
        ({"locations": [{"step": None, "component": None}]}, "a.json: locations[0].step: expected an integer"),
        (
            {"locations": [{"step": True, "component": None}]},
            "a.json: locations[0].step: expected an integer, got True",
        ),
    ],
)
def test_a_broken_file_is_refused_by_file_and_key(change: dict, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        Annotation.from_json({**said().to_json(), **change}, "a.json")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("one", "message"),
    [
        (said(types=("wrong_tol",)), "types[0]: unknown fault type 'wrong_tol' (did you mean 'wrong_tool'?)"),
        (said(places=((3, "action"),)), "locations[0].step: expected 0 to 2 (the last step), got 3"),
        (said(types=()), "types: expected at least one type where present is true"),
        (Annotation(RUN.id, "0" * 64, "support_desk", "A", False), "content_hash: expected"),
        (Annotation(RUN.id, RUN.content_hash, "trajel", "A", False), "taxonomy: expected 'support_desk', got 'trajel'"),
        (Annotation(RUN.id, RUN.content_hash, "support_desk", "A", False, types=("wrong_tool",)), "none where present"),
    ],
)
def test_an_annotation_that_cannot_be_of_this_run_is_refused(one: Annotation, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        one.check(RUN, SUPPORT_DESK, "a.json")
    assert message in str(caught.value)


def test_a_label_holds_every_step_and_every_type_that_one_reader_named() -> None:
    label = label_of([said(places=((2, "thought"), (0, None)), types=("wrong_tool", "premature_stop"))])
    assert label is not None
    assert label.origin == "human"
    assert label.outcome_correct is None
    assert {fault.step for fault in label.faults} == {0, 2}
    assert {fault.type for fault in label.faults} == {"wrong_tool", "premature_stop"}
    assert label.first is not None
    assert label.first.step == 0


def test_a_type_without_a_place_is_a_fault_at_an_unknown_step() -> None:
    label = label_of([said(places=())])
    assert label is not None
    assert label.faults == (Fault("wrong_tool", None, None),)


def test_the_majority_decides_and_a_tie_is_no_label() -> None:
    yes, no = said("A"), said("B", present=False)
    assert label_of([yes, no]) is None
    assert label_of([yes, no, said("C", present=False)]).faulty is False  # type: ignore[union-attr]
    both = label_of([yes, no, said("C", places=((1, "action"), (2, "action")), types=("wrong_tool", "premature_stop"))])
    assert both is not None
    assert both.faults == (Fault("wrong_tool", 1, "action"),), "what only one of two named is not the label's"


def test_flagging_without_a_common_type_is_still_flagging() -> None:
    label = label_of([said("A"), said("B", types=("premature_stop",), places=())])
    assert label is not None
    assert (label.faulty, label.faults) == (True, ())


def test_a_person_is_an_auditor_like_any_other() -> None:
    verdict = said(places=((2, "thought"), (1, None)), rationale="Why.").to_verdict()
    assert (verdict.auditor, verdict.faulty, verdict.step, verdict.types) == ("human:Ann", True, 1, ("wrong_tool",))
    assert {item.step for item in verdict.evidence} == {1, 2}
    assert TRAJEL.types[0] not in verdict.types
