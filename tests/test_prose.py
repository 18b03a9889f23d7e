"""Every figure in the prose of the README and of the experiment stands in a table that a command makes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROBES = {"0.916", "0.910", "0.922", "1.000", "0.512", "0.478", "0.545", "0.609", "0.596", "0.621", "0.612", "0.633"}
"""Figures of the leak probes, which `test_what_the_probes_say_in_the_prose` makes again."""


def figures(text: str) -> set[str]:
    """Return the figures with three decimals, without sign."""
    return set(re.findall(r"(?<![\d.])\d\.\d{3}(?!\d)", text))


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "experiments/trajectory_judge/README.md",
        "experiments/trajel/README.md",
        "experiments/signals/README.md",
        "experiments/blind_spot/README.md",
        "experiments/hybrid/README.md",
    ],
)
def test_a_figure_of_the_prose_stands_in_a_committed_table(name: str) -> None:
    tables = figures("".join(path.read_text() for path in ROOT.glob("experiments/*/results/**/*.md")))
    said = figures((ROOT / name).read_text())
    assert said
    assert said - tables - PROBES == set()


def test_what_the_probes_say_in_the_prose() -> None:
    from trajaudit.testbeds.probes import probe
    from trajaudit.testbeds.support_desk.generator import generate

    made = set()
    for preset, names in (("paper", ("thoughts", "length")), ("varied", ("ids", "final_answer", "length"))):
        for result in probe(list(generate(preset, 2000, 0)), names):
            made |= {f"{value:.3f}" for value in (result.auc, result.low, result.high)}
    assert made == PROBES
