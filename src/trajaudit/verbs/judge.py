"""``trajaudit judge``: audit a dataset with a judge, resumably."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from trajaudit.auditor import Judge
from trajaudit.config import Choice, ConfigError, resolve
from trajaudit.dataset import Dataset
from trajaudit.llm.budget import Budget
from trajaudit.llm.cache import Cached
from trajaudit.runs.audit import Summary, audit, interruptible
from trajaudit.runs.folder import RunFolder
from trajaudit.runs.store import VerdictStore
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.paths import IRRELEVANT, Paths


class ReplyLimits(TypedDict):
    """How long a model's reply may be: tokens in all, and characters of reasoning (null for any number)."""

    max_tokens: int
    reasoning_limit: int | None


def judge(
    *,
    dataset: Choice,
    judge: Choice,
    llm: Choice,
    budget: Choice,
    paths: Paths,
    reply: ReplyLimits,
    name: str | None = None,
    limit: int | None = None,
    concurrency: int = 8,
) -> int:
    """Audit a dataset with a judge; what is stored is never asked again, and a killed run resumes."""
    data: Dataset = dataset.build()
    config = {"dataset": dataset.config, "judge": judge.config, "limit": limit}
    if judge.wants("chat"):
        config |= {"llm": llm.config, "reply": reply}
    with RunFolder.open(
        paths["output_dir"], "judge", name or data.name, config, data=data.files, irrelevant=IRRELEVANT
    ) as folder:
        out = folder.path / "verdicts.jsonl"
        if folder.done:
            print(f"already done: {out}")
            return 0
        runs = list(data.prefix(limit))
        summaries = interruptible(_audit_all(judge, llm, reply, budget.build(), data, runs, folder.path, concurrency))
        for summary in summaries:
            print(summary.line())
        print(f"verdicts: {out}")
        if not all(summary.complete for summary in summaries):
            folder.fail("; ".join(summary.line() for summary in summaries if not summary.complete))
            print("not complete: the same command asks again for what failed or was not asked")
            return 1
    return 0


async def _audit_all(
    choice: Choice,
    llm: Choice,
    reply: ReplyLimits,
    budget: Budget,
    data: Dataset,
    runs: Sequence[Trajectory],
    folder: Path,
    concurrency: int,
) -> list[Summary]:
    chat = Cached(llm.build(budget=budget), folder / "calls.jsonl") if choice.wants("chat") else None
    try:
        known: dict[str, Any] = {"procedure": data.procedure.text, "taxonomy": data.taxonomy}
        if choice.wants("check"):
            known["check"] = _rules_of(data)
        built = choice.build(chat=chat, rate=_base_rate(runs), **known, **reply)
        judges: list[Judge] = built if isinstance(built, list) else [built]
        with VerdictStore(folder / "verdicts.jsonl") as store:
            return [await audit(one, runs, store, concurrency=concurrency) for one in judges]
    finally:
        if chat is not None:
            await chat.close()


def _rules_of(data: Dataset) -> Any:
    """Return the rule engine that knows the tools of a dataset's runs."""
    if data.rules is None:
        raise ConfigError(f"judge: it needs a rule engine, and none knows the tools of dataset {data.name!r}")
    return resolve(f"trajaudit.testbeds.{data.rules}.rules.check", "dataset.rules")


def _base_rate(runs: Sequence[Trajectory]) -> float:
    """Return the share of labelled runs that are faulty; a half where none is labelled."""
    labels = [run.label.faulty for run in runs if run.label is not None]
    return sum(labels) / len(labels) if labels else 0.5
