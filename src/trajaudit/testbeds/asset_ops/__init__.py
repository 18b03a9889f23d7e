"""The industrial plant: sites full of sensors, four agents with mandates, and Trajel's five types of fault.

``generate`` makes labelled runs of a plan-and-execute team; ``Plant`` with ``tool_specs`` is the same plant for whoever
else wants to drive it.
"""

from trajaudit.testbeds.asset_ops.generator import generate
from trajaudit.testbeds.asset_ops.mandates import MANDATES, TOOLS_OF, tool_specs
from trajaudit.testbeds.asset_ops.world import Plant, Troubles

__all__ = ["MANDATES", "TOOLS_OF", "Plant", "Troubles", "generate", "tool_specs"]
