"""Draws are the same everywhere, in every order, and uniform."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy.stats import chisquare

from trajaudit.testbeds.draw import Draw, Scatter, opaque


def test_a_stream_depends_on_its_key_and_on_nothing_else():
    alone = [Draw("7|3|wrong_tool").below(1000) for _ in range(3)]
    after_others = []
    for _ in range(3):
        Draw("another").below(7)
        after_others.append(Draw("7|3|wrong_tool").below(1000))
    assert alone == after_others
    assert Draw("7|3|wrong_tool").digits(1000, 1000) != Draw("7|4|wrong_tool").digits(1000, 1000)


def test_a_stream_is_pinned_across_platforms_and_versions():
    draw = Draw("pinned")
    assert [draw.below(10) for _ in range(12)] == [9, 6, 4, 7, 7, 6, 4, 7, 9, 7, 2, 2]
    assert opaque("pinned") == "bca236b41a9293ac"


def test_draws_are_uniform_beyond_the_first_digest():
    draw = Draw("uniform")
    counts = Counter(draw.below(7) for _ in range(70_000))
    assert chisquare([counts[i] for i in range(7)]).pvalue > 0.001


def test_every_digit_of_a_bundle_is_uniform():
    bundles = [Draw(f"bundle|{i}").digits(3, 5, 90_000) for i in range(3_000)]
    assert chisquare(list(Counter(bundle[1] for bundle in bundles).values())).pvalue > 0.001
    assert max(bundle[2] for bundle in bundles) > 85_000


def test_chance_keeps_its_share():
    draw = Draw("chance")
    hits = sum(draw.chance(0.15) for _ in range(20_000))
    assert 0.14 < hits / 20_000 < 0.16
    assert not any(draw.chance(0.0) for _ in range(100))
    assert all(draw.chance(1.0) for _ in range(100))


def test_a_shuffle_keeps_its_items_and_reaches_every_order():
    orders = {tuple(Draw(f"s|{i}").shuffled("abc")) for i in range(200)}
    assert len(orders) == 6
    assert all(sorted(order) == ["a", "b", "c"] for order in orders)


@pytest.mark.parametrize("count", [1, 2, 6, 8, 97, 1000])
def test_scattering_visits_every_position_once(count: int):
    assert sorted(map(Scatter("k", count), range(count))) == list(range(count))


def test_neighbours_are_scattered_apart():
    scatter = Scatter("k", 1000)
    gaps = [min((scatter(i + 1) - scatter(i)) % 1000, (scatter(i) - scatter(i + 1)) % 1000) for i in range(999)]
    assert min(gaps) > 100
