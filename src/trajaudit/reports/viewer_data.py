"""What the viewer embeds in the page: trajectories with their verdicts, as JSON that no markup can hide in.

Above a limit only a sample is embedded, drawn in turn from each stratum and fault type, so that a rare kind is not
lost, and in an order that follows from the content alone, so that the same set gives the same sample. The page says
so; tables and figures always cover all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trajaudit._fields import Json, dumps
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def script_safe(obj: Json) -> str:
    """Return JSON that can stand inside a script element: nothing in it can close the element or open a comment.

    >>> script_safe({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", dumps(obj))


def sample(trajectories: Sequence[Trajectory], limit: int) -> list[Trajectory]:
    """Return at most ``limit`` trajectories, in their own order, drawn in turn from each stratum and fault type."""
    if limit < 1:
        raise ValueError(f"limit: expected at least 1 trajectory, got {limit}")
    if len(trajectories) <= limit:
        return list(trajectories)
    kinds: dict[tuple[str, str], list[int]] = {}
    for i, trajectory in enumerate(trajectories):
        kinds.setdefault(_kind(trajectory), []).append(i)
    for members in kinds.values():
        members.sort(key=lambda i: hashlib.sha256(trajectories[i].id.encode("utf-8", "surrogatepass")).digest())
    turns = ((turn, kind, i) for kind, members in kinds.items() for turn, i in enumerate(members))
    drawn = sorted(turns)[:limit]
    return [trajectories[i] for i in sorted(i for _, _, i in drawn)]


def _kind(trajectory: Trajectory) -> tuple[str, str]:
    if trajectory.label is None:
        return "unlabelled", ""
    first = trajectory.label.first
    return trajectory.label.stratum, "" if first is None else first.type


@dataclass(frozen=True)
class Embedded:
    """The viewer's data as JSON text that is safe in a script element, and how many of how many it holds."""

    text: str
    shown: int
    total: int

    @property
    def notice(self) -> str:
        """What the page says of a sample; empty where everything is embedded."""
        if self.shown == self.total:
            return ""
        return (
            f"A sample: {self.shown:,} of {self.total:,} trajectories are in this file, drawn in turn from each "
            "stratum and fault type. The tables and figures cover all of them."
        )


def embed(trajectories: Sequence[Trajectory], verdicts: Iterable[Verdict], limit: int = 2000) -> Embedded:
    """Return the data of the viewer for at most ``limit`` trajectories, with every verdict given on them."""
    shown = sample(trajectories, limit)
    place = {trajectory.id: n for n, trajectory in enumerate(shown)}
    by_place: dict[str, list[Json]] = {}
    auditors: dict[str, None] = {}
    for verdict in verdicts:
        auditors.setdefault(verdict.auditor)
        if verdict.trajectory_id in place:
            by_place.setdefault(str(place[verdict.trajectory_id]), []).append(_verdict(verdict))
    data = {"trajectories": [_trajectory(t) for t in shown], "verdicts": by_place, "auditors": list(auditors)}
    return Embedded(script_safe(data), len(shown), len(trajectories))


def _trajectory(trajectory: Trajectory) -> Json:
    record = trajectory.to_json()
    source = record["source"]
    return {
        "id": record["id"],
        "group": record["group"],
        "task": record["task"],
        "steps": record["steps"],
        "final_answer": record["final_answer"],
        "source": {name: source[name] for name in ("dataset", "model", "domain")},
        "meta": source["meta"] or None,
        "label": record["label"],
        "stratum": None if trajectory.label is None else trajectory.label.stratum,
        "reference": trajectory.reference,
    }


def _verdict(verdict: Verdict) -> Json:
    unread = ("version", "trajectory_id", "content_hash", "spec_hash")
    return {name: value for name, value in verdict.to_json().items() if name not in unread}
