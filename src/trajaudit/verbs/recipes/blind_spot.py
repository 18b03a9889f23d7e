"""The blind spot, without a model: how much of what LLM judges miss do auditors find that cost nothing?

Everything is fitted on generated runs of wording bank a, and the threshold is frozen there; bank b (no sentence in
common) and the published runs (another design, other words, other field names) are only judged. The published judges
stand beside, on the same runs, paired.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trajaudit.analysis import Comparison, Scorecard, compare, score, tabulate
from trajaudit.dataset import Dataset
from trajaudit.detectors.baselines import HasError, Length, Majority, PositionPrior
from trajaudit.detectors.baselines_text import TfidfLogistic
from trajaudit.detectors.conformance import MODEL as PROCESS_MODEL
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.stacked import Stacked
from trajaudit.judges.claims import MODEL as CLAIM_SOURCES
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.judges.published import published_judges
from trajaudit.reports import comparison_table, scorecard_tables
from trajaudit.reports.blind_spot import goals_table, headline_table, left_out_table, renamed
from trajaudit.runs import interruptible
from trajaudit.testbeds.support_desk.generator import generate
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.ablation import ablated, left_out
from trajaudit.verbs.free_auditors import PARTS, free_makers
from trajaudit.verbs.free_facts import describe_free
from trajaudit.verbs.judge import rules_of
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.stats import Stats
from trajaudit.verdict import Verdict

PUBLISHED = "published"
SETS = {"bank_a": "unseen runs of bank a", "bank_b": "bank b", PUBLISHED: "the 400 published runs"}
FAMILY = "the hybrid against each published judge"
MADE_BY = "trajaudit reproduce experiment=blind_spot recipe.models=DIR"
COMPARED = ("silent_recall", "loud_recall", "false_alarm", "f1", "step_joint", "type_macro_f1", "ece")
SHOWN = ("summary", "detection", "type_recall", "localisation", "typing", "calibration")
Said = dict[str, list[Verdict]]


@dataclass(frozen=True)
class Fitted:
    """Everything that was fitted on bank a, with what it was fitted on."""

    train: list[Trajectory]
    stacked: Stacked
    strict: ClaimsJudge
    baselines: tuple[Majority | PositionPrior | Length | HasError | TfidfLogistic, ...]


def blind_spot(
    *,
    dataset: Dataset,
    stats: Stats,
    data_dir: str,
    train: int = 4000,
    test: int = 2000,
    seed: int = 0,
    budget: float = 0.01,
    models: str | None = None,
) -> Reproduction:
    """Fit the free auditors on bank a, judge bank b and the published runs, and compare with the published judges.

    Args:
        dataset: the published runs; its procedure says what a reply may always state.
        data_dir: folder that holds ``trajectory_judge/verdicts.jsonl``.
        train, test: generated runs to fit on, and of each bank to judge.
        seed: of the generated runs and of the folds; the sets to judge take the two seeds that follow.
        budget: the share of clean runs that may be flagged, on inner folds.
        models: folder to keep what was fitted in; nowhere where null.
    """
    fitted = _fit(dataset, train, seed, budget, models)
    sets = {
        "bank_a": list(generate("varied", test, seed + 1, "a")),
        "bank_b": list(generate("varied", test, seed + 2, "b")),
        PUBLISHED: list(dataset),
    }
    timed = {name: _said(fitted, runs) for name, runs in sets.items()}
    seconds = [verdict.latency_s or 0.0 for of in timed.values() for verdict in of["hybrid"]]
    said = {name: _timeless(of) for name, of in timed.items()}
    milliseconds = 1000 * sum(seconds) / len(seconds)
    print(f"a hybrid verdict with all its parts, one core: {milliseconds:.1f} ms, at most {1000 * max(seconds):.1f} ms")
    others = _published(sets[PUBLISHED], dataset, data_dir)
    cards = {
        name: _cards(runs, {**said[name], **(others if name == PUBLISHED else {})}, stats)
        for name, runs in sets.items()
    }
    of_hybrid = next(card for card in cards[PUBLISHED] if card.auditor == "hybrid")
    if models is not None:
        of_set = {name: next(card for card in cards[name] if card.auditor == "hybrid") for name in sets}
        asked = {name: (SETS[name], runs, of_set[name]) for name, runs in sets.items()}
        trained_on = {"dataset": "support_desk", "preset": "varied", "n": train, "seed": seed, "wording": "a"}
        describe_free(Path(models), dataset, trained_on, fitted.train, fitted.stacked.hybrid.spec, asked, MADE_BY)
    goals = goals_table(of_hybrid, milliseconds)
    tables = [
        renamed(table, name, SETS[name])
        for name in sets
        for table in scorecard_tables(cards[name])
        if table.key in SHOWN
    ]
    hybrids = ablated(fitted.stacked.hybrid, fitted.train, fitted.stacked.learnt_from)
    for name in ("bank_b", PUBLISHED):
        verdicts = {part: _as(part, hybrid.predict(sets[name], said[name])) for part, hybrid in hybrids.items()}
        of = {card.auditor: card for card in _cards(sets[name], verdicts, stats)}
        tables.append(headline_table(f"{name}_ablation", f"What each part adds: {SETS[name]}", of))
    found = left_out(fitted.stacked.hybrid, fitted.train, fitted.stacked.learnt_from, sets["bank_b"], said["bank_b"])
    unseen = {kind: _cards(runs, {"hybrid": verdicts}, stats)[0] for kind, (runs, verdicts) in found.items()}
    comparisons = _compared(sets[PUBLISHED], {**said[PUBLISHED], **others}, list(others), stats)
    return Reproduction(
        [],
        goals,
        [*tables, left_out_table(unseen), comparison_table(comparisons)],
        [],
        _findings(cards[PUBLISHED], comparisons),
        dict(dataset.files),
    )


def _fit(dataset: Dataset, train: int, seed: int, budget: float, models: str | None) -> Fitted:
    check = rules_of(dataset)
    standing = dataset.procedure.standing_claims
    runs = list(generate("varied", train, seed, "a"))
    make = free_makers(check, dataset.taxonomy, standing, "standing_claims")
    stacked = Stacked(make, Hybrid(PARTS, dataset.taxonomy.types, budget=budget, seed=seed), seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        stacked.fit(runs, Path(folder))
        if models is not None:
            _keep(Path(folder), Path(models))
        strict = ClaimsJudge(
            dataset.taxonomy,
            standing,
            reading="strict",
            sources=f"{folder}/claims/{CLAIM_SOURCES}",
            name="claims_strict",
        )
    baselines = (Majority(), PositionPrior(), Length(), HasError(), TfidfLogistic())
    for baseline in baselines:
        baseline.fit(runs)
    return Fitted(runs, stacked, strict, baselines)


def _keep(fitted: Path, models: Path) -> None:
    """Copy the three files that the free hybrid is loaded from."""
    models.mkdir(parents=True, exist_ok=True)
    for path in (fitted / "hybrid.json", fitted / "conformance" / PROCESS_MODEL, fitted / "claims" / CLAIM_SOURCES):
        (models / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8", newline="\n")


def _said(fitted: Fitted, runs: Sequence[Trajectory]) -> Said:
    """Return every free auditor's verdicts on runs."""
    parts = fitted.stacked.of_parts(runs)
    strict = fitted.strict.predict(runs)
    hybrid = fitted.stacked.hybrid
    said = {
        **parts,
        "claims_strict": strict,
        "hybrid": hybrid.predict(runs, parts),
        "hybrid_strict": _as("hybrid_strict", hybrid.predict(runs, {**parts, "claims": strict})),
    }
    return said | {baseline.name: baseline.predict(runs) for baseline in fitted.baselines}


def _as(name: str, verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [replace(verdict, auditor=name) for verdict in verdicts]


def _published(runs: Sequence[Trajectory], dataset: Dataset, data_dir: str) -> Said:
    async def ask() -> Said:
        judges = published_judges(data_dir=data_dir, taxonomy=dataset.taxonomy)
        return {judge.name: [await judge.judge(run) for run in runs] for judge in judges}

    return interruptible(ask())


def _timeless(said: Said) -> Said:
    """Return verdicts without their seconds, which differ from machine to machine and have no place in these tables."""
    return {name: [replace(verdict, latency_s=None) for verdict in of] for name, of in said.items()}


def _cards(runs: Sequence[Trajectory], said: Said, stats: Stats) -> list[Scorecard]:
    items, answers = tabulate(runs, [verdict for of in said.values() for verdict in of])
    return score(items, answers, **stats)


def _compared(runs: Sequence[Trajectory], said: Said, others: Sequence[str], stats: Stats) -> list[Comparison]:
    items, answers = tabulate(runs, [verdict for name in ("hybrid", *others) for verdict in said[name]])
    return compare(items, answers, COMPARED, [("hybrid", name) for name in others], family=FAMILY, **stats)


def _findings(cards: Sequence[Scorecard], comparisons: Sequence[Comparison]) -> list[str]:
    """Say what the goals' table does not: both readings, the best judge, and how many differences are certain."""
    by_name = {card.auditor: card for card in cards}
    quiet = [card for card in cards if ":" in card.auditor and card.metrics["false_alarm"].value == 0]
    best = max(quiet, key=lambda card: card.per_type_recall["unsupported_claim"].value or 0.0)
    sure = [row for row in comparisons if row.p_holm is not None and row.p_holm < 0.05]
    strict, standing = by_name["claims_strict"], by_name["claims"]
    return [
        f"claims on the clean published runs: strict flags {_rate(strict, 'false_alarm')}, with the procedure's "
        f"standing claims {_rate(standing, 'false_alarm')}",
        f"unsupported claims found: {_found(by_name['hybrid'])} by the hybrid, {_found(best)} by {best.auditor}, the "
        "best published judge without false alarms",
        f"paired differences from the published judges that survive Holm: {len(sure)} of {len(comparisons)}",
    ]


def _rate(card: Scorecard, name: str) -> str:
    return f"{card.metrics[name].value:.3f}"


def _found(card: Scorecard) -> str:
    return f"{card.per_type_recall['unsupported_claim'].value:.3f}"
