"""Time the full metric set of five judges with 10,000 resamples, against a loop that re-scores every resample.

``run`` returns process times in seconds, best of three: of the set at n=400, of the loop (extrapolated from a few
resamples of the same design in the same run), their ratio, and of the set at growing n.

    python benchmarks/bench_metrics.py --json
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from trajaudit.analysis import Answers, Items, score
from trajaudit.taxonomy import SUPPORT_DESK

RESAMPLES = 10_000
NAIVE_RESAMPLES = 50
SIZES = (400, 1_000, 10_000, 100_000)


def labelled(n: int, seed: int = 0) -> Items:
    """Return n trajectories in groups of four: one clean, two silent faults, one loud, of six types in turn."""
    rng = np.random.default_rng(seed)
    place = np.arange(n) % 4
    faulty = place > 0
    kind = np.array(SUPPORT_DESK.types)[(np.arange(n) // 4 + place) % 6]
    step = np.where(faulty, rng.integers(0, 6, n), -1)
    return Items(
        tuple(f"t{i}" for i in range(n)),
        tuple(f"g{i // 4}" for i in range(n)),
        faulty,
        np.array(["clean", "silent", "silent", "loud"])[place],
        np.where(faulty, kind, ""),
        step,
        tuple(frozenset({int(s)} - {-1}) for s in step),
        np.full(n, 6),
    )


def answered(items: Items, seed: int) -> Answers:
    """Return a judge of middling skill; of every five, two score continuously and three in hundredths."""
    rng, n = np.random.default_rng(seed), len(items.ids)
    score = np.clip(0.35 + 0.3 * items.faulty + rng.normal(0, 0.25, n), 0.001, 0.999)
    score = score if seed % 5 < 2 else np.round(score, 2)
    flagged = score > 0.5
    off = np.where(rng.random(n) < 0.7, 0, rng.integers(-2, 3, n))
    kind = np.where(rng.random(n) < 0.6, items.type, np.array(SUPPORT_DESK.types)[rng.integers(0, 6, n)])
    cost = {name: rng.exponential(1.0, n) for name in ("prompt_tokens", "completion_tokens", "seconds", "usd")}
    return Answers(
        f"judge {seed}",
        np.ones(n, dtype=np.bool_),
        np.full(n, "ok"),
        flagged,
        score,
        np.where(flagged, score, 1 - score),
        np.where(flagged, np.clip(items.step + off, 0, 5), -1),
        np.where(flagged, kind, ""),
        {"calls": np.ones(n), **cost},
        np.zeros(n, dtype=np.bool_),
    )


def judges(items: Items) -> dict[str, Answers]:
    return {answers.auditor: answers for answers in (answered(items, seed) for seed in range(5))}


def rescored(items: Items, answers: Answers, rows: np.ndarray) -> list[float]:
    """Score one resample of trajectories afresh, as a loop over scikit-learn does."""
    faulty, flagged, probability = items.faulty[rows], answers.flagged[rows], answers.score[rows]
    stratum, step, gold = items.stratum[rows], answers.step[rows], items.step[rows]
    confidence, right = answers.confidence[rows], flagged == faulty
    kind = np.where(flagged & (answers.type[rows] != ""), answers.type[rows], "missed")
    bins = np.ceil(confidence * 10)
    named = faulty & flagged & (step >= 0)
    return [
        precision_score(faulty, flagged, zero_division=0),
        recall_score(faulty, flagged),
        recall_score(faulty[stratum == "silent"], flagged[stratum == "silent"]),
        recall_score(faulty[stratum == "loud"], flagged[stratum == "loud"]),
        f1_score(faulty, flagged),
        flagged[~faulty].mean(),
        accuracy_score(faulty, flagged),
        roc_auc_score(faulty, probability),
        average_precision_score(faulty, probability),
        brier_score_loss(faulty, probability),
        (step == gold)[named].mean(),
        (abs(step - gold) <= 1)[named].mean(),
        ((step == gold) & flagged)[faulty].mean(),
        f1_score(items.type[rows][faulty], kind[faulty], labels=items.types, average="macro", zero_division=0),
        sum(abs((right - confidence)[bins == b].sum()) for b in np.unique(bins)) / len(rows),
        *(flagged[items.type[rows] == name].mean() for name in items.types),
        *(answers.cost[name][rows].mean() for name in answers.cost),
    ]


def naive(items: Items, tables: dict[str, Answers], resamples: int) -> None:
    """Re-score each of ``resamples`` cluster resamples, judge by judge."""
    rng = np.random.default_rng(0)
    members = np.arange(len(items.ids)).reshape(-1, 4)
    for _ in range(resamples):
        rows = members[rng.integers(0, len(members), len(members))].ravel()
        for answers in tables.values():
            rescored(items, answers, rows)


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least process time of ``work`` over some repeats."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def run(sizes: tuple[int, ...] = SIZES) -> dict[str, object]:
    """Return the measured times; ``scaling`` maps n to seconds of the full set (one repeat from n=10,000 on)."""
    scaling = {}
    for n in sizes:
        items = labelled(n)
        tables = judges(items)
        scaling[n] = seconds(lambda items=items, tables=tables: score(items, tables), 3 if n < 10_000 else 1)
    items = labelled(400)
    tables = judges(items)
    ours = seconds(lambda: score(items, tables, resamples=RESAMPLES))
    loop = seconds(lambda: naive(items, tables, NAIVE_RESAMPLES), 1) * RESAMPLES / NAIVE_RESAMPLES
    return {
        "judges": 5,
        "resamples": RESAMPLES,
        "n": 400,
        "seconds": round(ours, 3),
        "naive_seconds": round(loop, 1),
        "naive_resamples_timed": NAIVE_RESAMPLES,
        "ratio": round(loop / ours, 1),
        "scaling": {str(n): round(t, 3) for n, t in scaling.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    result = run()
    if parser.parse_args().json:
        print(json.dumps(result, allow_nan=False))
        return
    for name, value in result.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
