"""A person fills in a sheet: in a real browser, by keys and by clicks, on a run that tries to break the page."""

import json
import re
from functools import partial
from html import unescape
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote

import pytest
from sample_runs import make_run

from trajaudit._fields import loads
from trajaudit.annotation import Annotation, Location
from trajaudit.reports.sheets import sheet, write_sheets
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory

RUN_IT = "document.title='pwned';document.documentElement.setAttribute('data-pwned','1')"
HOSTILE = f'</script><script>{RUN_IT}</script><img src=x onerror="{RUN_IT}">\u2028\u202e{{{{7*7}}}}'
SECRETS = ("judge-model", "gold-reference", "hidden-group", "secret-dataset", "premature_stop at 0", "clean-twin-id")
DRIVER = """<!doctype html><pre id="out"></pre><iframe src="%s" width="1300" height="900"></iframe><script>
const frame = document.querySelector("iframe");
const wait = () => new Promise((done) => setTimeout(done, 30));
const page = () => frame.contentDocument;
const see = (selector) => Array.from(page().querySelectorAll(selector), (node) => node.textContent);
const press = async (...keys) => {
  const event = (key) => new frame.contentWindow.KeyboardEvent("keydown", { key, bubbles: true });
  for (const key of keys) page().body.dispatchEvent(event(key));
  await wait();
};
const type = async (name, value) => {
  const field = page().querySelector(`[name=${name}]`);
  field.value = value;
  field.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
  await wait();
};
const reload = () => new Promise((done) => { frame.onload = done; frame.contentWindow.location.reload(); });
const blobs = [], names = [];
const watch = () => {  // a headless browser would wait for its download for ever, so the file is taken here
  const { URL, HTMLAnchorElement } = frame.contentWindow, made = URL.createObjectURL;
  const click = HTMLAnchorElement.prototype.click;
  URL.createObjectURL = (blob) => { blobs.push(blob.text()); return made(blob); };
  HTMLAnchorElement.prototype.click = function () {
    if (this.download) names.push(this.download);
    else click.call(this);
  };
};
const visit = (address) => new Promise((done) => {
  frame.onload = () => { watch(); done(); };
  frame.src = address;
});
frame.onload = async () => {
  const out = [];
  localStorage.clear();
  await reload();
  watch();
  %s
  document.getElementById("out").textContent = encodeURIComponent(JSON.stringify(out));
};
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def a_hostile_run(name: str = "x") -> Trajectory:
    steps = (
        Step(0, HOSTILE, Action(HOSTILE, {HOSTILE: HOSTILE}), {"data": HOSTILE}, HOSTILE),
        Step(1, None, Action(text=HOSTILE), HOSTILE),
    )
    label = Label(True, (Fault(SECRETS[4], 0),), twin=SECRETS[5])
    return Trajectory(
        name + HOSTILE, SECRETS[2], HOSTILE, steps, HOSTILE, Source(SECRETS[3], SECRETS[0]), label, SECRETS[1]
    )


@pytest.fixture(scope="module")
def drive(tmp_path_factory, browse):
    """A function that opens the sheet of a hostile run, does what a script says, and returns what it put into out."""
    folder = tmp_path_factory.mktemp("sheets")
    write_sheets(folder, [a_hostile_run()], SUPPORT_DESK, HOSTILE)
    (page,) = folder.glob("sheet-*.html")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()

    def driven(script, address=page.name):
        (folder / "driver.html").write_text(DRIVER % (address, script), encoding="utf-8")
        dom = browse(f"http://127.0.0.1:{server.server_port}/driver.html")
        return json.loads(unquote(re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)[1]))

    yield driven
    server.shutdown()
    server.server_close()


def saved(text: str) -> Annotation:
    annotation = Annotation.from_json(loads(text, "saved.json"), "saved.json")
    annotation.check(a_hostile_run(), SUPPORT_DESK, "saved.json")
    return annotation


def test_a_sheet_is_filled_in_by_keys_alone_and_saves_an_annotation(drive):
    script = """
    await type("annotator", "Ann");
    await press("y", "a", "j", "t", "w", "w", "f", "1", "6");
    await type("rationale", "a \\"quote\\" and <\\/script>");
    await press("s");
    const [panel, record] = ["saved", "record"].map((id) => page().getElementById(id));
    out.push(names, await blobs[0], see("#missing li"), panel.hidden, record.value);
    """
    names, text, missing, hidden, shown = drive(script)
    assert names == [f"annotation-{a_hostile_run().content_hash[:12]}-Ann.json"]
    assert missing == []
    assert not hidden
    assert shown == text
    annotation = saved(text)
    assert annotation.locations == (Location(0, "action"), Location(1, "thought"), Location(None, "final_answer"))
    assert annotation.types == ("wrong_tool", "unsupported_claim")
    assert annotation.rationale == 'a "quote" and </script>'
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT.*Z", annotation.saved)


def test_the_same_by_clicks(drive):
    script = """
    const click = async (selector, n = 0) => { page().querySelectorAll(selector)[n].click(); await wait(); };
    await type("annotator", "Bo");
    await click("[name=present][value=yes]");
    await click("#step-1 .place", 3);
    await click("[name=type][value=ignored_observation]");
    await click("#form button[type=submit]");
    out.push(await blobs[0]);
    """
    annotation = saved(drive(script)[0])
    assert (annotation.annotator, annotation.present) == ("Bo", True)
    assert annotation.locations == (Location(1, "observation"),)
    assert annotation.types == ("ignored_observation",)


def test_an_incomplete_form_saves_nothing_and_says_why(drive):
    script = """
    await press("s");
    out.push(see("#missing li"), blobs.length);
    await type("annotator", "Ann"); await press("y", "s");
    out.push(see("#missing li"), blobs.length);
    await press("1", "n", "s");
    out.push(see("#missing li"), JSON.parse(await blobs[0]).types, see("#places li"));
    """
    first, none, second, still, third, types, places = drive(script)
    assert first == ["Your name is missing.", "Say whether a fault is present."]
    assert second == ["Name at least one type."]
    assert (none, still, third, types, places) == (0, 0, [], [], ["none named"])


def test_a_closed_tab_loses_nothing_and_a_letter_in_the_rationale_is_a_letter(drive):
    script = """
    await type("annotator", "Ann");
    await press("y", "2", "o");
    const field = page().querySelector("[name=rationale]");
    field.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key: "n", bubbles: true }));
    await type("rationale", "half a thought");
    await reload();
    watch();
    await press("s");
    out.push(await blobs[0]);
    """
    annotation = saved(drive(script)[0])
    assert (annotation.annotator, annotation.present, annotation.rationale) == ("Ann", True, "half a thought")
    assert annotation.types == ("hallucinated_argument",)
    assert annotation.locations == (Location(0, "observation"),)


def test_nothing_in_a_trace_runs_in_a_sheet_and_all_of_it_is_shown(drive):
    script = """
    out.push(page().documentElement.hasAttribute("data-pwned"), page().title, page().querySelectorAll("img").length);
    out.push(page().querySelectorAll("script").length, see("#trajectory")[0].split("<img src=x").length - 1);
    out.push(see("#trajectory")[0].includes("49"));
    """
    assert drive(script) == [False, "Annotation sheet 1", 0, 5, 11, False]


def test_the_index_marks_what_was_saved_in_this_browser(drive):
    script = """
    out.push(see("td:last-child"));
    await visit(page().querySelector("th a").href);
    await type("annotator", "Ann"); await press("n");
    await visit("index.html");
    out.push(see("td:last-child"));
    await visit(page().querySelector("th a").href);
    await press("s");
    await visit("index.html");
    out.push(see("td:last-child"));
    """
    assert drive(script, "index.html") == [[""], ["begun"], ["saved"]]


class Scripts(HTMLParser):
    """The texts of a page's script elements, as an HTML parser delimits them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "script"
        if self.inside:
            self.texts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def test_a_trace_cannot_close_the_element_that_it_stands_in():
    run = a_hostile_run()
    data, *code = Scripts(sheet(run, SUPPORT_DESK, HOSTILE, 1, 1)).texts
    assert json.loads(data)["trajectory"]["steps"] == run.to_json()["steps"]
    assert len(code) == 4
    assert not any(RUN_IT in text for text in code)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_blind_sheet_holds_nothing_that_gives_the_answer_away(secret):
    assert secret not in sheet(a_hostile_run(), SUPPORT_DESK, "1. Do it.", 1, 1)


def test_a_reference_is_shown_only_under_the_condition_of_that_name(tmp_path):
    page = sheet(a_hostile_run(), SUPPORT_DESK, "1. Do it.", 1, 1, "with_reference")
    assert "gold-reference" in page
    assert json.loads(Scripts(page).texts[0])["condition"] == "with_reference"
    with pytest.raises(ValueError, match="with_reference: 1 of 1 have no reference"):
        write_sheets(tmp_path, [make_run()], SUPPORT_DESK, "1. Do it.", "with_reference")


def test_a_sheet_loads_nothing_from_anywhere():
    page = sheet(make_run(), SUPPORT_DESK, "1. Do it.", 1, 1)
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
