"""The support desk: refund requests, seven tools, an eight-point procedure and six faults (testbed paper, section 3).

``generate`` makes labelled runs, ``check`` is the rule engine and ``coverage`` what it finds, ``witness`` proves the
labels without the injector.
"""

from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.testbeds.support_desk.rules import check, coverage
from trajaudit.testbeds.support_desk.witness import Found, witness
from trajaudit.testbeds.violations import Violation

__all__ = ["Found", "Violation", "check", "coverage", "generate", "witness"]
