"""Which runs a set has, and in which order: computed position by position, with nothing to hold.

Every instance has the fault types that its faulty run carries. The single-fault presets go through the five types in
turn; the mixture draws sets of types in proportion to the 154 annotated runs of Trajel that have a type (the counts
below are of its released table), so single types, pairs and triples come as often as there.

The order is built from windows with a fixed number of clean runs at random places: 2 of 7, and for the mixture 6 of 19
(Trajel's annotators found 68.3 % of the runs faulty). Clean runs are runs of instances that also have a faulty one,
scattered over all of them, so questions and settings are alike in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trajaudit.taxonomy import TRAJEL
from trajaudit.testbeds.draw import Draw, Scatter


class Design(NamedTuple):
    """A preset: runs in a window, clean ones among them, and whether services fail and steps are optional."""

    window: int
    clean: int
    lively: bool


PRESETS = {"single": Design(7, 2, False), "varied": Design(7, 2, True), "mixture": Design(19, 6, True)}

MIXTURE: dict[tuple[str, ...], int] = {
    ("procedural",): 37,
    ("factual",): 23,
    ("factual", "procedural"): 18,
    ("procedural", "scope"): 14,
    ("scope",): 12,
    ("logical", "procedural"): 9,
    ("factual", "scope"): 8,
    ("factual", "referential"): 5,
    ("referential",): 4,
    ("factual", "procedural", "scope"): 4,
    ("logical", "procedural", "scope"): 4,
    ("logical",): 3,
    ("referential", "scope"): 2,
    ("referential", "procedural", "scope"): 2,
    ("referential", "procedural"): 2,
    ("factual", "logical", "procedural", "scope"): 2,
    ("factual", "logical", "procedural"): 2,
    ("factual", "referential", "scope"): 1,
    ("factual", "referential", "procedural"): 1,
    ("factual", "logical"): 1,
}
"""How many of Trajel's runs human annotators gave each set of types."""
_BLOCK = tuple(types for types, count in MIXTURE.items() for _ in range(count))


class Slot(NamedTuple):
    """One run to make: an instance number, with its faults or without."""

    instance: int
    faulty: bool


def types_of(preset: str, number: int, seed: int) -> tuple[str, ...]:
    """Return the fault types that instance ``number`` carries."""
    if preset != "mixture":
        return (TRAJEL.types[number % len(TRAJEL.types)],)
    block, within = divmod(number, len(_BLOCK))
    return _BLOCK[Scatter(f"mixture|{seed}|{block}", len(_BLOCK))(within)]


def slots(preset: str, n: int, seed: int) -> Iterator[Slot]:
    """Yield the ``n`` runs of a set in their final order."""
    size, clean, _ = PRESETS[preset]
    windows = n // size
    scatter = Scatter(f"{preset}|{seed}|clean", windows * (size - clean))
    turns = {True: 0, False: 0}
    for position in range(n):
        window, within = divmod(position, size)
        if within == 0:
            faulty = Draw(f"{preset}|{seed}|window|{window}").shuffled([False] * clean + [True] * (size - clean))
        is_faulty = faulty[within]
        turn = turns[is_faulty]
        turns[is_faulty] += 1
        yield Slot(turn if is_faulty or window >= windows else scatter(turn), is_faulty)
