"""The plant: histories that are the same whenever asked for, and tools that are faithful and permissive."""

from __future__ import annotations

from statistics import fmean

import pytest

from trajaudit._fields import dumps
from trajaudit.testbeds.asset_ops import Plant, Troubles, tool_specs
from trajaudit.testbeds.asset_ops.catalogue import CLASSES, MODES, SENSORS, class_of
from trajaudit.testbeds.asset_ops.histories import HOURS, Week, history
from trajaudit.testbeds.asset_ops.mandates import MANDATES, TOOLS_OF
from trajaudit.testbeds.asset_ops.site import assets_of, sensors_of
from trajaudit.testbeds.asset_ops.world import TOOLS, UNAVAILABLE

SITE = "MAIN"
ASSET = assets_of("7", SITE)[0]
SENSOR = sensors_of("7", SITE, ASSET)[0]
PLACE = {"site_name": SITE, "assetnum": ASSET}
MONDAY = "2020-04-27"


def fetched(plant: Plant, **args: object) -> dict:
    return plant.call("history", {**PLACE, "sensor": SENSOR, "start": MONDAY, **args})


def test_a_history_depends_on_its_name_and_week_alone():
    first = history("7|MAIN", "Pump 3", "Flow Rate", MONDAY)
    history.cache_clear()
    assert history("7|MAIN", "Pump 3", "Flow Rate", MONDAY) == first
    assert history("7|MAIN", "Pump 3", "Flow Rate", "2020-05-04") != first
    assert history("8|MAIN", "Pump 3", "Flow Rate", MONDAY) != first


def test_a_week_by_hand():
    week = Week((100,) * 24 * 6 + (170,) * 24)
    assert week.daily == (100, 100, 100, 100, 100, 100, 170)
    assert week.mean == 110
    assert week.forecast() == tuple(day + 81 for day in week.daily)  # (170 - 100) * 7 / 6 = 81.67, cut


def test_the_detector_finds_an_hour_that_is_off_and_no_other():
    values = [1000 + 50 * (hour % 24) + hour % 3 for hour in range(HOURS)]
    assert Week(tuple(values)).anomalies == ()
    values[77] += 400
    assert Week(tuple(values)).anomalies == (77,)


def test_histories_have_a_daily_load_a_drift_and_none_to_five_anomalies():
    counts = set()
    for number in range(1, 41):
        week = history("w", f"Chiller {number}", "Power Input", MONDAY)
        counts.add(len(week.anomalies))
        usual = [value for hour, value in enumerate(week.values) if hour not in week.anomalies]
        noons = [v for h, v in enumerate(week.values) if h % 24 == 12 and h not in week.anomalies]
        nights = [v for h, v in enumerate(week.values) if h % 24 == 3 and h not in week.anomalies]
        assert fmean(noons) > fmean(usual) > fmean(nights)
    assert counts == {0, 1, 2, 3, 4, 5}


def test_every_sign_of_a_failure_is_a_sensor_of_its_class():
    for kind in CLASSES.values():
        names = {sensor.name for sensor in kind.sensors}
        assert all(sensor in names for mode in kind.modes for sensor, _ in mode.signs)
    assert len(MODES) == len({mode.code for mode in MODES.values()})
    assert class_of("Boiler 3") is None


def test_an_answer_with_much_data_is_a_file_that_can_be_read():
    plant = Plant("7", "run")
    listed = plant.call("sensors", PLACE)
    assert plant.call("jsonreader", {"file_name": listed["file_path"]}) == list(sensors_of("7", SITE, ASSET))
    rows = plant.call("jsonreader", {"file_name": fetched(plant)["file_path"]})
    assert (rows["column"], rows["total_rows"], len(rows["first_rows"])) == (SENSOR, HOURS, 6)


def test_statistics_forecast_and_anomalies_are_those_of_the_history():
    plant = Plant("7", "run")
    path = fetched(plant)["file_path"]
    week = history("7|MAIN", ASSET, SENSOR, MONDAY)
    shown = plant.call("statistics", {"file_name": path, "column": SENSOR})
    assert (shown["mean"], shown["maximum"]) == (week.mean / 100, max(week.values) / 100)
    assert shown["unit"] == SENSORS[SENSOR].unit
    target = {"dataset_path": path, "target_column": SENSOR}
    assert plant.call("tsfm_anomaly_detection", target)["total_anomalies"] == len(week.anomalies)
    forecast = plant.call("tsfm_forecasting", {**target, "model_checkpoint": "ttm_96_28"})
    assert forecast["forecast_daily_means"] == [day / 100 for day in week.forecast()]


@pytest.mark.parametrize("args", [{"assetnum": "Chiller 99"}, {"sensor": "Tonnes"}, {"start": "1999-01-04"}])
def test_what_was_never_recorded_gives_a_file_without_rows(args: dict):
    plant = Plant("7", "run")
    answer = fetched(plant, **args)
    assert answer["total_observations"] == 0
    column = answer["sensor"]
    assert "no rows" in plant.call("statistics", {"file_name": answer["file_path"], "column": column})["error"]


def test_a_file_that_nobody_wrote_cannot_be_read():
    missing = Plant("7", "run").call("jsonreader", {"file_name": "/tmp/cbmdir/0.json"})
    assert missing == {"error": "[Errno 2] No such file or directory: '/tmp/cbmdir/0.json'"}


def test_a_model_that_needs_more_rows_than_a_week_has_is_refused():
    plant = Plant("7", "run")
    args = {"dataset_path": fetched(plant)["file_path"], "target_column": SENSOR, "model_checkpoint": "ttm_512_96"}
    assert plant.call("tsfm_forecasting", args) == {"error": "ttm_512_96: needs 512 rows, the file has 168"}


def test_any_order_is_raised_unchecked_and_stands_among_the_open_ones_afterwards():
    plant = Plant("7", "run")
    before = plant.call("list_work_orders", PLACE)["total_open"]
    made = plant.call("create_work_order", {**PLACE, "failure_code": "XX", "priority": 9, "description": "why not"})
    after = plant.call("list_work_orders", PLACE)
    assert after["total_open"] == before + 1
    assert after["work_orders"][-1]["wo_id"] == made["wo_id"]


def test_troubles_pass_last_or_take_the_first_file():
    plant = Plant("7", "run", Troubles(frozenset({"sensors"}), frozenset({"tsfm_models"}), purged=True))
    assert plant.call("sensors", PLACE) == {"error": f"sensors: {UNAVAILABLE}"}
    assert "error" not in plant.call("sensors", PLACE)
    assert [plant.call("tsfm_models", {}) for _ in range(3)] == [{"error": f"tsfm_models: {UNAVAILABLE}"}] * 3
    gone, there = fetched(plant)["file_path"], fetched(plant)["file_path"]
    assert gone != there
    assert "error" in plant.call("jsonreader", {"file_name": gone})
    assert "error" not in plant.call("jsonreader", {"file_name": there})


WILD = (None, True, 3, -1.5, "", "MAIN", "2020-13-45", "2020-04-27", [], [None], [["MAIN"]], {"a": []})
GOOD = {**PLACE, "sensor": SENSOR, "start": MONDAY, "column": SENSOR, "target_column": SENSOR, "asset_name": ASSET}


@pytest.mark.parametrize("tool", [*TOOLS, "drop_tables"])
def test_no_call_whatever_its_arguments_raises(tool: str):
    keys = sorted({key for a in MANDATES for s in tool_specs(a) for key in s["function"]["parameters"]["properties"]})
    plant = Plant("7", "run")
    good = {**GOOD, "file_name": fetched(plant)["file_path"], "dataset_path": fetched(plant)["file_path"]}
    for value in WILD:
        dumps(plant.call(tool, dict.fromkeys(keys, value)))
        for key in keys:
            dumps(plant.call(tool, {**dict.fromkeys(keys, "x"), **good, key: value}))


def test_every_tool_has_an_agent_and_a_schema_that_asks_for_all_it_needs():
    assert {tool for tools in TOOLS_OF.values() for tool in tools} == set(TOOLS)
    assert TOOLS_OF.keys() == MANDATES.keys()
    for agent in MANDATES:
        for spec in tool_specs(agent):
            schema = spec["function"]["parameters"]
            assert schema["required"] == list(schema["properties"])
            bare = Plant("7", "run").call(spec["function"]["name"], {})
            assert not schema["required"] or "is required" in bare["error"]
