"""The industrial plant: sites full of sensors, four agents with mandates, and Trajel's five types of fault.

``generate`` makes labelled runs of a plan-and-execute team, ``check`` is the rule engine and ``coverage`` what it
finds, ``witness`` proves the labels without the injector. ``Plant`` with ``tool_specs`` is the same plant for whoever
else makes real tool calls.
"""

from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.testbeds.asset_ops.mandates import MANDATES, TOOLS_OF, tool_specs
from trajaudit.testbeds.asset_ops.rules import check, coverage
from trajaudit.testbeds.asset_ops.witness import Found, witness
from trajaudit.testbeds.asset_ops.world import Plant, Troubles
from trajaudit.testbeds.violations import Violation

__all__ = [
    "MANDATES",
    "TOOLS_OF",
    "Found",
    "Plant",
    "Troubles",
    "Violation",
    "check",
    "coverage",
    "generate",
    "tool_specs",
    "witness",
]
