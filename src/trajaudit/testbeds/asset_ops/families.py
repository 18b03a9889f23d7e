"""The oracle: how the scripted agents answer each family of questions, keeping the procedure.

They know the question and what tools have answered, and nothing of the instance behind them: a path comes from the
call that wrote the file, a code from the list of failure modes, a decision from the count that the detector returned.
That they break no rule and reach the expected answer on every family is computed by a test, not assumed.

What varies between healthy runs is what may: whether the assets of the site are listed first, whether a result is read
back, whether the answer says what it rests on, which services fail for a moment and whether a file has vanished.
"""

from __future__ import annotations

from collections.abc import Callable

from trajaudit.testbeds.asset_ops import data_families, work_families
from trajaudit.testbeds.asset_ops.instances import Instance
from trajaudit.testbeds.asset_ops.script import Script
from trajaudit.testbeds.replay import Call

_MAIN = {
    "asset_list": ("assets",),
    "sensor_list": ("sensors",),
    "statistic": ("stat",),
    "trend": ("trend",),
    "limit": ("limit",),
    "comparison": ("compare",),
    "anomalies": ("anomalies", "calm"),
    "forecast": ("forecast",),
    "inspection": ("anomalies", "calm", "decision", "created"),
    "failure_modes": ("modes",),
    "signs": ("mapping",),
    "detectable": ("detectable",),
    "order": ("created",),
    "bundling": ("bundled",),
    "events": ("events",),
    "no_asset": ("no_asset",),
    "no_sensor": ("no_sensor",),
    "no_data": ("no_data",),
    "no_service": (),
}
"""The claims that answer a family's question; that a tool failed or that there is no data is always worth saying."""


def oracle_script(it: Instance) -> list[Call]:
    """Return the oracle's calls for an instance."""
    script = Script(it)
    _FAMILIES[it.family](script)
    script.summary((*_MAIN[it.family], "failed", "no_data"))
    return script.calls


_FAMILIES: dict[str, Callable[[Script], None]] = {
    "asset_list": data_families.asset_list,
    "sensor_list": data_families.sensor_list,
    "statistic": data_families.one_week,
    "trend": data_families.one_week,
    "limit": data_families.one_week,
    "comparison": data_families.comparison,
    "anomalies": data_families.anomalies,
    "forecast": data_families.forecast,
    "inspection": work_families.inspection,
    "failure_modes": work_families.failure_modes,
    "signs": work_families.signs,
    "detectable": work_families.signs,
    "order": work_families.order,
    "bundling": work_families.bundling,
    "events": work_families.events,
    "no_asset": data_families.no_asset,
    "no_sensor": data_families.no_sensor,
    "no_data": data_families.no_data,
    "no_service": data_families.anomalies,
}
