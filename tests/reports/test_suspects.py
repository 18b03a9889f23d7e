"""Runs in the order in which to read them, where nobody has labelled any."""

from __future__ import annotations

from sample_runs import make_run

from trajaudit.reports.suspects import ranked, suspects_table
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence, Verdict


def said(run: Trajectory, auditor: str, score: float, **more) -> Verdict:
    return Verdict(run.id, run.content_hash, auditor, auditor, faulty=score > 0.5, score=score, **more)


RUNS = [make_run(name) for name in ("quiet", "one", "surer", "both", "silent")]
QUIET, ONE, SURER, BOTH, SILENT = RUNS
VERDICTS = [
    *(said(QUIET, name, 0.2) for name in ("rules", "claims")),
    *(said(ONE, "rules", 0.9, step=1, types=("wrong_tool",)), said(ONE, "claims", 0.3)),
    *(said(SURER, "rules", 0.95), said(SURER, "claims", 0.3)),
    said(BOTH, "rules", 0.6, step=2, evidence=(Evidence(0, note="elsewhere"), Evidence(2, note="no check before"))),
    said(BOTH, "claims", 0.8, evidence=(), types=("unsupported_claim",)),
    Verdict(SILENT.id, SILENT.content_hash, "rules", "rules", status="abstain", detail="no tool call"),
]


def test_more_flags_come_first_then_the_surer_one() -> None:
    assert [one.run.id for one in ranked(RUNS, VERDICTS)] == ["both", "surer", "one", "quiet", "silent"]


def test_a_row_holds_who_where_what_and_the_evidence_at_that_step() -> None:
    table = suspects_table(ranked(RUNS, VERDICTS), 2)
    assert [row.cells for row in table.rows] == [
        ("both", "2 of 2: claims, rules", 0.8, "2 (lookup)", "unsupported_claim", "rules: no check before"),
        ("surer", "1 of 2: rules", 0.95, None, None, None),
    ]
    assert table.notes == ("3 of 5 runs are flagged by at least one auditor.", "Shown: the first 2.")
