"""Let an agent work on episode after episode, and store what became of each the moment it ends.

One line an episode in ``episodes.jsonl``, so a kill loses at most the episodes in flight (and of those nothing that was
paid for: their replies are in the response cache). An episode that ended is final, however badly: trying again until it
goes well would bias every rate. What failed for no fault of the agent's is superseded by a later line.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from trajaudit._fields import RecordError
from trajaudit._log import AppendLog
from trajaudit.auditor import StopRun
from trajaudit.episode import FAILURES, Episode, Rollout
from trajaudit.runs.progress import Progress, progress_bar
from trajaudit.verdict import Usage

Play = Callable[[Episode], Awaitable[Rollout]]
"""What carries one episode out, from its beginning to a labelled rollout."""


class EpisodeStore:
    """The rollouts of one run, held by one process at a time.

    Raises:
        LogLocked: another process holds the file.
        RecordError: a line (other than a torn last one, which is cut off) is no rollout, or ends an episode twice.
    """

    def __init__(self, path: str | Path) -> None:
        self._log = AppendLog(path)
        self._rollouts: dict[tuple[str, str], Rollout] = {}
        try:
            for where, obj in self._log.entries:
                self._file(Rollout.from_json(obj, where), where)
        except RecordError:
            self.close()
            raise
        self._log.entries.clear()

    def ended(self, episode: str, spec_hash: str) -> Rollout | None:
        """Return the rollout of an episode that no later run tries again, null where there is none."""
        found = self._rollouts.get((episode, spec_hash))
        return None if found is None or found.status in FAILURES else found

    def append(self, rollout: Rollout) -> None:
        """Write a rollout; when this returns, it outlives the process."""
        self._file(rollout, str(self._log.path))
        self._log.append(rollout.to_json())

    def _file(self, rollout: Rollout, where: str) -> None:
        if self.ended(rollout.episode, rollout.spec_hash) is not None:
            raise RecordError(f"{where}: episode: {rollout.episode!r} has already ended")
        self._rollouts[rollout.episode, rollout.spec_hash] = rollout

    def close(self) -> None:
        self._log.close()

    def __enter__(self) -> EpisodeStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass
class Rolled:
    """What became of every episode of one run, in the order of the testbed; ``stopped`` says why it ended early."""

    rollouts: list[Rollout] = field(default_factory=list)
    resumed: int = 0
    stopped: str | None = None

    @property
    def statuses(self) -> Mapping[str, int]:
        return dict(Counter(rollout.status for rollout in self.rollouts).most_common())

    @property
    def complete(self) -> bool:
        return self.stopped is None and not any(rollout.status in FAILURES for rollout in self.rollouts)

    @property
    def usage(self) -> Usage:
        """What all episodes cost together; an unknown part makes a sum unknown."""
        return sum((rollout.usage for rollout in self.rollouts), Usage())


async def roll_out(
    play: Play,
    episodes: Iterable[Episode],
    store: EpisodeStore,
    spec_hash: str,
    *,
    label: str,
    total: int | None = None,
    concurrency: int = 1,
) -> Rolled:
    """Carry out every episode that has not ended in ``store``, at most ``concurrency`` at a time.

    One bad episode never stops the rest: an exception that nobody foresaw becomes ``not_run`` with its name.

    Raises:
        OSError: the store could not be written.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    work = _Work(play, iter(enumerate(episodes)), store, spec_hash, progress_bar(label, total))
    try:
        endings = await asyncio.gather(*(work.run() for _ in range(concurrency)), return_exceptions=True)
    finally:
        work.bar.close()
    for ending in endings:
        if isinstance(ending, BaseException):
            raise ending
    rollouts = [work.done[number] for number in sorted(work.done)]
    return Rolled(rollouts, work.resumed, work.stopped)


@dataclass
class _Work:
    """What the workers of one run share; they run on one thread."""

    play: Play
    stream: Iterator[tuple[int, Episode]]
    store: EpisodeStore
    spec_hash: str
    bar: Progress
    done: dict[int, Rollout] = field(default_factory=dict)
    resumed: int = 0
    stopped: str | None = None

    async def run(self) -> None:
        """Take episodes until there are no more, or somebody stops the run."""
        while self.stopped is None and (found := next(self.stream, None)) is not None:
            number, episode = found
            known = self.store.ended(episode.id, self.spec_hash)
            if known is not None:
                self.done[number] = known
                self.resumed += 1
            else:
                try:
                    rollout = await self._play(episode)
                except StopRun as error:
                    self.stopped = str(error) or "the budget is spent"
                    return
                self.store.append(rollout)
                self.done[number] = rollout
            self.bar.update()

    async def _play(self, episode: Episode) -> Rollout:
        try:
            return await self.play(episode)
        except StopRun:
            raise
        except Exception as error:
            return Rollout(episode.id, self.spec_hash, "not_run", detail=f"{type(error).__name__}: {error}")
