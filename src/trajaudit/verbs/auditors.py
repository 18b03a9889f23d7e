"""Which auditors read which runs, where no language model is asked.

Left to itself the choice is everything that fits: rules, conformance and the hybrid where the domain is known and they
ship for it, the claim checker always, trained detectors of the domain where their encoder is installed. An auditor that
is asked for by name is never left out in silence: what does not fit is an error that says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Json, nearest
from trajaudit.auditor import Judge, spec_hash
from trajaudit.config import ConfigError
from trajaudit.detectors.adapters import Adapter, encoder_of, read, shipped
from trajaudit.judges.claims import MODEL as CLAIM_SOURCES
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.judges.rules import RulesJudge
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.adapted import AdapterJudge, Relations
from trajaudit.verbs.domains import Domain
from trajaudit.verbs.free_auditors import FittedConformance, FreeHybrid
from trajaudit.verdict import Verdict

FREE = ("rules", "conformance", "claims", "hybrid")
Plan = list[tuple[Judge, list[Trajectory]]]


class Willing:
    """A judge that abstains from a run of another form than it can read, where it would otherwise raise."""

    def __init__(self, judge: Judge) -> None:
        self.inner, self.name = judge, judge.name
        self.spec: dict[str, Json] = judge.spec
        self._spec_hash = spec_hash(judge.spec)

    async def judge(self, trajectory: Trajectory) -> Verdict:
        try:
            return replace(await self.inner.judge(trajectory), spec_hash=self._spec_hash)
        except ValueError as error:
            hashed = trajectory.content_hash
            return Verdict(trajectory.id, hashed, self.name, self._spec_hash, status="abstain", detail=str(error))


def planned(groups: Sequence[tuple[Domain, list[Trajectory]]], names: Sequence[str] | None) -> Plan:
    """Return each auditor with the runs that it is asked about.

    Args:
        names: auditors by name, or folders of adapters; null for all that fit.

    Raises:
        ConfigError: an unknown auditor, or one that fits none of the runs.
    """
    if names is None:
        return [(judge, runs) for domain, runs in groups for judge in _fitting(domain)]
    plan: Plan = []
    for name in names:
        asked = [(judge, runs) for domain, runs in groups for judge in _named(name, domain)]
        if not asked:
            kinds = ", ".join(domain.name for domain, _ in groups)
            raise ConfigError(f"auditors: {name} knows none of these runs (domain: {kinds}); `domain=` says otherwise")
        plan += asked
    return plan


def _fitting(domain: Domain) -> list[Judge]:
    found = [judge for name in FREE for judge in _free(name, domain)]
    for adapter in domain.adapters:
        reason = _missing(adapter)
        if reason is None:
            found.append(AdapterJudge(adapter=str(adapter.folder)))
        else:
            print(f"left out: {adapter.name} ({reason})", file=sys.stderr)
    return found


def _free(name: str, domain: Domain) -> list[Judge]:
    """Return a free auditor for a domain, nothing where it has none."""
    models = domain.free_auditors
    if name == "claims":
        sources = None if models is None else str(models / CLAIM_SOURCES)
        return [ClaimsJudge(domain.taxonomy, domain.standing_claims, sources=sources)]
    if name == "rules":
        return [] if domain.check is None else [Willing(RulesJudge(domain.check))]
    if models is None or domain.check is None:
        return []
    if name == "conformance":
        return [FittedConformance(domain.taxonomy, models=str(models))]
    return [Willing(FreeHybrid(domain.check, domain.taxonomy, domain.standing_claims, models=str(models)))]


def _named(name: str, domain: Domain) -> list[Judge]:
    """Return the auditor of that name for a domain; an adapter that is asked for reads runs of every domain."""
    if name in FREE:
        return _free(name, domain)
    known = {one.name: one for one in shipped() if one.facts.kind != "free_auditors"}
    if name not in known and not Path(name).is_dir():
        every = [*FREE, *known]
        hint = nearest(name, every)
        raise ConfigError(
            f"auditors: no such auditor {name!r}{hint}; known: {', '.join(every)}, or an adapter's folder"
        )
    adapter = read(name)
    if adapter.facts.kind == "entailment":
        model = Relations(adapter)
        return [ClaimsJudge(domain.taxonomy, domain.standing_claims, entailment=model, name=adapter.name)]
    return [AdapterJudge(adapter=name)]


def _missing(adapter: Adapter) -> str | None:
    """Return why the encoder of an adapter cannot be loaded offline, null where it can."""
    try:
        encoder = encoder_of(adapter)
    except (FileNotFoundError, ValueError) as error:
        return str(error)
    return None if encoder.folder is not None else f"its encoder {encoder.weights!r} comes from a network"
