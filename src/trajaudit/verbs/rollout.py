"""``trajaudit rollout``: let an agent act in a testbed, and label what it did by the testbed's rules.

Nothing is injected, so a fault here is the agent's own. The labels are the rules' (``origin: rule``) and so see what
the rules see; they stand in a set of their own, which no table mixes with labels by construction. Scored against them,
the rule engine itself is right by definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Json
from trajaudit.agents.llm_agent import LLMAgent
from trajaudit.auditor import spec_hash
from trajaudit.config import Choice, ConfigError, resolve
from trajaudit.episode import FAILURES, Episode, Rollout, Testbed, labelled
from trajaudit.llm.cache import Cached
from trajaudit.llm.chat import Chat
from trajaudit.reports import Column, Row, Table, render, write
from trajaudit.runs import RunFolder, interruptible
from trajaudit.runs.rollouts import EpisodeStore, Play, Rolled, roll_out
from trajaudit.trajectory import Source, Trajectory, write_jsonl
from trajaudit.verbs.judge import ReplyLimits
from trajaudit.verbs.paths import IRRELEVANT, Paths


def rollout(
    *,
    testbed: Choice,
    agent: Choice,
    llm: Choice,
    budget: Choice,
    paths: Paths,
    reply: ReplyLimits,
    name: str | None = None,
    concurrency: int | None = None,
) -> int:
    """Let a model act in a testbed by real tool calls; what it did is labelled by rules, and a killed run resumes."""
    if concurrency is not None and concurrency < 1:
        raise ConfigError(f"concurrency: expected at least 1, got {concurrency}")
    bed: Testbed = testbed.build()
    model: Chat = llm.build(budget=budget.build())
    told = {
        "procedure": bed.procedure.text,
        "max_tokens": reply["max_tokens"],
        "thought_limit": reply["reasoning_limit"],
    }
    spec = spec_hash(agent.build(chat=model, **told).spec)
    config = {"testbed": testbed.config, "agent": agent.config, "llm": llm.config, "reply": reply}
    with RunFolder.open(
        paths["output_dir"],
        "rollout",
        name or bed.name,
        config,
        data={"agent": spec, "episodes": str(bed.size)},
        seeds={"testbed": testbed.config.get("seed"), "agent": agent.config.get("seed")},
        irrelevant=(*IRRELEVANT, "testbed.n"),  # more episodes go on where fewer ended
        outputs=("trajectories.jsonl", "receipt.json"),
    ) as folder:
        if folder.done:
            print(f"already done: {folder.path / 'trajectories.jsonl'}")
            return 0
        workers = concurrency or int(getattr(model, "concurrency", 1))
        others = sorted(Path(paths["output_dir"]).glob("rollout/*/*/calls.jsonl"))
        rolled = interruptible(_roll(agent, model, told, bed, folder.path, others, workers))
        return _concluded(folder, bed, rolled)


async def _roll(
    agent: Choice, model: Chat, told: dict[str, Json], bed: Testbed, folder: Path, others: Sequence[Path], workers: int
) -> Rolled:
    chat = Cached(model, folder / "calls.jsonl", others)
    try:
        actor: LLMAgent = agent.build(chat=chat, **told)
        with EpisodeStore(folder / "episodes.jsonl") as store:
            play, label = player(actor, bed), f"rollout {bed.name}"
            return await roll_out(
                play, bed.episodes(), store, actor.spec_hash, label=label, total=bed.size, concurrency=workers
            )
    finally:
        await chat.close()


def player(agent: LLMAgent, bed: Testbed) -> Play:
    """Return what carries an episode out and labels it by the rules of the testbed."""
    check = resolve(f"trajaudit.testbeds.{bed.rules}.rules.check", "testbed.rules")

    async def play(episode: Episode) -> Rollout:
        done, ending = await agent.run(episode, Source(bed.name, domain=bed.domain, meta={"rollout": True}))
        if done.trajectory is None:
            return done
        return replace(done, trajectory=labelled(check, done.trajectory, ending.outcome_correct))

    return play


def _concluded(folder: RunFolder, bed: Testbed, rolled: Rolled) -> int:
    """Write the trajectories and the receipt, print what became of the episodes, and return the exit status."""
    runs = [rollout.trajectory for rollout in rolled.rollouts if rollout.trajectory is not None]
    path = folder.path / "trajectories.jsonl"
    write_jsonl(path, runs)
    receipt = receipt_of(rolled, runs, bed)
    write_jsonl(folder.path / "receipt.json", [receipt])
    table = receipt_table(receipt, bed)
    write(table, folder.path / "tables")
    print(render(table, "txt"))
    print(f"trajectories: {path}\nevery episode: {folder.path / 'episodes.jsonl'}")
    if rolled.complete:
        return 0
    left = rolled.stopped or next(r.detail or r.status for r in rolled.rollouts if r.status in FAILURES)
    folder.fail(left)
    print(f"not complete ({left}): the same command goes on from there")
    return 1


def receipt_of(rolled: Rolled, runs: Sequence[Trajectory], bed: Testbed) -> Json:
    """Return what became of every episode: how it ended, what the rules found, what it cost."""
    labels = [run.label for run in runs if run.label is not None]
    known = [label for label in labels if label.outcome_correct is not None]
    found = Counter(name for label in labels for name in {fault.type for fault in label.faults})
    return {
        "testbed": bed.name,
        "origin": "rule",
        "episodes": bed.size,
        "attempted": len(rolled.rollouts),
        "resumed": rolled.resumed,
        "ended": dict(rolled.statuses),
        "trajectories": len(runs),
        "faulty": sum(label.faulty for label in labels),
        "outcome_known": len(known),
        "outcome_correct": sum(label.outcome_correct is True for label in known) if known else None,
        "clean_and_correct": sum(label.stratum == "clean" and label.outcome_correct is True for label in known)
        if known
        else None,
        "faults": {name: found[name] for name in bed.taxonomy.types},
        "failed_parses": sum(rollout.failed_parses for rollout in rolled.rollouts),
        "steps": sum(len(run.steps) for run in runs),
        "usage": rolled.usage.to_json(),
        "latency_s": round(sum(rollout.latency_s for rollout in rolled.rollouts), 3),
        "stopped": rolled.stopped,
    }


def receipt_table(receipt: Json, bed: Testbed) -> Table:
    """Return the receipt as a table of counts."""
    lines = {
        "episodes attempted": receipt["attempted"],
        **{f"… ended: {status}": count for status, count in receipt["ended"].items()},
        "trajectories (something was called)": receipt["trajectories"],
        "… with a fault that the rules see": receipt["faulty"],
        **{f"… … {name}": count for name, count in receipt["faults"].items()},
        "… of which anyone knows the outcome": receipt["outcome_known"],
        "… … with the right outcome": receipt["outcome_correct"],
        "… … … and no fault that the rules see": receipt["clean_and_correct"],
        "steps": receipt["steps"],
        "replies that were no call": receipt["failed_parses"],
    }
    columns = (Column("what", "episodes", "text"), Column("count", "count", "count"))
    notes: tuple[str, ...] = (
        "Labels are the rules' (origin: rule): a run without one is a run in which no rule fired, and no more.",
        "They are never scored together with labels by construction.",
    )
    if not receipt["outcome_known"]:
        notes += ("A dash: nobody knows the outcome of these runs.",)
    title = f"What became of the episodes of {bed.name}"
    return Table("episodes", title, columns, tuple(Row(line) for line in lines.items()), notes)
