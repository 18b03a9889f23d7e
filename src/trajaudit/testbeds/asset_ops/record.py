"""What a run has shown up to a step, as the witness keeps it, and whether a sentence about it is contradicted.

A sentence is contradicted where a call that it rests on showed another value, or where no call showed any: a reading
that was never taken is as false as a wrong one. Which history a statistic or a result is of follows from the path it
was worked out from.
"""

from __future__ import annotations

from typing import Any

from trajaudit._fields import dumps
from trajaudit.testbeds.asset_ops.readings import Reading
from trajaudit.trajectory import Step

Answer = dict[str, Any]


class Record:
    """The question and the answered calls so far."""

    def __init__(self, task: str) -> None:
        self.text = task
        self.answers: list[tuple[str, dict[str, Any], Any]] = []
        self.series: dict[str, tuple[str, str, str]] = {}
        self.results: set[str] = set()
        self.read_back = False

    def add(self, step: Step) -> None:
        """Take in a step; a call that failed has shown nothing."""
        action, answer = step.action, step.observation
        assert action is not None
        assert action.tool is not None
        assert action.args is not None
        if answer is None or (isinstance(answer, dict) and "error" in answer):
            return
        self.text += "\n" + dumps(answer)
        self.answers.append((action.tool, action.args, answer))
        if action.tool == "history":
            self.series[answer["file_path"]] = (action.args["assetnum"], action.args["sensor"], action.args["start"])
        if action.tool in ("tsfm_anomaly_detection", "tsfm_forecasting"):
            self.results.add(answer["file_path"])
        if action.tool == "jsonreader" and action.args["file_name"] in self.results:
            self.read_back = True

    def answered(self, tool: str) -> bool:
        return any(name == tool for name, _, _ in self.answers)

    def last(self, tool: str) -> Answer:
        """Return what the last answered call of a tool showed, empty where there was none."""
        return next((answer for name, _, answer in reversed(self.answers) if name == tool), {})

    def anomalies(self) -> int | None:
        return self.last("tsfm_anomaly_detection").get("total_anomalies")

    def shown(self, name: str) -> bool:
        """Return whether a name stands in the question or an observation, not as a part of a longer one."""
        start = self.text.find(name)
        while start >= 0:
            around = self.text[max(start - 1, 0) : start] + self.text[start + len(name) : start + len(name) + 1]
            if not any(character.isalnum() for character in around):
                return True
            start = self.text.find(name, start + 1)
        return False

    def contradicted(self, reading: Reading) -> object | None:
        """Return what a sentence states that is not as shown (so that repetitions are known), or None."""
        for slot, shown in self._premises(reading).items():
            if reading.slots[slot] != shown:
                return reading.slots[slot]
        return None

    def _of(self, tool: str, slots: dict[str, str]) -> Answer:
        """Return what a tool showed of the asset and week of a sentence; of any where it names none."""
        wanted = (slots.get("asset"), slots.get("week"))
        for name, args, answer in reversed(self.answers):
            path = args.get("file_name") or args.get("dataset_path")
            if name == tool and path in self.series:
                asset, _, week = self.series[path]
                if wanted[0] in (None, asset) and wanted[1] in (None, week):
                    return dict(answer)
        return {}

    def _premises(self, reading: Reading) -> dict[str, str | None]:
        """Return what the slots of a sentence have to hold; null where nothing was shown that could fill them."""
        slots = reading.slots
        match reading.kind:
            case "stat":
                return {"value": _reading(self._of("statistics", slots).get(slots["stat"]))}
            case "limit" | "side":
                return {"value": _reading(self._of("statistics", slots).get("mean"))}
            case "trend":
                days = self._of("statistics", slots).get("daily_means") or [None]
                return {"first": _reading(days[0]), "last": _reading(days[-1])}
            case "compare":
                other = self._of("statistics", {**slots, "asset": slots["other"]})
                return {"a": _reading(self._of("statistics", slots).get("mean")), "b": _reading(other.get("mean"))}
            case "forecast":
                return {"value": _reading(self._of("tsfm_forecasting", slots).get("forecast_mean"))}
            case "anomalies":
                return self._anomalies(reading)
            case "decision":
                return {"count": _count(self.anomalies())}
            case "created":
                order = self.last("create_work_order")
                return {"priority": _count(order.get("priority")), "code": order.get("failure_code")}
            case "events":
                log = self.last("get_events")
                shown = {"count": _count(log.get("total_events")), "alerts": _count(log.get("alerts"))}
                return {name: value for name, value in shown.items() if name in slots}
        return self._counts(reading)

    def _anomalies(self, reading: Reading) -> dict[str, str | None]:
        result = self._of("tsfm_anomaly_detection", reading.slots) if reading.group == "say" else {}
        result = result or (self.last("tsfm_anomaly_detection") if reading.group != "say" else {})
        premises = {"count": _count(result.get("total_anomalies"))}
        if "first" in reading.slots:
            times = [hour["time"] for hour in result.get("anomalies", ())]
            premises["first"] = times[0] if times else None
        return premises

    def _counts(self, reading: Reading) -> dict[str, str | None]:
        """Return the count of a list: assets of the site, sensors of an asset, open orders."""
        match reading.kind:
            case "listed" | "assets":
                return {"count": _count(self.last("assets").get("total_assets"))}
            case "sensors":
                return {"count": _count(self.last("sensors").get("total_sensors"))}
            case "orders":
                return {"count": _count(self.last("list_work_orders").get("total_open"))}
        return {}


def _reading(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def _count(value: int | None) -> str | None:
    return None if value is None else str(value)
