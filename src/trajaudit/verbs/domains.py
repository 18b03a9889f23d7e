"""Whose runs are these? What an auditor without a language model knows is a domain's tools, so they decide.

A run belongs to a domain where every one of its steps calls a tool of that domain. A run that calls anything else, or
acts in free text, belongs to none: its claims can still be held against its observations, and nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trajaudit._fields import nearest
from trajaudit.config import ConfigError
from trajaudit.dataset import Procedure
from trajaudit.detectors.adapters import Adapter, shipped
from trajaudit.taxonomy import SUPPORT_DESK, TRAJEL, Taxonomy
from trajaudit.testbeds.asset_ops.mandates import TOOLS_OF
from trajaudit.testbeds.asset_ops.rules import check as asset_ops_rules
from trajaudit.testbeds.support_desk.rules import check as support_desk_rules
from trajaudit.testbeds.support_desk.world import TOOLS
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.free_auditors import Check


@dataclass(frozen=True)
class Domain:
    """A domain: its tools, what its runs are told apart by, its procedure, and the rule engine that knows it."""

    name: str
    tools: frozenset[str]
    taxonomy: Taxonomy
    procedure: str
    check: Check | None

    def holds(self, run: Trajectory) -> bool:
        """Return whether every step of a run calls a tool of the domain."""
        return all(step.action is not None and step.action.tool in self.tools for step in run.steps)

    @property
    def standing_claims(self) -> tuple[str, ...]:
        return Procedure.named(self.procedure).standing_claims

    @property
    def free_auditors(self) -> Path | None:
        """The folder of the conformance model and hybrid that ship for the domain, null where none do."""
        return next((one.folder for one in shipped() if self._fits(one, "free_auditors")), None)

    @property
    def adapters(self) -> list[Adapter]:
        """The trained detectors that ship for the domain."""
        return [one for one in shipped() if self._fits(one, "detector")]

    def _fits(self, adapter: Adapter, kind: str) -> bool:
        return adapter.facts.kind == kind and adapter.facts.domain == self.name


_PLANT = frozenset(tool for tools in TOOLS_OF.values() for tool in tools)
DOMAINS = {
    domain.name: domain
    for domain in (
        Domain("support_desk", frozenset(TOOLS), SUPPORT_DESK, "support_desk_standing", support_desk_rules),
        Domain("asset_ops", _PLANT, TRAJEL, "asset_ops", asset_ops_rules),
    )
}
OTHER = Domain("other", frozenset(), TRAJEL, "industrial_agents", None)
"""Runs of no known domain; Trajel's types of hallucination are spoken of no domain in particular."""


def by_domain(runs: Sequence[Trajectory], domain: str | None) -> dict[str, tuple[Domain, list[Trajectory]]]:
    """Return the runs by domain, in order of first appearance.

    Args:
        domain: the name of one, where it is not to be told by the tools.

    Raises:
        ConfigError: no such domain.
    """
    known = {**DOMAINS, OTHER.name: OTHER}
    if domain is not None and domain not in known:
        raise ConfigError(f"domain: unknown domain {domain!r}{nearest(domain, known)}; known: {', '.join(known)}")
    found: dict[str, tuple[Domain, list[Trajectory]]] = {}
    for run in runs:
        fitting = (one for one in DOMAINS.values() if one.holds(run))
        own = known[domain] if domain is not None else next(fitting, OTHER)
        found.setdefault(own.name, (own, []))[1].append(run)
    return found
