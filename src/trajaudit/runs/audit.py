"""Run one judge over a stream of trajectories and store each verdict the moment it is there.

At most ``concurrency`` items are in flight, and a verdict is written before its worker takes the next item, so a kill
at any moment loses at most the items in flight. One bad item never stops the rest: what a judge did not foresee becomes
a ``not_run`` verdict that names the exception and is tried again by the next run. Only a spent budget, a broken stream
and a full disk stop a run; then nothing more is sent, and what is in flight is still stored.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sized
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from trajaudit._fields import RecordError
from trajaudit.auditor import Judge, StopRun, spec_hash
from trajaudit.runs.progress import Progress, progress_bar
from trajaudit.runs.store import Key, VerdictStore, key_of
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import RETRYABLE, Verdict

T = TypeVar("T")


@dataclass(frozen=True)
class Summary:
    """What became of every item of one run: the denominator, before any rate is taken.

    ``statuses`` counts all ``items``; an item that a stopped run never asked about counts as ``not_run`` here and has
    no stored verdict. ``resumed`` were answered by an earlier run. ``stopped`` says why a run ended early, ``why`` what
    most of the items that have to be asked again failed of.
    """

    auditor: str
    spec_hash: str
    items: int
    statuses: Mapping[str, int]
    resumed: int = 0
    stopped: str | None = None
    why: str | None = None

    @property
    def complete(self) -> bool:
        """True where every item has an answer, so that running again would ask nothing."""
        return not any(self.statuses.get(status) for status in RETRYABLE)

    def line(self) -> str:
        """Return the summary as one line.

        >>> Summary("rules", "0" * 64, 5, {"ok": 3, "not_run": 2}, resumed=1, stopped="budget.usd is spent").line()
        'rules: 5 items: 3 ok, 2 not_run; 1 from an earlier run; stopped: budget.usd is spent'
        """
        counts = ", ".join(f"{n} {status}" for status, n in self.statuses.items() if n) or "none"
        resumed = f"; {self.resumed} from an earlier run" if self.resumed else ""
        stopped = f"; stopped: {self.stopped}" if self.stopped else ""
        why = f"; mostly: {self.why}" if self.why and not self.stopped else ""
        return f"{self.auditor}: {self.items} items: {counts}{resumed}{stopped}{why}"


async def audit(
    judge: Judge,
    trajectories: Iterable[Trajectory],
    store: VerdictStore,
    *,
    concurrency: int = 8,
    progress: bool = True,
) -> Summary:
    """Ask ``judge`` about every trajectory that has no final verdict of its spec in ``store``.

    Args:
        trajectories: any iterable; it is read as the workers need it, so a stream stays in bounded memory.
        concurrency: how many items are in flight at most.
        progress: draw a bar where standard error is a terminal.

    Raises:
        RecordError: the stream is broken or repeats an id, or the judge filed a verdict under another key.
        OSError: the store could not be written.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    total = len(trajectories) if isinstance(trajectories, Sized) else None
    work = _Work(judge, spec_hash(judge.spec), iter(trajectories), store, progress_bar(judge.name, total, progress))
    try:
        endings = await asyncio.gather(*(work.run() for _ in range(concurrency)), return_exceptions=True)
    finally:
        work.bar.close()
    for ending in endings:
        if isinstance(ending, BaseException):
            raise ending
    work.count_the_rest()
    why = next((detail for detail, _ in work.details.most_common(1)), None)
    return Summary(
        judge.name, work.spec, work.items, dict(work.statuses.most_common()), work.resumed, work.stopped, why
    )


def run_audit(
    judge: Judge,
    trajectories: Iterable[Trajectory],
    store: VerdictStore,
    *,
    concurrency: int = 8,
    progress: bool = True,
) -> Summary:
    """Do what ``audit`` does from code that is not async (in a notebook cell, ``await audit(…)`` instead)."""
    return interruptible(audit(judge, trajectories, store, concurrency=concurrency, progress=progress))


def interruptible(job: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; SIGTERM cancels it as Ctrl-C does, so that ``with`` blocks are left in order.

    Where an event loop runs already (a notebook), the coroutine gets one of its own in another thread.

    Raises:
        SystemExit: with status 143, after SIGTERM.
        KeyboardInterrupt: after Ctrl-C.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        with ThreadPoolExecutor(1) as elsewhere:
            return elsewhere.submit(asyncio.run, job).result()

    async def cancelled_by_sigterm() -> T:
        task = asyncio.current_task()
        if task is not None and threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await job

    try:
        return asyncio.run(cancelled_by_sigterm())
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None


@dataclass
class _Work:
    """The state that the workers of one run share; they run on one thread, so between awaits it is theirs alone."""

    judge: Judge
    spec: str
    stream: Iterator[Trajectory]
    store: VerdictStore
    bar: Progress
    statuses: Counter[str] = field(default_factory=Counter)
    details: Counter[str] = field(default_factory=Counter)
    items: int = 0
    resumed: int = 0
    stopped: str | None = None
    _seen: set[str] = field(default_factory=set)

    async def run(self) -> None:
        """Take items until the stream ends or somebody stops the run."""
        try:
            while self.stopped is None and (found := self._next()) is not None:
                key, trajectory = found
                self._keep(await self._ask(key, trajectory), key)
                await asyncio.sleep(0)  # a judge that never awaits would otherwise not let Ctrl-C in
        except StopRun as error:
            self.stopped = str(error) or "the budget is spent"
            self.statuses["not_run"] += 1
        except Exception as error:
            self.stopped = f"{type(error).__name__}: {error}"
            raise

    def count_the_rest(self) -> None:
        """Count what a stopped run leaves unasked."""
        while self._next() is not None:
            self.statuses["not_run"] += 1

    def _next(self) -> tuple[Key, Trajectory] | None:
        """Return the next item without an answer; those with one are counted on the way."""
        for trajectory in self.stream:
            if trajectory.id in self._seen:
                raise RecordError(f"trajectories: id: {trajectory.id!r} occurs twice in the stream")
            self._seen.add(trajectory.id)
            self.items += 1
            key = (trajectory.content_hash, self.spec, trajectory.id)
            if not self.store.is_final(key):
                return key, trajectory
            self.statuses[str(self.store.status(key))] += 1
            self.resumed += 1
            self.bar.update()
        return None

    async def _ask(self, key: Key, trajectory: Trajectory) -> Verdict:
        try:
            return await self.judge.judge(trajectory)
        except StopRun:
            raise
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            return Verdict(trajectory.id, key[0], self.judge.name, self.spec, status="not_run", detail=detail)

    def _keep(self, verdict: Verdict, key: Key) -> None:
        if key_of(verdict) != key:
            raise RecordError(f"{self.judge.name}: filed a verdict under {key_of(verdict)}, was asked about {key}")
        self.store.append(verdict)
        if verdict.status in RETRYABLE and verdict.detail:
            self.details[verdict.detail] += 1
        self.statuses[verdict.status] += 1
        self.bar.update()
