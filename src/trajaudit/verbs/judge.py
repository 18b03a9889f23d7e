"""``trajaudit judge``: audit a dataset with a judge, resumably.

Whether a run is done follows from what it was asked: the judge's spec (built before the folder is opened, so that an
edited prompt or procedure counts) and the content of the items. Replies are shared between runs: an answer that one
run has paid for is not paid for again by another, with a larger limit or more votes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from trajaudit.auditor import Judge, spec_hash
from trajaudit.config import Choice, ConfigError, resolve
from trajaudit.dataset import Dataset
from trajaudit.llm.cache import Cached
from trajaudit.llm.chat import Chat
from trajaudit.runs.audit import Summary, audit, interruptible
from trajaudit.runs.folder import RunFolder
from trajaudit.runs.store import VerdictStore, final_verdicts
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.paths import IRRELEVANT, Paths

CONCURRENCY = 8
"""Items in flight where neither the command nor the model says."""


class ReplyLength(TypedDict):
    """How long a model's reply may be: tokens in all, characters of reasoning (null for any number)."""

    max_tokens: int
    reasoning_limit: int | None


class ReplyLimits(ReplyLength):
    """What else it holds: for how many alternatives of each token its log-probability is asked for (0 for none)."""

    top_logprobs: int


def judge(
    *,
    dataset: Choice,
    judge: Choice,
    llm: Choice,
    budget: Choice,
    paths: Paths,
    reply: ReplyLimits,
    prompt_variant: Choice,
    name: str | None = None,
    limit: int | None = None,
    concurrency: int | None = None,
) -> int:
    """Audit a dataset with a judge; what is stored is never asked again, and a killed run resumes."""
    for key, value in (("limit", limit), ("concurrency", concurrency)):
        if value is not None and value < 1:
            raise ConfigError(f"{key}: expected at least 1, got {value}")
    data = dataset_of(dataset)
    runs = list(data.prefix(limit))
    model: Chat | None = llm.build(budget=budget.build()) if judge.wants("chat") else None
    told = _told(judge, data, reply) | {"variant": _variant(judge, prompt_variant)}
    specs = {one.name: spec_hash(one.spec) for one in _built(judge, model, told)}
    config = {"dataset": dataset.config, "judge": judge.config, "limit": limit}
    config |= {"llm": llm.config, "reply": _asked(reply)} if model is not None else {}
    config |= {"prompt_variant": prompt_variant.config} if judge.wants("variant") else {}
    with RunFolder.open(
        paths["output_dir"],
        "judge",
        name or data.name,
        config,
        data={**data.files, "items": content_of(runs), **{f"auditor {name}": spec for name, spec in specs.items()}},
        seeds={"judge": judge.config.get("seed"), "dataset": dataset.config.get("seed")},
        irrelevant=(*IRRELEVANT, "limit"),  # a larger limit goes on where a smaller one ended
        outputs=("verdicts.jsonl",),
    ) as folder:
        if folder.done:
            final_verdicts(
                folder.path / "verdicts.jsonl"
            )  # a damaged file is an error with its line, not a finished run
            print(f"already done: {folder.path / 'verdicts.jsonl'}")
            return 0
        folder.note("auditors", specs)
        workers = concurrency or int(getattr(model, "concurrency", CONCURRENCY))
        others = sorted(Path(paths["output_dir"]).glob("judge/*/*/calls.jsonl"))
        summaries = interruptible(_audit_all(judge, model, told, runs, folder.path, others, workers))
        return _concluded(folder, summaries)


def _concluded(folder: RunFolder, summaries: Sequence[Summary]) -> int:
    """Print what became of every item, and return the exit status."""
    for summary in summaries:
        print(summary.line())
    print(f"verdicts: {folder.path / 'verdicts.jsonl'}")
    left = [summary.line() for summary in summaries if not summary.complete]
    if left:
        folder.fail("; ".join(left))
        print("not complete: the same command asks again for what failed or was not asked")
    return int(bool(left))


async def _audit_all(
    choice: Choice,
    model: Chat | None,
    told: Mapping[str, Any],
    runs: Sequence[Trajectory],
    folder: Path,
    others: Sequence[Path],
    workers: int,
) -> list[Summary]:
    chat = None if model is None else Cached(model, folder / "calls.jsonl", others)
    try:
        with VerdictStore(folder / "verdicts.jsonl") as store:
            return [await audit(one, runs, store, concurrency=workers) for one in _built(choice, chat, told)]
    finally:
        if chat is not None:
            await chat.close()


def _built(choice: Choice, chat: Chat | None, told: Mapping[str, Any]) -> list[Judge]:
    """Build the judge, or the judges, of a choice."""
    built = choice.build(chat=chat, **told)
    return built if isinstance(built, list) else [built]


def _told(choice: Choice, data: Dataset, reply: ReplyLimits) -> dict[str, Any]:
    """Return what only the run knows: what comes with the dataset, and how long replies may be."""
    told: dict[str, Any] = {"procedure": data.procedure.text, "taxonomy": data.taxonomy, **reply}
    told["standing_claims"] = data.procedure.standing_claims
    if choice.wants("check"):
        told["check"] = rules_of(data)
    if choice.wants("rate"):
        told["rate"] = _base_rate(data)
    return told


def _variant(judge: Choice, chosen: Choice) -> Any:
    """Return the prompt variant; a judge that knows none is refused any but the default."""
    variant = chosen.build()
    if not judge.wants("variant") and variant != type(variant)():
        raise ConfigError(
            f"prompt_variant: {judge.config['_target_']} has one prompt and no variants; judge=trajel has"
        )
    return variant


def _asked(reply: ReplyLimits) -> dict[str, Any]:
    """Return what identifies the limits; log-probabilities that are not asked for leave a run's folder as it was."""
    return {key: value for key, value in reply.items() if key != "top_logprobs" or value}


def rules_of(data: Dataset) -> Any:
    """Return the rule engine that knows the tools of a dataset's runs.

    Raises:
        ConfigError: none does.
    """
    if data.rules is None:
        raise ConfigError(f"it needs a rule engine, and none knows the tools of dataset {data.name!r}")
    return resolve(f"trajaudit.testbeds.{data.rules}.rules.check", "dataset.rules")


def _base_rate(data: Dataset) -> float:
    """Return the share of a dataset's labelled runs that are faulty; a half where none is labelled."""
    labels = [run.label.faulty for run in data if run.label is not None]
    return sum(labels) / len(labels) if labels else 0.5


def content_of(runs: Sequence[Trajectory]) -> str:
    """Return one hash over what is asked about: the ids and contents of runs."""
    digest = hashlib.sha256()
    for run in runs:
        digest.update(f"{run.id} {run.content_hash}\n".encode())
    return digest.hexdigest()
