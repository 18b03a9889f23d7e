"""What stands in a trace must never run in the page that shows it. Checked in a real browser."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from trajaudit.analysis.result import Estimate
from trajaudit.reports import Part, build_report
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory
from trajaudit.verdict import Evidence, Verdict

RUN = "document.title='pwned';document.documentElement.setAttribute('data-pwned','1')"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f'<img src=x onerror="{RUN}">',
    f'" onmouseover="{RUN}" x="',
    f"<svg/onload={RUN}>",
    f"javascript:{RUN}",
    f'<a href="javascript:{RUN}">x</a>',
    "{{7*7}}${7*7}{%raw%}",
    "</style><style>body{display:none}</style>",
    "<!--<script>",
    "]]>&lt;b&gt;&#x3c;b&#x3e;",
    "line\u2028separator\u2029end",
    "\u202egnp.exe\u202c\u200b",
)
ALL = " ¦ ".join(PAYLOADS)
ELEMENTS = {
    *("div", "ol", "ul", "li", "a", "bdi", "span", "h2", "h3", "h4", "p", "pre", "section", "article", "button", "q"),
    *("details", "summary", "form", "label", "input", "select", "option", "kbd"),
}


def hostile_run(name: str) -> Trajectory:
    step = Step(0, ALL, Action(ALL, {ALL: ALL, "__proto__": {ALL: [ALL]}}), {ALL: ALL}, ALL)
    label = Label(True, (Fault(ALL, 0, "action"),), outcome_correct=True, twin=ALL)
    source = Source(ALL, ALL, ALL, {ALL: ALL})
    return Trajectory(name, ALL, ALL, (step, Step(1, None, Action(text=ALL), ALL)), ALL, source, label, ALL)


def hostile_verdict(trajectory: Trajectory) -> Verdict:
    return Verdict(
        *(trajectory.id, trajectory.content_hash, ALL, "spec"),
        faulty=True,
        score=0.9,
        step=0,
        step_scores=(0.9, 0.1),
        types=(ALL,),
        confidence=0.9,
        evidence=(Evidence(0, ALL, ALL),),
        rationale=ALL,
        detail=ALL,
    )


class Page(HTMLParser):
    """The elements, attributes and text of the viewer in a dumped page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.inside, self.elements, self.attributes, self.text, self.title = 0, set(), set(), [], ""
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title"
        if self.inside or ("id", "viewer") in attrs:
            self.inside += tag not in ("input", "img")
            self.elements.add(tag)
            self.attributes |= {(tag, name, value) for name, value in attrs}

    def handle_endtag(self, tag):
        self.inside -= bool(self.inside)
        self._in_title = False

    def handle_data(self, data):
        if self._in_title:
            self.title += data
        if self.inside:
            self.text.append(data)


def as_shown(text: str) -> str:
    """What a reader sees of a text: characters that are invisible or turn the direction, by their code points."""
    return re.sub("[\u2028\u2029\u202a-\u202e\u200b]", lambda match: f"U+{ord(match[0]):04X}", text)


@pytest.fixture
def opened(tmp_path, browse, card):
    """The page of a report on a hostile run under a hostile title, opened at that run."""
    run = hostile_run(PAYLOADS[2])
    cards = [card(ALL, loud_recall=Estimate(None, reason=ALL))]
    cards[0] = replace(cards[0], per_type_recall={ALL: Estimate(0.5)}, confusion={ALL: {ALL: 1, "missed": 1}})
    part = Part("all", ALL, [run], [hostile_verdict(run)], cards)
    path = build_report(tmp_path, title=ALL, parts=[part], notes=[ALL])
    return browse(f"{path.as_uri()}#t/{quote(run.id, safe='')}")


def test_nothing_in_a_hostile_trajectory_runs_and_all_of_it_is_shown(opened):
    page = Page(opened)
    assert "data-pwned" not in re.search("<html[^>]*>", opened)[0]
    assert page.title == as_shown(ALL)
    assert page.elements <= ELEMENTS
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in ("style", "src", "srcdoc")]
    assert all(value.startswith("#t") for _, name, value in page.attributes if name == "href")
    text = "".join(page.text)
    # id once; then task, thought, tool, arguments, observation, agent, source, label, verdict … each hold all payloads
    assert as_shown(PAYLOADS[2]) in text
    assert text.count(as_shown(ALL)) >= 20
    assert "49" not in text.replace("2049", "")


def test_this_browser_would_have_run_it(tmp_path, browse):
    path = tmp_path / "naive.html"
    path.write_text(f"<!doctype html><title>t</title><body>{PAYLOADS[0]}{PAYLOADS[2]}", encoding="utf-8")
    assert 'data-pwned="1"' in browse(path.as_uri())
