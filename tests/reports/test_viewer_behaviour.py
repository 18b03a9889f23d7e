"""The viewer as a reader drives it: a page on the loopback address presses its keys and reads what it then shows."""

import json
import re
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from trajaudit.reports import Part, build_report

DRIVER = """<!doctype html><pre id="out"></pre><iframe src="report.html%s" width="1300" height="900"></iframe><script>
const frame = document.querySelector("iframe");
const wait = () => new Promise((done) => setTimeout(done, 30));
const see = (selector) => Array.from(frame.contentDocument.querySelectorAll(selector), (node) => node.textContent);
const press = async (key) => {
  frame.contentDocument.body.dispatchEvent(new frame.contentWindow.KeyboardEvent("keydown", { key, bubbles: true }));
  await wait();
};
const choose = async (name, value) => {
  const field = frame.contentDocument.querySelector(`[name=${name}]`);
  field.value = value;
  field.dispatchEvent(new frame.contentWindow.Event("input", { bubbles: true }));
  await wait();
};
const state = () => ({ opened: see("#opened")[0], listed: see(".row-id"), hash: frame.contentWindow.location.hash });
frame.onload = async () => {
  const out = [];
  await wait();
  %s
  document.getElementById("out").textContent = JSON.stringify(out);
};
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def drive(tmp_path_factory, browse, runs, verdicts, cards):
    """A function that opens the report at an address, runs a script in the driver and returns what it put into out."""
    folder = tmp_path_factory.mktemp("report")
    build_report(folder, title="A report", parts=[Part("all", "All", runs, verdicts, cards)])
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()

    def driven(address, script):
        (folder / "driver.html").write_text(DRIVER % (address, script), encoding="utf-8")
        dom = browse(f"http://127.0.0.1:{server.server_port}/driver.html")
        return json.loads(re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)[1].replace("&amp;", "&"))

    yield driven
    server.shutdown()
    server.server_close()


def test_j_and_k_walk_the_list_and_stop_at_its_ends(drive):
    keys = "for (const key of ['k', 'j', 'j', 'j', 'k']) { await press(key); out.push(state().opened); }"
    assert drive("#t", keys) == ["clean-looking", "quiet", "noisy", "noisy", "quiet"]


def test_a_link_opens_its_trajectory_with_the_fault_and_each_verdict(drive):
    script = (
        "out.push(state().opened, see('.step.faulty h3'), see('.fault-mark'), see('.verdict h3'), see('.pointers'));"
    )
    opened, faulty, marks, heads, pointers = drive("#t/quiet", script)
    assert opened == "quiet"
    assert faulty == ["Step 1refunddesk"]
    assert marks == ["Labelled fault: wrong_tool in the action"]
    assert heads == ["stepfaulty ✓, agrees with the label", "outcomeclean ✗, disagrees with the label"]
    assert pointers == ["Named by step"]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"stratum": "silent"}, ["quiet"]),
        ({"type": "premature_stop"}, ["noisy"]),
        ({"verdict": "wrong"}, ["clean-looking", "quiet"]),
        ({"auditor": "step", "verdict": "wrong"}, []),
        ({"verdict": "step"}, ["noisy"]),
        ({"status": "parse_fail"}, ["noisy"]),
        ({"search": "LAMP"}, ["quiet"]),
    ],
)
def test_filters_narrow_the_list(drive, choices, expected):
    script = "".join(f"await choose('{name}', '{value}');" for name, value in choices.items())
    assert drive("#t", script + "out.push(state().listed);") == [expected]


def test_blind_reading_hides_everything_that_tells_the_label(drive):
    look = (
        "out.push(see('.fault-mark, .row-tally, .row .badge, .step.faulty, .label ul').length, see('.verdict .badge'));"
    )
    open_, open_badges, blind, blind_badges = drive("#t/quiet", look + "await press('b');" + look)
    assert open_ > 0
    assert open_badges == ["faulty ✓, agrees with the label", "clean ✗, disagrees with the label"]
    assert blind == 0
    assert blind_badges == ["faulty", "clean"]


def test_a_header_sorts_its_table_with_the_undefined_last(drive):
    script = """
    const summary = frame.contentDocument.querySelector("#detection table");
    const column = (n) => Array.from(summary.tBodies[0].rows, (row) => row.cells[n].textContent.trim().slice(0, 5));
    for (let i = 0; i < 2; i++) { summary.tHead.rows[0].cells[3].querySelector("button").click(); out.push(column(3)); }
    """
    assert drive("", script) == [["0.800", "0.600"], ["0.600", "0.800"]]
