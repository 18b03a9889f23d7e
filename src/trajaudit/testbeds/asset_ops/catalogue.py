"""What the plant is made of: classes of assets with their sensors and failure modes, and the names of sites.

Every number is an integer in hundredths of the sensor's unit, so that no history, statistic or forecast depends on a
platform's floating point. Names of sensors say what is measured and not which asset it sits on; the same name on two
assets is two sensors.
"""

from __future__ import annotations

from typing import NamedTuple


class Sensor(NamedTuple):
    """A kind of sensor: its unit, its usual level and how far load moves it over a day (both in hundredths)."""

    name: str
    unit: str
    level: int
    swing: int


class FailureMode(NamedTuple):
    """A way to fail: the code that work orders use for it, and the sensors that show it, each rising or falling."""

    name: str
    code: str
    signs: tuple[tuple[str, str], ...]


class AssetClass(NamedTuple):
    name: str
    sensors: tuple[Sensor, ...]
    modes: tuple[FailureMode, ...]


CHILLER = AssetClass(
    "Chiller",
    (
        Sensor("Tonnage", "tons", 34_000, 9_000),
        Sensor("Power Input", "kW", 21_500, 6_000),
        Sensor("Condenser Water Flow", "gpm", 98_000, 9_000),
        Sensor("Chilled Water Supply Temperature", "degF", 4_450, 260),
        Sensor("Chilled Water Return Temperature", "degF", 5_420, 420),
        Sensor("Condenser Approach Temperature", "degF", 640, 90),
        Sensor("Evaporator Pressure", "psi", 3_910, 300),
        Sensor("Percent Loaded", "pct", 6_100, 1_700),
        Sensor("Compressor Discharge Temperature", "degF", 11_800, 1_500),
    ),
    (
        FailureMode(
            "compressor overheating",
            "CH-OVH",
            (("Compressor Discharge Temperature", "rises"), ("Power Input", "rises")),
        ),
        FailureMode(
            "evaporator tube fouling",
            "CH-EVF",
            (("Evaporator Pressure", "drops"), ("Chilled Water Supply Temperature", "rises")),
        ),
        FailureMode(
            "condenser tube fouling",
            "CH-CNF",
            (("Condenser Approach Temperature", "rises"), ("Power Input", "rises")),
        ),
        FailureMode(
            "insufficient condenser flow",
            "CH-LCF",
            (("Condenser Water Flow", "drops"), ("Condenser Approach Temperature", "rises")),
        ),
        FailureMode("refrigerant loss", "CH-REF", (("Evaporator Pressure", "drops"), ("Tonnage", "drops"))),
        FailureMode(
            "stuck capacity vane",
            "CH-VAN",
            (("Percent Loaded", "drops"), ("Chilled Water Return Temperature", "rises")),
        ),
    ),
)
AIR_HANDLER = AssetClass(
    "AHU",
    (
        Sensor("Supply Air Temperature", "degC", 1_480, 160),
        Sensor("Return Air Temperature", "degC", 2_310, 210),
        Sensor("Mixed Air Temperature", "degC", 1_960, 240),
        Sensor("Supply Fan Speed", "rpm", 94_000, 12_000),
        Sensor("Filter Pressure Drop", "Pa", 17_800, 2_600),
        Sensor("Cooling Valve Position", "pct", 4_700, 1_800),
        Sensor("Fan Motor Power", "kW", 1_840, 420),
        Sensor("Duct Static Pressure", "Pa", 31_000, 3_400),
    ),
    (
        FailureMode("clogged filter", "AH-FLT", (("Filter Pressure Drop", "rises"), ("Fan Motor Power", "rises"))),
        FailureMode("slipping fan belt", "AH-BLT", (("Supply Fan Speed", "drops"), ("Duct Static Pressure", "drops"))),
        FailureMode(
            "leaking cooling valve",
            "AH-VLV",
            (("Supply Air Temperature", "drops"), ("Cooling Valve Position", "drops")),
        ),
        FailureMode(
            "jammed outdoor damper",
            "AH-DMP",
            (("Mixed Air Temperature", "rises"), ("Return Air Temperature", "rises")),
        ),
        FailureMode("worn fan bearing", "AH-BRG", (("Fan Motor Power", "rises"), ("Supply Fan Speed", "drops"))),
    ),
)
PUMP = AssetClass(
    "Pump",
    (
        Sensor("Discharge Pressure", "kPa", 41_500, 3_600),
        Sensor("Suction Pressure", "kPa", 12_200, 1_100),
        Sensor("Flow Rate", "l/s", 6_350, 900),
        Sensor("Casing Vibration", "mm/s", 290, 45),
        Sensor("Bearing Temperature", "degC", 5_840, 640),
        Sensor("Motor Current", "A", 4_270, 700),
        Sensor("Seal Water Flow", "l/s", 410, 60),
    ),
    (
        FailureMode("impeller wear", "PU-IMP", (("Discharge Pressure", "drops"), ("Flow Rate", "drops"))),
        FailureMode("cavitation", "PU-CAV", (("Suction Pressure", "drops"), ("Casing Vibration", "rises"))),
        FailureMode("dry bearing", "PU-BRG", (("Bearing Temperature", "rises"), ("Casing Vibration", "rises"))),
        FailureMode("leaking shaft seal", "PU-SEA", (("Seal Water Flow", "rises"), ("Discharge Pressure", "drops"))),
        FailureMode("winding overload", "PU-WND", (("Motor Current", "rises"), ("Bearing Temperature", "rises"))),
    ),
)
CLASSES = {kind.name: kind for kind in (CHILLER, AIR_HANDLER, PUMP)}
SENSORS = {sensor.name: sensor for kind in CLASSES.values() for sensor in kind.sensors}
MODES = {mode.name: mode for kind in CLASSES.values() for mode in kind.modes}
CODES = {mode.code: mode for mode in MODES.values()}

SITES = (
    *("MAIN", "NORTHGATE", "HARBOR", "LAKESIDE", "FOUNDRY", "CAMPUS", "RIVERBEND", "HILLTOP", "DEPOT", "MERIDIAN"),
    *("ORCHARD", "QUAYSIDE", "SUMMIT", "TERMINAL", "UNION", "WESTPARK", "ARSENAL", "BRIDGEND", "COLLIERY", "DOCKS"),
)
CHECKPOINTS = (("ttm_96_28", 96), ("ttm_energy_96_28", 96), ("ttm_512_96", 512))
"""Pretrained forecasting models with the number of hourly rows that each needs; a week has 168."""


def class_of(asset: str) -> AssetClass | None:
    """Return the class that an asset's name begins with, or None.

    >>> class_of("Chiller 6").name
    'Chiller'
    """
    return CLASSES.get(asset.partition(" ")[0])
