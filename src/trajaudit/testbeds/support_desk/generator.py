"""The generator of the support desk: labelled, replayed runs, one after another, in bounded memory.

Every random choice hangs on (seed, instance, fault), so a run does not depend on which runs were made before it. The
oracle's calls are made anew for every run and replayed in a fresh world; no observation is carried over from one run
to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.testbeds.draw import Draw, opaque
from trajaudit.testbeds.replay import Call, Edit, edited, replay
from trajaudit.testbeds.settings import check_settings
from trajaudit.testbeds.support_desk.instances import Instance, paper_instance
from trajaudit.testbeds.support_desk.outcome import outcome_correct
from trajaudit.testbeds.support_desk.paper import HOLDING, paper_script
from trajaudit.testbeds.support_desk.paper_faults import paper_edits
from trajaudit.testbeds.support_desk.plan import CLEAN, FAULTS, Slot, slots
from trajaudit.testbeds.support_desk.varied import varied_script
from trajaudit.testbeds.support_desk.varied_faults import varied_edits
from trajaudit.testbeds.support_desk.varied_instances import varied_instance
from trajaudit.testbeds.support_desk.varied_world import CurrencyDesk
from trajaudit.testbeds.support_desk.wording import BANKS, bank
from trajaudit.testbeds.support_desk.world import Desk
from trajaudit.trajectory import Label, Source, Step, Trajectory


class Preset(NamedTuple):
    """A design of the testbed: how instances, the oracle's calls, the edits and the world are made."""

    instance: Callable[[int, int, str], Instance]
    script: Callable[[Instance], list[Call]]
    edits: Callable[[Instance, list[Call], str, Draw], list[Edit]]
    desk: type[Desk]
    holding: Callable[[Instance], str]


def _varied_holding(instance: Instance) -> str:
    return bank(instance.wording).say("stop", Draw(f"{instance.key}|stop"))


PRESETS = {
    "paper": Preset(
        lambda seed, number, wording: paper_instance(seed, number),
        *(paper_script, paper_edits, Desk, lambda instance: HOLDING),
    ),
    "varied": Preset(varied_instance, varied_script, varied_edits, CurrencyDesk, _varied_holding),
}


def generate(
    preset: str = "paper", n: int = 400, seed: int = 7, wording: str = "a", cascades: float = 0.0
) -> Iterator[Trajectory]:
    """Return ``n`` labelled runs, a quarter of them clean, the rest shared equally by the six faults.

    Args:
        preset: ``paper`` (the published design) or ``varied`` (the same faults where shortcuts do not find them).
        n: how many runs; every prefix of the set is a stratified sample.
        seed: any integer; 0 is a seed like any other.
        wording: the wording bank of the varied preset, ``a`` or ``b``.
        cascades: the share of faulty runs of the varied preset that have two or three faults, all of them labelled
            (one where no other fits beside the first).

    Raises:
        ValueError: naming the parameter, what was given and what is allowed.

    >>> runs = list(generate(n=8))
    >>> sum(not run.label.faulty for run in runs), len({run.label.first.type for run in runs if run.label.faulty})
    (2, 6)
    """
    check_settings(preset, PRESETS, wording, BANKS, n, seed)
    if not 0 <= cascades <= 1:
        raise ValueError(f"cascades: expected a share from 0 to 1, got {cascades!r}")
    if preset == "paper" and (wording != "a" or cascades):
        name, given = ("wording", repr(wording)) if wording != "a" else ("cascades", repr(cascades))
        raise ValueError(f"{name}: {given} needs preset 'varied'; preset 'paper' has one wording and one fault a run")
    return (make(preset, slot, seed, wording, cascades) for slot in slots(preset, n, seed))


def make(preset: str, slot: Slot, seed: int, wording: str = "a", cascades: float = 0.0) -> Trajectory:
    """Return one run of a set. ``slot`` says which instance it is of and which fault it has."""
    design = PRESETS[preset]
    instance = design.instance(seed, slot.instance, wording)
    calls = design.script(instance)
    edits = [] if slot.fault == CLEAN else _edits(design, instance, calls, slot.fault, cascades)
    calls, faults = edited(calls, edits) if edits else (calls, ())
    desk = design.desk(instance)
    steps = replay(calls, desk)
    outcome = outcome_correct(instance, desk)
    clean_id = f"sd-{opaque(f'{instance.key}|{CLEAN}')}"
    if not edits:
        return _trajectory(design, instance, clean_id, steps, Label(False, (), outcome), preset, seed)
    run_id = f"sd-{opaque('|'.join((instance.key, *(edit.type for edit in edits))))}"
    return _trajectory(design, instance, run_id, steps, Label(True, faults, outcome, twin=clean_id), preset, seed)


def _edits(design: Preset, instance: Instance, calls: list[Call], fault: str, cascades: float) -> list[Edit]:
    """Draw the edit for the fault, and one or two more that touch other calls where the run is to be a cascade."""
    draw = Draw(f"{instance.key}|{fault}")
    edits = [draw.pick(design.edits(instance, calls, fault, draw))]
    if not cascades or not draw.chance(cascades):
        return edits
    length = draw.between(2, 3)
    for other in draw.shuffled([other for other in FAULTS if other != fault]):
        touched = {i for edit in edits for i in edit.changes}
        free = [edit for edit in design.edits(instance, calls, other, draw) if touched.isdisjoint(edit.changes)]
        if free and len(edits) < length:
            edits.append(draw.pick(free))
    return edits


def _trajectory(
    design: Preset, instance: Instance, run_id: str, steps: tuple[Step, ...], label: Label, preset: str, seed: int
) -> Trajectory:
    """Return the record of a run. Without a reply there is still a last word, which no customer was sent."""
    last = steps[-1].action
    replied = last is not None and last.tool == "reply" and last.args is not None
    answer = last.args["text"] if replied else design.holding(instance)  # type: ignore[union-attr, index]
    group, source = f"sd-{opaque(instance.key)}", _source(preset, seed, instance)
    return Trajectory(run_id, group, instance.goal, steps, answer, source, label)


def _source(preset: str, seed: int, instance: Instance) -> Source:
    """Return where a run comes from; nothing in it says whether, where or how the run went wrong."""
    meta: dict[str, Json] = {"preset": preset, "seed": seed, "strata": [order.stratum for order in instance.orders]}
    if instance.wording:
        meta["wording"], meta["locale"] = instance.wording, instance.locale
    return Source("support_desk", "scripted", "customer_support", meta)
