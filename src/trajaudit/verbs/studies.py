"""What verdicts allow beyond a scorecard: variants of one prompt, runs under attack, doubt that may foretell error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import TypedDict

from trajaudit.analysis.attacks import attack_effects
from trajaudit.analysis.stability import Stability, opinions, stability
from trajaudit.analysis.uncertainty import failure_prediction
from trajaudit.judges.variant import default_name
from trajaudit.reports.stress_tables import attack_table, stability_tables, uncertainty_table
from trajaudit.reports.table import Table
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.stats import Stats
from trajaudit.verdict import Verdict


class _Intervals(TypedDict):
    """What of the statistics is about intervals: there is no reference to compare with here."""

    resamples: int
    seed: int
    level: float
    method: str


def studies(trajectories: Sequence[Trajectory], verdicts: Sequence[Verdict], stats: Stats) -> list[Table]:
    """Return the tables of the studies that these verdicts allow; none where they allow none. No label is needed.

    Wordings are compared on runs as they are; attacked copies have a table of their own.
    """
    told = _Intervals(resamples=stats["resamples"], seed=stats["seed"], level=stats["level"], method=stats["method"])
    plain = [run for run in trajectories if "attack" not in run.source.meta]
    tables: list[Table] = []
    if variants := list(_stabilities(plain, verdicts, told)):
        tables += stability_tables(variants)
    if effects := attack_effects(trajectories, verdicts, **told):
        tables.append(attack_table(effects))
    if rows := failure_prediction(plain, verdicts, **told):
        tables.append(uncertainty_table(rows))
    return tables


def _stabilities(
    trajectories: Sequence[Trajectory], verdicts: Sequence[Verdict], told: _Intervals
) -> Iterator[Stability]:
    """Yield a comparison for each judge that has verdicts under its default wording and under another."""
    types, said = opinions(trajectories, verdicts)
    families: dict[str, list[str]] = {}
    for name in said:
        families.setdefault(default_name(name), []).append(name)
    groups = [run.group for run in trajectories]
    for default, names in families.items():
        if default in said and len(names) > 1:
            ordered = {name: said[name] for name in [default, *sorted(name for name in names if name != default)]}
            yield stability(groups, ordered, default, types, **told)
