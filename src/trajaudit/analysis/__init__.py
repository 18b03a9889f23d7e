"""How well each auditor detects, locates, types and is calibrated, at what cost, and whether two of them differ.

Pure functions over labels and verdicts; nothing here reads a file.
"""

from trajaudit.analysis.comparison import compare
from trajaudit.analysis.intervals import wilson
from trajaudit.analysis.metrics import METRICS
from trajaudit.analysis.paired import delong, holm, mcnemar
from trajaudit.analysis.result import CONVENTIONS, Bin, Comparison, Denominator, Estimate, Scorecard
from trajaudit.analysis.scorecard import score, scorecards
from trajaudit.analysis.table import Answers, Items, tabulate

__all__ = [
    "CONVENTIONS",
    "METRICS",
    "Answers",
    "Bin",
    "Comparison",
    "Denominator",
    "Estimate",
    "Items",
    "Scorecard",
    "compare",
    "delong",
    "holm",
    "mcnemar",
    "score",
    "scorecards",
    "tabulate",
    "wilson",
]
