"""Runs: folders and manifests, the verdict store, and the loop that audits a stream resumably."""

from trajaudit.runs.audit import Summary, audit, interruptible, run_audit
from trajaudit.runs.folder import RunFolder
from trajaudit.runs.progress import progress_bar
from trajaudit.runs.store import VerdictStore, final_verdicts

__all__ = [
    "RunFolder",
    "Summary",
    "VerdictStore",
    "audit",
    "final_verdicts",
    "interruptible",
    "progress_bar",
    "run_audit",
]
