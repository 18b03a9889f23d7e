"""The faults of the plant as edits of the oracle's calls, which the shared injector replays.

An edit changes what an agent does or states at one step; all that follows is worked out anew, so that data of the wrong
chiller lead to an honest report about that chiller, and a file that was never there to a second attempt. Where a call
is left out, its thought is said with a neighbouring one, as an agent does that means to check and does not; where two
calls change places, their thoughts stay. So the thoughts of a faulty run are those of its clean twin wherever the fault
is not itself a thought.
"""

from __future__ import annotations

from collections.abc import Callable

from trajaudit.testbeds.asset_ops import conduct_faults, content_faults
from trajaudit.testbeds.asset_ops.edits import Calls
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.variants import Variant
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Edit


def edit_for(variant: Variant, it: Instance, calls: Calls, draw: Draw) -> Edit:
    """Return the edit that puts a variant into the oracle's calls.

    Raises:
        Unfit: where this script offers nothing to edit.
    """
    return _FAULTS[variant.name](it, calls, draw)


_FAULTS: dict[str, Callable[[Instance, Calls, Draw], Edit]] = {
    "factual.thought": content_faults.factual_thought,
    "factual.report": content_faults.factual_report,
    "factual.summary": content_faults.factual_summary,
    "factual.description": content_faults.factual_description,
    "referential.thought": content_faults.referential_thought,
    "referential.report": content_faults.referential_report,
    "referential.summary": content_faults.referential_summary,
    "referential.file": content_faults.referential_file,
    "referential.readback": content_faults.referential_readback,
    "referential.sensor": content_faults.referential_sensor,
    "referential.model": content_faults.referential_model,
    "logical.thought": content_faults.logical_thought,
    "logical.report": content_faults.logical_report,
    "logical.summary": content_faults.logical_summary,
    "logical.decision": content_faults.logical_decision,
    "logical.selection": content_faults.logical_selection,
    "procedural.sensors": conduct_faults.skipping(("sensors", "sensors.read"), "history"),
    "procedural.models": conduct_faults.skipping(("models",), "forecast"),
    "procedural.modes": conduct_faults.skipping(("modes",), "mapping"),
    "procedural.orders": conduct_faults.skipping(("orders",), "create"),
    "procedural.claimed": conduct_faults.procedural_claimed,
    "procedural.late": conduct_faults.procedural_late,
    "procedural.plan": conduct_faults.procedural_plan,
    "procedural.readback": conduct_faults.procedural_readback,
    "procedural.stop": conduct_faults.procedural_stop,
    "scope.asset": conduct_faults.scope_asset,
    "scope.week": conduct_faults.scope_week,
    "scope.agent": conduct_faults.scope_agent,
    "scope.advice": conduct_faults.scope_advice,
    "scope.statistic": conduct_faults.scope_statistic,
}
