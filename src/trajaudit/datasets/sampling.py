"""A sample of a set for people to read: fixed by a seed, and growing, never reshuffled, when more is asked for.

The order is that of a hash of (seed, id), so the sample does not depend on the order of the source, and the first 20 of
a sample of 50 are the sample of 20: who has read those has not read in vain. Stratifying draws in turn from each kind
and so changes the base rate of faults, on which kappa and precision depend; plain sampling (the default) keeps it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Literal

from trajaudit.trajectory import Trajectory

Stratify = Literal["none", "stratum", "type", "model"]


def _type(run: Trajectory) -> str:
    return "" if run.label is None or run.label.first is None else run.label.first.type


KINDS: dict[str, Callable[[Trajectory], str]] = {
    "none": lambda run: "",
    "stratum": lambda run: "" if run.label is None else run.label.stratum,
    "type": _type,
    "model": lambda run: run.source.model or "",
}


def draw_sample(runs: Iterable[Trajectory], n: int, seed: int, stratify: Stratify = "none") -> list[Trajectory]:
    """Return ``n`` runs (all, where there are no more), in an order that says nothing of the kind of a run.

    Raises:
        ValueError: ``n`` is below 1, or ``stratify`` is unknown or parts nothing.
    """
    if n < 1:
        raise ValueError(f"n: expected at least 1, got {n}")
    if stratify not in KINDS:
        raise ValueError(f"stratify: expected one of {', '.join(KINDS)}, got {stratify!r}")
    kinds: dict[str, list[tuple[bytes, Trajectory]]] = defaultdict(list)
    for run in runs:
        digest = hashlib.sha256(f"{seed}|{run.id}".encode("utf-8", "surrogatepass")).digest()
        kinds[KINDS[stratify](run)].append((digest, run))
    if stratify != "none" and len(kinds) == 1:
        raise ValueError(f"stratify: all runs are alike in {stratify!r}; stratify=none draws from them")
    turns = []
    for members in kinds.values():
        members.sort(key=lambda member: member[0])
        turns += [(turn, digest, run) for turn, (digest, run) in enumerate(members)]
    turns.sort(key=lambda drawn: drawn[:2] if stratify != "none" else drawn[1:2])
    return [run for _, _, run in turns[:n]]
