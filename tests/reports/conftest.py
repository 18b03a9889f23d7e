"""Two auditors on ten runs, scored by hand: the numbers are small enough to check in the head."""

import shutil
import subprocess

import pytest

from trajaudit.analysis.result import Bin, Denominator, Estimate, Scorecard
from trajaudit.trajectory import Action, Fault, Label, Source, Step, Trajectory
from trajaudit.verdict import Evidence, Usage, Verdict

BROWSER_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--virtual-time-budget=3000", "--dump-dom"),
)
NO_STEP = Estimate(None, reason="it names no step")


def scorecard(
    auditor: str,
    convention: str = "published",
    attempted: int = 10,
    answered: int = 10,
    failed: dict[str, int] | None = None,
    **metrics: Estimate,
) -> Scorecard:
    """A card of ten runs (four clean, four silent, two loud), with whatever metrics a test gives it."""
    defaults = {
        "f1": Estimate(0.8, 0.5, 0.95, 10, "bootstrap"),
        "silent_recall": Estimate(0.5, 0.15, 0.85, 4, "Wilson"),
        "loud_recall": Estimate(1.0, 0.34, 1.0, 2, "Wilson"),
        "recall": Estimate(2 / 3, 0.3, 0.9, 6, "Wilson"),
        "false_alarm": Estimate(0.0, 0.0, 0.49, 4, "Wilson"),
        "step_exact": Estimate(0.75, 0.3, 0.95, 4, "Wilson"),
        "ece": Estimate(0.12, 0.05, 0.3, 10, "bootstrap"),
        "seconds": Estimate(2.0, 1.5, 2.5, 10, "bootstrap"),
    }
    return Scorecard(
        auditor,
        convention,
        {**defaults, **metrics},
        {
            "wrong_tool": Estimate(1.0, 0.44, 1.0, 3, "Wilson"),
            "premature_stop": Estimate(1 / 3, 0.06, 0.79, 3, "Wilson"),
        },
        {
            "wrong_tool": {"wrong_tool": 2, "premature_stop": 1, "missed": 0},
            "premature_stop": {"wrong_tool": 0, "premature_stop": 1, "missed": 2},
        },
        (
            Bin(0.5, 0.6, 0, None, Estimate(None, reason="no verdict in this bin")),
            Bin(0.9, 1.0, 10, 0.95, Estimate(0.8, 0.49, 0.94, 10, "Wilson")),
        ),
        ((0.5, 0.1), (1.0, 0.2)),
        Denominator(attempted, answered, failed or {}),
    )


@pytest.fixture
def card():
    return scorecard


@pytest.fixture(scope="session")
def cards() -> list[Scorecard]:
    outcome = {"step_exact": NO_STEP, "f1": Estimate(0.6, 0.3, 0.8, 10, "bootstrap"), "seconds": Estimate(0.5, n=10)}
    return [scorecard("step"), scorecard("outcome", **outcome)]


def a_run(name: str, label: Label | None, task: str = "Refund the order.") -> Trajectory:
    steps = (
        Step(0, "Find the order.", Action("lookup_order", {"order_id": "ORD-1"}), {"ok": True, "total": 12.5}),
        Step(1, "Pay it back.", Action("refund", {"amount": 12.5}), {"ok": True}, agent="desk"),
    )
    return Trajectory(name, f"group of {name}", task, steps, "It is refunded.", Source("example"), label)


def a_verdict(trajectory: Trajectory, auditor: str, faulty: bool, **fields: object) -> Verdict:
    given = {
        "score": 0.9 if faulty else 0.1,
        "confidence": 0.9,
        "rationale": "Because.",
        "usage": Usage(1, 10, 0, 5, None),
    }
    return Verdict(trajectory.id, trajectory.content_hash, auditor, "spec", faulty=faulty, **{**given, **fields})  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def runs() -> list[Trajectory]:
    return [
        a_run("clean-looking", Label(False, outcome_correct=True)),
        a_run("quiet", Label(True, (Fault("wrong_tool", 1, "action"),), outcome_correct=True), "Refund the lamp."),
        a_run("noisy", Label(True, (Fault("premature_stop", 0),), outcome_correct=False)),
    ]


@pytest.fixture(scope="session")
def verdicts(runs: list[Trajectory]) -> list[Verdict]:
    clean, quiet, noisy = runs
    return [
        a_verdict(clean, "step", False),
        a_verdict(quiet, "step", True, step=1, types=("wrong_tool",), evidence=(Evidence(1, "refund", "too soon"),)),
        a_verdict(noisy, "step", True, step=1, types=("wrong_tool",)),
        a_verdict(clean, "outcome", True),
        a_verdict(quiet, "outcome", False),
        Verdict(noisy.id, noisy.content_hash, "outcome", "spec", "parse_fail", detail="no JSON in the reply"),
    ]


@pytest.fixture(scope="session")
def browse(tmp_path_factory: pytest.TempPathFactory):
    """A function from an address to the page as Chromium leaves it after its scripts have run."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no chromium on the path")

    def dump(address: str) -> str:
        command = [chromium, *BROWSER_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", address]
        return subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.decode("utf-8")

    return dump
