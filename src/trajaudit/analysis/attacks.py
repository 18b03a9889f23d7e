"""Does text that addresses the judge move its verdict, and towards what the text wants?

Every attacked run is paired with its untouched original, so a flip is the text's doing but for the judge's own noise;
and that noise is measured, not assumed: flips *away* from the wish are as unlikely to be obedience as anything can be.
A judge that obeys flips towards the wish only; one that is merely unsettled flips both ways. So three figures stand for
each attack: the share turned towards the wish among pairs that were not there already, the share turned away among
those that were, and the shift, how much more often the wished verdict is given, tested by exact McNemar (clusters are
the originals' groups) with Holm over all attacks on all auditors. Pairs without two verdicts are left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.differences import Resampling
from trajaudit.analysis.intervals import RESAMPLES
from trajaudit.analysis.paired import holm
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.stability import shifted
from trajaudit.analysis.statistic import rate
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict, by_auditor

NO_PAIR = "no pair has two verdicts"
EVERY = "every attack"


@dataclass(frozen=True)
class Attacked:
    """What one kind of attack did to one auditor's verdicts.

    ``towards`` and ``away`` are rates, ``shift`` a difference of rates; ``unanswered`` counts pairs without two
    verdicts.
    """

    auditor: str
    attack: str
    place: str
    wish: str
    pairs: int
    unanswered: int
    towards: Estimate
    away: Estimate
    shift: Estimate
    p_value: float | None
    p_holm: float | None = None


@dataclass(frozen=True)
class Pair:
    """An original and its attacked copy: their ids, the group, and what was done."""

    group: str
    original: str
    copy: str
    attack: str
    place: str
    wish: str


def pairs_of(trajectories: Iterable[Trajectory]) -> list[Pair]:
    """Return the attacked copies (by ``source.meta.attack``) whose originals are in the set as well."""
    runs = {run.id: run for run in trajectories}
    found = []
    for run in runs.values():
        told: Any = run.source.meta.get("attack")
        if isinstance(told, dict) and set(told) >= {"of", "name", "place", "wish"} and told["of"] in runs:
            found.append(Pair(run.group, told["of"], run.id, told["name"], told["place"], told["wish"]))
    return found


def attack_effects(
    trajectories: Iterable[Trajectory],
    verdicts: Iterable[Verdict],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    method: str = "percentile",
) -> list[Attacked]:
    """Return what each attack did to each auditor, and for each wish what all of them did together.

    Empty where no attacked run stands beside its original.
    """
    pairs = pairs_of(trajectories)
    wishes = list(dict.fromkeys(pair.wish for pair in pairs))
    kinds = list(dict.fromkeys((pair.attack, pair.place, pair.wish) for pair in pairs))
    rows = []
    for auditor, own in by_auditor(verdicts).items():
        said = {verdict.trajectory_id: bool(verdict.faulty) for verdict in own if verdict.ok}
        for attack, place, wish in [*((EVERY, "", wish) for wish in wishes), *kinds]:
            some = [p for p in pairs if p.wish == wish and attack in (EVERY, p.attack) and place in ("", p.place)]
            how = Resampling(clustered([pair.group for pair in some]), resamples, seed, level, method)
            rows.append(_effect(auditor, (attack, place, wish), some, said, how))
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def _effect(
    auditor: str, kind: tuple[str, str, str], pairs: Sequence[Pair], said: Mapping[str, bool], how: Resampling
) -> Attacked:
    wanted = kind[2] == "faulty"
    both = np.array([pair.original in said and pair.copy in said for pair in pairs])
    before = np.array([said.get(pair.original) is wanted for pair in pairs])
    after = np.array([said.get(pair.copy) is wanted for pair in pairs])
    towards, away = how.estimates(
        [
            rate(after, both & ~before, "every original had the wished verdict already"),
            rate(~after, both & before, "no original had the wished verdict"),
        ]
    )
    _, shift, p_value = shifted(how, before, after, both, NO_PAIR)
    return Attacked(auditor, *kind, len(pairs), int((~both).sum()), towards, away, shift, p_value)
