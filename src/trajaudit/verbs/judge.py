"""``trajaudit judge``: audit a dataset with a judge, resumably."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from trajaudit.auditor import Judge
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.llm.budget import Budget
from trajaudit.runs import RunFolder, Summary, VerdictStore, audit, interruptible
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.paths import IRRELEVANT, Paths


def judge(
    *,
    dataset: Choice,
    judge: Choice,
    llm: Choice,
    budget: Choice,
    paths: Paths,
    name: str | None = None,
    limit: int | None = None,
    concurrency: int = 8,
) -> int:
    """Audit a dataset with a judge; what is stored is never asked again, and a killed run resumes."""
    data: Dataset = dataset.build()
    config = {"dataset": dataset.config, "judge": judge.config, "limit": limit}
    if judge.wants("chat"):
        config["llm"] = llm.config
    with RunFolder.open(
        paths["output_dir"], "judge", name or data.name, config, data=data.files, irrelevant=IRRELEVANT
    ) as folder:
        out = folder.path / "verdicts.jsonl"
        if folder.done:
            print(f"already done: {out}")
            return 0
        runs = list(data.prefix(limit))
        summaries = interruptible(_audit_all(judge, llm, budget.build(), data, runs, folder.path, concurrency))
        for summary in summaries:
            print(summary.line())
        print(f"verdicts: {out}")
        if not all(summary.complete for summary in summaries):
            folder.fail("; ".join(summary.line() for summary in summaries if not summary.complete))
            print("not complete: the same command asks again for what failed or was not asked")
            return 1
    return 0


async def _audit_all(
    choice: Choice, llm: Choice, budget: Budget, data: Dataset, runs: Sequence[Trajectory], folder: Path, workers: int
) -> list[Summary]:
    chat = llm.build(cache=folder / "calls.jsonl", budget=budget) if choice.wants("chat") else None
    try:
        built = choice.build(chat=chat, procedure=data.procedure.text, taxonomy=data.taxonomy, check=data.check)
        judges: list[Judge] = built if isinstance(built, list) else [built]
        with VerdictStore(folder / "verdicts.jsonl") as store:
            return [await audit(one, runs, store, concurrency=workers) for one in judges]
    finally:
        if chat is not None:
            await chat.close()


def audit_sync(judge: Judge, trajectories: Sequence[Trajectory], path: str | Path, concurrency: int = 8) -> Summary:
    """Audit trajectories into a verdict file from code that is not async."""

    async def run() -> Summary:
        with VerdictStore(path) as store:
            return await audit(judge, trajectories, store, concurrency=concurrency)

    return asyncio.run(run())
