"""How numbers are printed: one place, so that a figure in the README, in LaTeX and on the page is the same text.

Three decimals for rates, as the testbed paper prints them. Rounding is Python's own (the exact binary value, ties to
even), which is what published tables of this field use; ``ledger.same`` accepts the other habit too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from trajaudit.analysis.result import Denominator, Estimate


def rate(value: float) -> str:
    """Return a rate, score or probability at three decimals; an integer stays an integer; zero has no sign.

    >>> rate(0.42857), rate(-0.0001), rate(50)
    ('0.429', '0.000', '50')
    """
    if isinstance(value, int):
        return count(value)
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text


def count(value: float) -> str:
    """Return a number of things, in thousands.

    >>> count(12345), count(1200.4)
    ('12,345', '1,200')
    """
    return f"{value:,.0f}"


def difference(value: float) -> str:
    """Return a difference of rates with its sign.

    >>> difference(0.337), difference(-0.0001)
    ('+0.337', '0.000')
    """
    text = rate(float(value))
    return text if text == "0.000" or value < 0 else f"+{text}"


def seconds(value: float) -> str:
    """Return seconds at a resolution that a reader can use; a time too small to print is not printed as zero.

    >>> seconds(30.21), seconds(0.0421), seconds(0.00002), seconds(0)
    ('30.2', '0.042', '<0.001', '0')
    """
    if value == 0:
        return "0"
    if value < 0.001:
        return "<0.001"
    return f"{value:.3f}" if value < 1 else f"{value:,.1f}"


def usd(value: float) -> str:
    """Return US dollars: cents where there are some, else two digits that are not zero.

    >>> usd(0), usd(1.5), usd(0.00042), usd(1e-9)
    ('0', '1.50', '0.00042', '<0.000001')
    """
    if value == 0:
        return "0"
    if value < 0.000001:
        return "<0.000001"
    return f"{value:,.2f}" if value >= 0.1 else f"{value:.{1 - math.floor(math.log10(value))}f}"


def ratio(value: float) -> str:
    """Return a multiple.

    >>> ratio(1), ratio(29.31), ratio(412345.6)
    ('×1.0', '×29.3', '×412,346')
    """
    return f"×{value:,.1f}" if value < 1000 else f"×{value:,.0f}"


def p_value(value: float) -> str:
    """Return a p-value at three decimals, never as zero.

    >>> p_value(0.0132), p_value(1e-9)
    ('0.013', '<0.001')
    """
    return "<0.001" if value < 0.001 else f"{value:.3f}"


KINDS: Mapping[str, Callable[[float], str]] = {
    "rate": rate,
    "count": count,
    "difference": difference,
    "seconds": seconds,
    "usd": usd,
    "ratio": ratio,
    "p": p_value,
}
"""The number formats that a table column can ask for by name."""


def interval(estimate: Estimate, kind: str = "rate") -> str:
    """Return ``[low, high]``, or an empty string where there is no interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return ""
    return f"[{KINDS[kind](float(estimate.low))}, {KINDS[kind](float(estimate.high))}]"


def printed(estimate: Estimate, kind: str = "rate") -> str:
    """Return an estimate with its interval; an undefined one is a dash.

    >>> printed(Estimate(0.766, 0.7, 0.826)), printed(Estimate(None, reason="no clean items"))
    ('0.766 [0.700, 0.826]', '—')
    """
    if estimate.value is None:
        return "—"
    return f"{KINDS[kind](estimate.value)} {interval(estimate, kind)}".rstrip()


def denominator_line(denominator: Denominator) -> str:
    """Return who is counted, in words.

    >>> denominator_line(Denominator(400, 391, {"parse_fail": 7, "api_error": 2}, truncated=3))
    'attempted 400, answered 391, failed 9 (parse_fail 7, api_error 2), truncated 3'
    """
    failed = {cause: n for cause, n in denominator.failed.items() if n}
    causes = ", ".join(f"{cause} {count(n)}" for cause, n in failed.items())
    return (
        f"attempted {count(denominator.attempted)}, answered {count(denominator.answered)}, "
        f"failed {count(sum(failed.values()))}{f' ({causes})' if causes else ''}, "
        f"truncated {count(denominator.truncated)}"
    )
