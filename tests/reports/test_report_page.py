import base64
import hashlib
import json
import re
from dataclasses import replace

import pytest

from trajaudit._fields import RecordError
from trajaudit.analysis.result import Comparison, Estimate
from trajaudit.reports import Part, build_report
from trajaudit.reports.viewer_data import embed, sample
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory


@pytest.fixture
def build(tmp_path, runs, verdicts, cards):
    def made(**given):
        outer = {name: given.pop(name) for name in ("title", "notes", "max_embedded") if name in given}
        part = Part("all", "All", **{"trajectories": runs, "verdicts": verdicts, "scorecards": cards, **given})
        return build_report(tmp_path, **{"title": "A report", **outer}, parts=[part])

    return made


@pytest.fixture(scope="module")
def plain(tmp_path_factory, runs, verdicts, cards):
    """The folder of a report that several tests only read."""
    folder = tmp_path_factory.mktemp("plain")
    build_report(folder, title="A report", parts=[Part("all", "All", runs, verdicts, cards)])
    return folder


def embedded_data(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def test_a_report_holds_tables_figures_page_and_metrics(plain):
    written = {str(p.relative_to(plain)) for p in plain.rglob("*") if p.is_file()}
    for expected in (
        "report.html",
        "metrics.json",
        "tables/summary.tex",
        "tables/confusion_2.md",
        "figures/cost_quality.pdf",
    ):
        assert expected in written


def test_metrics_are_strict_json_with_null_for_undefined(build):
    def refuse(name):
        raise AssertionError(name)

    text = (
        build(comparisons=[Comparison("f1", "a", "b", Estimate(0.1), "t", 0.5)]).parent / "metrics.json"
    ).read_text()
    metrics = json.loads(text, parse_constant=refuse)
    outcome = metrics["parts"]["all"]["scorecards"][1]
    assert outcome["metrics"]["step_exact"]["value"] is None
    assert outcome["metrics"]["step_exact"]["reason"] == "it names no step"
    assert metrics["parts"]["all"]["comparisons"][0]["difference"]["value"] == 0.1


def test_a_metric_that_is_not_a_number_stops_the_report(build, card):
    with pytest.raises(ValueError, match="expected a finite number"):
        build(scorecards=[card("a", f1=Estimate(float("nan")))])


def test_the_policy_admits_exactly_the_scripts_and_the_style_of_the_page(plain):
    page = (plain / "report.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in (*scripts, style)]
    assert policy == (
        f"default-src 'none'; script-src {' '.join(hashes[:-1])}; style-src {hashes[-1]}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_the_page_loads_nothing_from_anywhere(plain):
    page = (plain / "report.html").read_text()
    targets = re.findall(r'(?:src|href|action|data)="([^"]*)"', page)
    assert targets
    assert all(target.startswith(("#", "data:image/png;base64,")) for target in targets)


def test_warnings_come_before_the_results_and_are_escaped(build):
    page = build(notes=["<b>near chance</b>"]).read_text()
    assert page.index("&lt;b&gt;near chance&lt;/b&gt;") < page.index("Who finds what")


def test_a_script_cannot_be_closed_by_data(runs):
    hostile = Trajectory("</script><script>", "g", "<!--", runs[0].steps, "\u2028&\ud800", Source("d"))
    text = embed([hostile], []).text
    assert not re.search("[<>&\u2028\ud800]", text)
    assert json.loads(text)["trajectories"][0]["id"] == "</script><script>"


def test_half_a_surrogate_pair_does_not_stop_a_report(build, runs, card):
    broken = Trajectory("\ud800", "g", "\ud800", (Step(0, "\udfff", Action(text="x")),), None, Source("d"))
    assert build(trajectories=[*runs, broken], scorecards=[card("a")]).exists()


def many(n: int) -> list[Trajectory]:
    labels = [Label(True, (Fault("rare", 0),), outcome_correct=True)] + [Label(False)] * (n - 1)
    return [Trajectory(f"t{i}", "g", "Do.", (Step(0),), None, Source("d"), label) for i, label in enumerate(labels)]


def test_a_sample_keeps_the_rare_kinds_and_is_always_the_same():
    drawn = sample(many(100), 10)
    assert len(drawn) == 10
    assert drawn[0].id == "t0"
    assert drawn == sample(many(100), 10)
    assert drawn == sorted(drawn, key=lambda t: int(t.id[1:]))


def test_a_page_with_a_sample_says_so_and_one_with_all_does_not(build, card):
    given = {"trajectories": many(30), "verdicts": [], "scorecards": [card("a")]}
    page = build(**given, max_embedded=7).read_text()
    assert len(embedded_data(page)["trajectories"]) == 7
    assert "A sample: 7 of 30 trajectories are in this file" in page
    assert "A sample:" not in build(**given).read_text()


def test_verdicts_on_other_content_are_refused(build, runs, verdicts):
    changed = Trajectory(runs[0].id, "g", "Another task.", runs[0].steps, None, Source("d"))
    with pytest.raises(RecordError, match="given on other content"):
        build(trajectories=[changed, *runs[1:]])


def test_no_scorecards_is_an_error_and_not_an_empty_report(build):
    with pytest.raises(ValueError, match="scorecards: expected at least one"):
        build(scorecards=[])


def test_the_second_convention_stands_beside_the_first_only_where_they_differ(build, card):
    agreeing = build(scorecards=[card("a"), card("a", "answered")])
    assert not (agreeing.parent / "tables" / "answered").exists()
    failed = {"answered": 8, "failed": {"refused": 2}}
    differing = build(scorecards=[card("a", **failed), card("a", "answered", **failed)])
    assert (differing.parent / "tables" / "answered" / "summary.md").exists()
    assert "The same, unanswered items left out" in differing.read_text()


def test_the_viewer_holds_every_verdict_of_an_embedded_run(plain):
    data = embedded_data((plain / "report.html").read_text())
    assert data["auditors"] == ["step", "outcome"]
    assert [v["auditor"] for v in data["verdicts"]["2"]] == ["step", "outcome"]
    assert data["verdicts"]["2"][1]["status"] == "parse_fail"


def test_parts_stand_apart_and_the_viewer_holds_the_trajectories_of_all(tmp_path, runs, verdicts, cards):
    other = [replace(run, id=f"other-{run.id}") for run in runs]
    parts = [
        Part("ours", "Made here", runs, verdicts, cards, lead="A set."),
        Part("theirs", "Published", other, [], cards),
    ]
    page = build_report(tmp_path, title="Two sets", parts=parts).read_text()
    assert re.findall('<h2 class="set">(.*?)</h2>', page) == ["Made here", "Published"]
    assert {t["id"] for t in embedded_data(page)["trajectories"]} == {run.id for run in [*runs, *other]}
    assert (tmp_path / "ours/tables/summary.md").is_file()
    assert (tmp_path / "theirs/figures/recall_by_stratum.png").is_file()
    assert 'href="#theirs-summary"' in page


def test_labels_by_a_judge_are_not_called_known_and_types_that_nobody_named_are_not_drawn(tmp_path, runs, card):
    judged = [replace(run, label=Label(run.label.faulty, origin="judge")) for run in runs]
    untyped = replace(card("a"), per_type_recall={}, confusion={})
    path = build_report(tmp_path, title="A report", parts=[Part("all", "All", judged, [], [untyped])])
    assert "agreement with whoever gave them" in path.read_text()
    assert not list((tmp_path / "figures").glob("confusion*"))
