"""The tools of FSMR and WO: failure modes and the sensors that show them, events, and work orders.

Each takes the state of the run and the arguments of a call, and returns the observation.
"""

from __future__ import annotations

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.catalogue import CODES, class_of
from trajaudit.testbeds.asset_ops.services import Services, error
from trajaudit.testbeds.asset_ops.site import events_of, orders_of
from trajaudit.testbeds.draw import opaque
from trajaudit.testbeds.replay import Arguments


def failure_modes(run: Services, args: Arguments) -> Json:
    kind = class_of(args["asset_name"])
    if kind is None:
        return error(f"no failure modes are known of {args['asset_name']!r}")
    modes = [{"failure_mode": mode.name, "code": mode.code} for mode in kind.modes]
    return {"asset_name": args["asset_name"], "failure_modes": modes}


def mapping(run: Services, args: Arguments) -> Json:
    """Map each failure mode asked about to those of the sensors given that show it, and how."""
    kind = class_of(args["asset_name"])
    known = {mode.name: mode for mode in kind.modes} if kind else {}
    sensors = args["sensors"]
    mapping = {
        name: {sensor: change for sensor, change in known[name].signs if sensor in sensors} if name in known else {}
        for name in args["failure_modes"]
    }
    return {"asset_name": args["asset_name"], "mapping": mapping}


def events(run: Services, args: Arguments) -> Json:
    asset, start = args["assetnum"], args["start"]
    events = list(events_of(run.world, args["site_name"], asset, start))
    alerts = sum(event["kind"] == "alert" for event in events)
    return {"assetnum": asset, "start": start, "total_events": len(events), "alerts": alerts, "events": events}


def orders(run: Services, args: Arguments) -> Json:
    orders = [order._asdict() for order in orders_of(run.world, args["site_name"], args["assetnum"])]
    return {"assetnum": args["assetnum"], "total_open": len(orders), "work_orders": orders}


def create(run: Services, args: Arguments) -> Json:
    """Raise an order. Any asset, code and priority will do."""
    order = {name: args[name] for name in ("site_name", "assetnum", "failure_code", "priority", "description")}
    run.created.append(order)
    known = CODES.get(order["failure_code"])
    digits = int(opaque(f"{run.key}|order|{len(run.created)}"), 16)
    return {
        "wo_id": f"WO-{10_000 + digits % 90_000}",
        "assetnum": order["assetnum"],
        "status": "open",
        "failure_code": order["failure_code"],
        "failure_mode": known.name if known else None,
        "priority": order["priority"],
    }


def bundle(run: Services, args: Arguments) -> Json:
    orders = list(args["work_orders"])
    run.bundles.append(orders)
    digits = int(opaque(f"{run.key}|bundle|{len(run.bundles)}"), 16)
    return {"bundle_id": f"WB-{1_000 + digits % 9_000}", "work_orders": orders}
