"""Reports: tables, figures, the page with the trajectory viewer, and the reproduction ledger.

>>> from trajaudit.reports import Column, Row, Table, render
>>> table = Table("t", "Two auditors", (Column("auditor", "auditor", "text"), Column("f1", "F1")),
...               (Row(("rules", 0.8)), Row(("step", 0.9231))))
>>> print(render(table, "txt"))
Two auditors
<BLANKLINE>
auditor     F1
-------  -----
rules    0.800
step     0.923
<BLANKLINE>
"""

from trajaudit.reports.build import Part, build_report, metrics_json, part_tables
from trajaudit.reports.comparison_tables import bounds_table, comparison_table, denominator_table, verdict_in_words
from trajaudit.reports.formats import render, write
from trajaudit.reports.ledger import Line, ledger_line, ledger_table, same, summary
from trajaudit.reports.scorecard_tables import scorecard_tables
from trajaudit.reports.table import Column, Row, Table

__all__ = [
    "Column",
    "Line",
    "Part",
    "Row",
    "Table",
    "bounds_table",
    "build_report",
    "comparison_table",
    "denominator_table",
    "ledger_line",
    "ledger_table",
    "metrics_json",
    "part_tables",
    "render",
    "same",
    "scorecard_tables",
    "summary",
    "verdict_in_words",
    "write",
]
