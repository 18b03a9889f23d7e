"""The logic of the annotation form in a JavaScript engine: it is tested where there is no browser, too."""

import json

import pytest
from py_mini_racer import MiniRacer
from sample_runs import make_run

from trajaudit.annotation import Annotation, Location
from trajaudit.reports.sheets import asset
from trajaudit.taxonomy import SUPPORT_DESK

COMPLETE = {
    "annotator": " Ann B. ",
    "present": True,
    "locations": [{"step": None, "component": "final_answer"}, {"step": 1, "component": "action"}],
    "types": ["unsupported_claim", "wrong_tool"],
    "rationale": 'It says\n"</script>" and more. ',
}


@pytest.fixture(scope="module")
def js():
    """A function that evaluates an expression after the form's logic was loaded, and returns its JSON value."""
    engine = MiniRacer()
    engine.eval(asset("sheet/answer.js"))
    return lambda expression: json.loads(engine.eval(f"JSON.stringify({expression})"))


def sheet_of(run):
    types = [{"name": name, "meaning": ""} for name in SUPPORT_DESK.types]
    return json.dumps(
        {
            "trajectory": {"id": run.id},
            "content_hash": run.content_hash,
            "condition": "blind",
            "taxonomy": {"name": "support_desk", "types": types},
        }
    )


def test_what_the_form_saves_is_an_annotation_of_that_run(js):
    run = make_run()
    record = js(f"recordOf({json.dumps(COMPLETE)}, {sheet_of(run)}, '2026-01-01T00:00:00.000Z')")
    annotation = Annotation.from_json(record)
    annotation.check(run, SUPPORT_DESK, "saved.json")
    assert (annotation.annotator, annotation.present, annotation.condition) == ("Ann B.", True, "blind")
    assert annotation.locations == (Location(1, "action"), Location(None, "final_answer"))
    assert annotation.types == ("wrong_tool", "unsupported_claim"), "in the order of the taxonomy"
    assert annotation.rationale == 'It says\n"</script>" and more.'
    assert annotation.to_json() == record


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        ({}, []),
        ({"annotator": "  "}, ["Your name is missing."]),
        ({"present": None}, ["Say whether a fault is present."]),
        ({"types": []}, ["Name at least one type."]),
        ({"locations": []}, []),
        ({"present": False}, ["No fault is present, yet a type or a place is named."]),
        ({"present": False, "types": [], "locations": []}, []),
    ],
)
def test_an_answer_is_complete_or_says_what_is_missing(js, part, missing):
    assert js(f"problems({json.dumps({**COMPLETE, **part})})") == missing


def test_naming_a_place_twice_takes_it_back(js):
    once = "toggled([], place(2, 'thought'), samePlace)"
    assert js(once) == [{"step": 2, "component": "thought"}]
    assert js(f"toggled({once}, place(2, 'thought'), samePlace)") == []
    assert len(js(f"toggled({once}, place(2, null), samePlace)")) == 2
    assert js("place(3, 'final_answer')") == {"step": None, "component": "final_answer"}


@pytest.mark.parametrize("stored", ["null", "not JSON", '{"present":1}', '{"locations":{},"types":[]}', "[]"])
def test_what_another_page_left_in_the_browser_is_no_answer(js, stored):
    assert js(f"readAnswer({json.dumps(stored)})") == js("emptyAnswer()")


def test_a_kept_answer_comes_back_whole(js):
    assert js(f"readAnswer({json.dumps(json.dumps(COMPLETE))})") == COMPLETE


@pytest.mark.parametrize(("name", "file"), [("Åsa Öberg/..", "Asa-O-berg"), ("../../x", "x"), ("李", "annotator")])
def test_a_file_name_holds_nothing_that_a_path_could(js, name, file):
    made = js(f"fileName({{annotator: {json.dumps(name)}, content_hash: '{'a' * 64}'}})")
    assert made.startswith("annotation-aaaaaaaaaaaa-")
    assert not set(made) & set("/\\:")
    assert ".." not in made
    assert made.isascii()
