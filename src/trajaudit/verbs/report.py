"""``trajaudit report``: one HTML page with the tables, the figures and a viewer of every trajectory."""

from __future__ import annotations

from trajaudit.analysis import CONVENTIONS, score as scorecards_of, tabulate
from trajaudit.config import Choice
from trajaudit.reports import Part, build_report
from trajaudit.runs import RunFolder
from trajaudit.verbs.collect import Collected, collect
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, against_reference, check_stats
