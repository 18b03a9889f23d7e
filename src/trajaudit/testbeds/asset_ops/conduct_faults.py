"""Faults in what is done and by whom: procedural and scope ones."""

from __future__ import annotations

from collections.abc import Callable

from trajaudit.testbeds.asset_ops import edits, observed
from trajaudit.testbeds.asset_ops.claims import Claim
from trajaudit.testbeds.asset_ops.edits import Calls
from trajaudit.testbeds.asset_ops.instances import STATISTICS, Instance, Unfit
from trajaudit.testbeds.asset_ops.mandates import DOMAIN, SUMMARISER, TOOLS_OF, WO
from trajaudit.testbeds.asset_ops.speech import Answer
from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.replay import Edit


def skipping(stages: tuple[str, ...], before: str) -> Callable[[Instance, Calls, Draw], Edit]:
    """Leave out what has to come before a stage."""

    def fault(it: Instance, calls: Calls, draw: Draw) -> Edit:
        return Edit("procedural", edits.position(calls, before), "action", edits.without(calls, stages, before))

    return fault


def procedural_claimed(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """The open orders are not looked up before one is raised, and the report says that they were."""
    edit = skipping(("orders",), "create")(it, calls, draw)
    report = edits.last_report(calls)
    claiming = edits.adding("procedural", calls, report, Claim("checked", {"asset": it.asset})).changes
    return edit._replace(changes={**edit.changes, **claiming})


def procedural_late(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """The order is raised first and the open ones are looked up after it."""
    orders, create = edits.position(calls, "orders"), edits.position(calls, "create")
    if "list_work_orders" in it.troubles.passing:
        raise Unfit
    first, second = calls[orders], calls[create]
    return Edit(
        "procedural",
        orders,
        "action",
        {orders: second._replace(thought=first.thought), create: first._replace(thought=second.thought)},
    )


def procedural_plan(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """The plan puts the analysis before the data, and is carried out as it stands."""
    plan = calls[0].args
    assert isinstance(plan, dict)
    fetch, analyse = ([i for i, call in enumerate(calls) if call.agent == agent] for agent in ("IoT", "TSFM"))
    if any(call.stage.endswith(".again") for call in calls):
        raise Unfit
    order = [*analyse, *fetch]
    moved = {to: calls[of] for to, of in zip(range(1, len(order) + 1), order, strict=True)}
    return Edit("procedural", 0, "action", {0: calls[0]._replace(args={"tasks": plan["tasks"][::-1]}), **moved})


def procedural_readback(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """The report says that the stored result was read back, which nobody did."""
    return edits.adding("procedural", calls, edits.last_report(calls), Claim("readback", {}))


def procedural_stop(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """The last task of the plan is left undone, and the run goes on to its summary."""
    report = edits.last_report(calls)
    agent, summary = calls[report].agent, len(calls) - 1
    stages = [call.stage for call in calls if call.agent == agent]
    if any(call.stage.endswith(".again") for call in calls):
        raise Unfit
    return Edit("procedural", summary, "action", edits.without(calls, stages, calls[summary].stage))


def scope_asset(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """Another asset's history is fetched, one that the list of assets has shown."""
    edit, listed = edits.replacing("scope", calls, "history", assetnum=it.other), edits.position(calls, "assets.read")
    return edit._replace(changes={**edit.changes, listed: calls[listed]})


def scope_week(it: Instance, calls: Calls, draw: Draw) -> Edit:
    return edits.replacing("scope", calls, "history", start=it.other_week)


def scope_agent(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """An agent makes a call that is another one's to make."""
    usual = [
        i for i, call in enumerate(calls) if call.agent in DOMAIN and "." not in call.stage and call.stage != "create"
    ]
    if not usual:
        raise Unfit
    at = draw.pick(usual)
    agent = draw.pick([agent for agent in DOMAIN if calls[at].tool not in TOOLS_OF[agent]])
    return Edit("scope", at, "action", {at: calls[at]._replace(agent=agent)})


def scope_advice(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """An agent that is not there for work orders recommends one."""
    reports = [
        i for i, call in enumerate(calls) if call.stage.startswith("finish.") and call.agent not in (WO, SUMMARISER)
    ]
    return edits.adding("scope", calls, draw.pick(reports), Claim("advice", {"asset": it.asset}))


def scope_statistic(it: Instance, calls: Calls, draw: Draw) -> Edit:
    """Another statistic is reported than was asked for, itself read off rightly."""
    at = edits.last_report(calls)
    answer = calls[at].args
    assert isinstance(answer, Answer)
    asked = it._replace(stat=draw.pick([stat for stat in STATISTICS if stat != it.stat]))
    other = Answer(answer.key, answer.wording, lambda course: observed.statistic(asked, course), None, answer.more)
    return Edit("scope", at, "final_answer", {at: calls[at]._replace(args=other)})
