"""Which instance gets which fault, and in which order: computed position by position, with nothing to hold.

The order is built from windows of eight runs: two clean ones and each fault once. Each half of a window has one clean
run, the rest is shuffled, and skipped checks are silent and loud in turn within two windows (in the paper preset).
So in *every* prefix of a set the number of clean runs, and of runs of each fault, is within one of its share, and a
set of any size is a stratified sample; a position says nothing about what is wrong with the run that stands there.

The paper preset gives faults to instances as the published set does: four of them and the clean runs to instances 0,
1, 2, …, skipped checks to the two eligible strata, ignored observations to the stratum with a fee. The varied preset
gives each pair of instances the six faults, three each (see ``varied_instances``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.draw import Draw, Scatter
from trajaudit.testbeds.support_desk.varied_instances import target_stratum

WINDOW = 8
FAULTS = SUPPORT_DESK.types
CLEAN = "clean"


class Slot(NamedTuple):
    """One run to make: an instance number, and a fault type or ``clean``."""

    instance: int
    fault: str


def slots(preset: str, n: int, seed: int) -> Iterator[Slot]:
    """Yield the ``n`` runs of a set in their final order."""
    place = _paper(n, seed) if preset == "paper" else _varied(n, seed)
    for position in range(n):
        window, within = divmod(position, WINDOW)
        if within == 0:
            faults = _window(Draw(f"{preset}|{seed}|window|{window}"))
        fault = faults[within]
        turn = 2 * window + (within >= WINDOW // 2) if fault == CLEAN else window
        yield Slot(place(fault, turn), fault)


def _window(draw: Draw) -> list[str]:
    """Return the faults of one window: one clean run at a random place in each half, the six faults shuffled."""
    order: list[str] = draw.shuffled(FAULTS)
    order.insert(draw.below(4), CLEAN)
    order.insert(4 + draw.below(4), CLEAN)
    return order


def _paper(n: int, seed: int) -> Callable[[str, int], int]:
    """Return the instance of the ``turn``-th run of a fault in the paper preset.

    Runs are scattered over their instances in blocks of six consecutive ones, so that each block holds every stratum
    once; a last, shorter block stays last.
    """
    windows = n // WINDOW
    blocks = {fault: Scatter(f"{seed}|{fault}", windows // 6) for fault in FAULTS}
    blocks[CLEAN] = Scatter(f"{seed}|{CLEAN}", 2 * windows // 6)
    ignored = Scatter(f"{seed}|ignored", windows)
    skipped = [Scatter(f"{seed}|skipped|{stratum}", windows // 2) for stratum in (0, 1)]

    def place(fault: str, turn: int) -> int:
        if fault == "ignored_observation":
            return 6 * (ignored(turn) if turn < windows else turn) + 1
        if fault == "skipped_precondition":
            pair, stratum = divmod(turn, 2)
            stratum ^= Draw(f"{seed}|skipped|{pair}").below(2) if pair < windows // 2 else 0
            return 6 * (skipped[stratum](pair) if pair < windows // 2 else pair) + stratum
        block, within = divmod(turn, 6)
        full = (2 * windows if fault == CLEAN else windows) // 6
        return 6 * blocks[fault](block) + (within + block) % 6 if block < full else turn

    return place


def _varied(n: int, seed: int) -> Callable[[str, int], int]:
    """Return the instance of the ``turn``-th run of a fault in the varied preset: one of the pair that has it."""
    pairs = n // WINDOW
    scatter = {fault: Scatter(f"{seed}|{fault}", pairs) for fault in (*FAULTS, CLEAN)}

    def place(fault: str, turn: int) -> int:
        if fault == CLEAN:
            pair, second = divmod(turn, 2)
            return 2 * (scatter[CLEAN](pair) if pair < pairs else pair) + second
        pair = scatter[fault](turn) if turn < pairs else turn
        return 2 * pair + (fault not in _of_first(pair, seed))

    return place


def _of_first(pair: int, seed: int) -> tuple[str, ...]:
    """Return the three faults that the first instance of a pair has; the second has the other three.

    The first has the eligible target that a skipped check needs. Nothing can be ignored on an order of someone else
    without breaking a second rule, so that fault goes to the first where the second has such an order.
    """
    others = Draw(f"{seed}|pair|{pair}").shuffled([fault for fault in FAULTS if fault != "skipped_precondition"])
    if target_stratum(2 * pair + 1) == "other_customer":
        others.sort(key=lambda fault: fault != "ignored_observation")
    return ("skipped_precondition", *others[:2])
