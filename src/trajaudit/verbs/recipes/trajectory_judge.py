"""The testbed paper's recipe: published trajectories and verdicts in; ledger, tables and open questions out."""

from __future__ import annotations

from pathlib import Path

import yaml

from trajaudit._fields import file_hash
from trajaudit.analysis import Comparison, Estimate, Scorecard, compare, score, tabulate
from trajaudit.config import experiments_dir
from trajaudit.dataset import Dataset
from trajaudit.judges.published import published_judges
from trajaudit.reports import comparison_table, scorecard_tables, verdict_in_words
from trajaudit.reports.build import FIGURES
from trajaudit.reports.trajectory_judge import CLAIMS, OUTCOME, claim_of, ledger
from trajaudit.runs import interruptible
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats
from trajaudit.verdict import Verdict

FAMILY = "the claims of the paper's abstract and conclusion"


def trajectory_judge(*, dataset: Dataset, stats: Stats, data_dir: str, figures: str | None = None) -> Reproduction:
    """Rebuild the testbed paper's tables.

    Args:
        data_dir: folder that holds ``trajectory_judge/verdicts.jsonl``.
        figures: the published figures; the file that ships with trajaudit where null.

    Raises:
        FileNotFoundError, RecordError: naming the file, and the line that is not as published.
    """
    path = Path(figures) if figures else experiments_dir() / "trajectory_judge" / "published.yaml"
    runs = list(dataset)
    items, answers = tabulate(runs, _verdicts(runs, dataset, data_dir))
    cards = score(items, answers, convention="published", **stats)
    pairs = list(dict.fromkeys((a, b) for _, a, b, _ in CLAIMS))
    wanted = {(metric, a, b) for metric, a, b, _ in CLAIMS}
    metrics = list(dict.fromkeys(metric for metric, *_ in CLAIMS))
    comparisons = compare(items, answers, metrics, pairs, family=FAMILY, **stats, only=wanted)
    return Reproduction(
        ledger(yaml.safe_load(path.read_text(encoding="utf-8")), cards, runs),
        comparison_table(comparisons),
        scorecard_tables(cards),
        [draw(cards) for draw in FIGURES],
        [_blind_spot(cards), *(_finding(row) for row in comparisons)],
        {**dataset.files, path.name: file_hash(path)},
    )


def _verdicts(runs: list[Trajectory], dataset: Dataset, data_dir: str) -> list[Verdict]:
    async def ask() -> list[Verdict]:
        judges = published_judges(data_dir=data_dir, taxonomy=dataset.taxonomy)
        return [await judge.judge(run) for judge in judges for run in runs]

    return interruptible(ask())


def _interval(estimate: Estimate, sign: str = "+") -> str:
    return f"{estimate.value:{sign}.3f} [{estimate.low:{sign}.3f}, {estimate.high:{sign}.3f}]"


def _blind_spot(cards: list[Scorecard]) -> str:
    gap = next(card for card in cards if card.auditor == OUTCOME).metrics["blind_spot"]
    return f"the blind spot of {OUTCOME}: loud recall less silent recall is {_interval(gap)}"


def _finding(row: Comparison) -> str:
    known = f"{row.metric} {_interval(row.difference)}, {row.test}"
    p = "" if row.p_holm is None else f", Holm p {row.p_holm:.2g}"
    return f"{claim_of(row.metric, row.a, row.b)}: {verdict_in_words(row)} ({known}{p})"
