"""Agreement of readers by hand: who is counted, and where "where" has a meaning."""

from __future__ import annotations

import numpy as np
import pytest

from trajaudit.analysis.readers import PRESENCE, TYPE_SETS, Intervals, all_pairs, alphas, pair_agreement, reader
from trajaudit.verdict import Evidence, Verdict

IDS = ("a", "b", "c", "d", "e")
TYPES = ("factual", "scope")
QUICK = Intervals(resamples=200)


def verdict(of: str, faulty: bool | None, types=(), steps=(), who: str = "x") -> Verdict:
    status = "ok" if faulty is not None else "parse_fail"
    evidence = tuple(Evidence(step) for step in steps)
    return Verdict(of, "h", who, "s", status, faulty, types=types, step=min(steps, default=None), evidence=evidence)


ANN = reader(
    "human:Ann",
    [
        verdict("a", True, ("factual",), (1, 3)),
        verdict("b", True, ("factual", "scope")),
        verdict("c", False),
        verdict("d", True, ("scope",), (2,)),
    ],
    IDS,
    TYPES,
)
JUDGE = reader(
    "judge",
    [
        verdict("a", True, ("factual",), (3,)),
        verdict("b", True, ("scope",), (0,)),
        verdict("c", True, ("factual",), (0,)),
        verdict("d", None),
        verdict("e", True, ("scope",), (1,)),
    ],
    IDS,
    TYPES,
)


def test_only_what_both_gave_an_opinion_on_is_compared() -> None:
    pair = pair_agreement(ANN, JUDGE, IDS, TYPES, QUICK)
    assert pair.n == 3, "d did not parse, e was not read"
    assert (pair.presence.both, pair.presence.a_only, pair.presence.b_only, pair.presence.neither) == (2, 0, 1, 0)
    assert pair.agreement.value == pytest.approx(2 / 3)
    assert pair.agreement.n == 3


def test_types_and_places_are_compared_where_both_see_a_fault() -> None:
    pair = pair_agreement(ANN, JUDGE, IDS, TYPES, QUICK)
    assert (pair.same_types.value, pair.same_types.n) == (0.5, 2)
    assert pair.type_jaccard.value == pytest.approx((1 + 0.5) / 2)
    assert (pair.shares_step.value, pair.shares_step.n) == (1.0, 1), "on b Ann names no step"
    factual = pair.types["factual"]
    assert (factual.both, factual.a_only, factual.b_only, factual.neither) == (1, 1, 1, 0)


def test_readers_who_share_no_trajectory_have_no_agreement_and_say_so() -> None:
    other = reader("human:Bo", [verdict("e", True, ("scope",))], IDS, TYPES)
    pair = pair_agreement(ANN, other, IDS, TYPES, QUICK)
    assert pair.n == 0
    assert pair.agreement.value is None
    assert pair.agreement.reason == "no trajectory was read by both"
    assert (pair.presence.kappa.value, pair.presence.kappa.reason) == (None, "no item")


def test_alpha_covers_all_readers_presence_types_and_sets() -> None:
    bo = reader("human:Bo", [verdict(i, i in "abd", ("factual",) if i in "abd" else ()) for i in IDS], IDS, TYPES)
    found = alphas([ANN, bo], IDS, TYPES, QUICK)
    assert list(found) == [PRESENCE, *TYPES, TYPE_SETS]
    assert found[PRESENCE].value == pytest.approx(1.0)
    assert found[PRESENCE].n == 4, "e was read once"
    # factual: (1,1) (1,1) (0,0) (0,1): one disagreement; observed 2/8, five ones and three zeros: expected 30/56.
    assert found["factual"].value == pytest.approx(1 - (2 / 8) / (30 / 56))
    assert len(all_pairs([ANN, bo, JUDGE], IDS, TYPES, QUICK)) == 3


def test_runs_of_one_group_are_one_draw() -> None:
    rng = np.random.default_rng(1)
    ids = [str(i) for i in range(60)]
    flags = rng.random(60) < 0.5
    a = reader("a", [verdict(i, bool(flag)) for i, flag in zip(ids, flags, strict=True)], ids, TYPES)
    flip = np.repeat(rng.random(12) < 0.3, 5)
    b = reader("b", [verdict(i, bool(flag)) for i, flag in zip(ids, flags ^ flip, strict=True)], ids, TYPES)
    groups = [f"g{i // 5}" for i in range(60)]
    apart, together = (pair_agreement(a, b, g, TYPES, Intervals(2000)).agreement for g in (ids, groups))
    assert together.high - together.low > 1.5 * (apart.high - apart.low)  # type: ignore[operator]


def test_readers_without_any_opinion_have_no_alpha_and_say_so() -> None:
    silent = [reader(name, [verdict("a", None)], IDS, TYPES) for name in ("x", "y")]
    found = alphas(silent, IDS, TYPES, QUICK)
    assert {(one.value, one.reason) for one in found.values()} == {(None, "no two readers")}
