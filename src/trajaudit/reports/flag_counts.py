"""What auditors say of runs that nobody has labelled: how many each flags, and why nothing more can be said.

Without labels there is no accuracy, and agreement between auditors is no stand-in for it: two that share a blind spot
agree. So the table holds counts, the share flagged with its interval by group, and a dash with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trajaudit.analysis.agreement import clustered
from trajaudit.analysis.intervals import estimates
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import rate
from trajaudit.reports.table import Column, Row, Table
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

NO_LABEL = "no run of this set is labelled, so no verdict can be right or wrong"


def flag_count_table(trajectories: Sequence[Trajectory], verdicts: Sequence[Verdict]) -> Table:
    """Return, for each auditor, how many runs it was asked about, answered and flagged."""
    columns = (
        *(
            Column("auditor", "auditor", "text"),
            Column("asked", "asked", "count"),
            Column("answered", "answered", "count"),
        ),
        *(Column("flagged", "flagged", "count"), Column("flag_rate", "share flagged"), Column("accuracy", "accuracy")),
    )
    place = {trajectory.id: i for i, trajectory in enumerate(trajectories)}
    plan = clustered([trajectory.group for trajectory in trajectories])
    rows = []
    for auditor in dict.fromkeys(verdict.auditor for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.auditor == auditor]
        answered, flagged = np.zeros(len(place), np.bool_), np.zeros(len(place), np.bool_)
        for verdict in own:
            answered[place[verdict.trajectory_id]] = verdict.status == "ok"
            flagged[place[verdict.trajectory_id]] = bool(verdict.faulty)
        (share,) = estimates(plan, [rate(flagged, answered, "it answered about no run")])
        counts = (len(own), int(answered.sum()), int((flagged & answered).sum()))
        rows.append(Row((auditor, *counts, share, Estimate(None, n=len(own), reason=NO_LABEL))))
    return Table("flags", "What auditors say of unlabelled runs", columns, tuple(rows))
