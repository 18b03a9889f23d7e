"""The counts behind a printed row of rates: which two-by-two tables of n runs round to the figures that a paper prints.

A row that gives the rate where a flag is present, the rate where it is absent and their correlation says more than its
authors may have meant: three rounded figures of three unknown counts. Where one table alone fits, the row gets the
intervals that it lacks, and every further figure of it can be checked; where none does, it contradicts itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from trajaudit.analysis.intervals import wilson
from trajaudit.analysis.result import Estimate


@dataclass(frozen=True)
class Counts:
    """Runs with the flag and without it, and how many of each are faulty."""

    present: int
    faulty_present: int
    absent: int
    faulty_absent: int

    @property
    def faulty(self) -> int:
        return self.faulty_present + self.faulty_absent

    @property
    def clean(self) -> int:
        return self.present + self.absent - self.faulty

    @property
    def phi(self) -> float:
        """The correlation of flag and fault."""
        n = self.present + self.absent
        moved = n * self.faulty_present - self.present * self.faulty
        return moved / sqrt(self.present * self.absent * self.faulty * self.clean)

    @property
    def auc(self) -> float:
        """The ROC area of the flag's absence."""
        return (self.faulty_absent / self.faulty + (self.present - self.faulty_present) / self.clean) / 2


def counts_behind(n: int, rate_present: float, rate_absent: float, phi: float, digits: int = 3) -> list[Counts]:
    """Return every table of ``n`` runs that gives the printed figures, each within half its last digit.

    >>> counts_behind(213, 0.091, 0.943, -0.833)
    [Counts(present=55, faulty_present=5, absent=158, faulty_absent=149)]
    """
    half = 0.5 * 10**-digits + 1e-9
    found = []
    for present in range(1, n):
        for with_flag in _near(rate_present, present, half):
            for without in _near(rate_absent, n - present, half):
                table = Counts(present, with_flag, n - present, without)
                if table.faulty and table.clean and abs(table.phi - phi) <= half:
                    found.append(table)
    return found


def _near(rate: float, n: int, half: float) -> list[int]:
    """Return the counts of ``n`` whose share is within ``half`` of a rate."""
    first, last = max(0, int((rate - half) * n)), min(n, int((rate + half) * n) + 1)
    return [k for k in range(first, last + 1) if abs(k / n - rate) <= half]


def auc_interval(table: Counts, level: float = 0.95) -> Estimate:
    """Return the AUC of a table with an interval from the Wilson intervals of its two rates, squared and added.

    Runs are taken as independent, which is all that counts allow: a paper whose runs share questions knows less.
    """
    rates = []
    for hits, n in ((table.faulty_absent, table.faulty), (table.present - table.faulty_present, table.clean)):
        low, high = wilson(hits, n, level)
        rates.append((hits / n - low, high - hits / n))
    low = table.auc - sqrt(sum(below**2 for below, _ in rates)) / 2
    high = table.auc + sqrt(sum(above**2 for _, above in rates)) / 2
    return Estimate(table.auc, low, high, table.present + table.absent, "wilson, squared and added", level=level)
