"""The support desk: refund requests, seven tools, an eight-point procedure and six faults (testbed paper, section 3).

``generate`` makes labelled runs, ``check`` is the rule engine, ``witness`` proves the labels without the injector.
"""

from trajaudit.testbeds.support_desk.generator import generate

__all__ = ["generate"]
