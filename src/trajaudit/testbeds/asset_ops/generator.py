"""The generator of the plant: labelled, replayed runs, one after another, in bounded memory.

Every random choice hangs on (seed, instance), so a run does not depend on which runs were made before it. An instance
is drawn for the faults that it is to carry and tried again where they do not fit; its clean run is the run of the very
same instance without them. A fault is labelled at the step where it sits in the run as it was replayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trajaudit._fields import Json
from trajaudit.testbeds.asset_ops.answers import outcome_correct, reference
from trajaudit.testbeds.asset_ops.families import oracle_script
from trajaudit.testbeds.asset_ops.faults import edit_for
from trajaudit.testbeds.asset_ops.instances import Instance, Unfit, instance_of
from trajaudit.testbeds.asset_ops.plan import PRESETS, Slot, slots, types_of
from trajaudit.testbeds.asset_ops.variants import variants_for, wish_for
from trajaudit.testbeds.asset_ops.wording import BANKS
from trajaudit.testbeds.asset_ops.world import Plant
from trajaudit.testbeds.draw import Draw, opaque
from trajaudit.testbeds.replay import Call, Edit, carry_out, edited
from trajaudit.testbeds.settings import check_settings
from trajaudit.trajectory import Fault, Label, Source, Step, Trajectory

_ATTEMPTS = 2000
"""How often an instance is drawn anew before something must be wrong with the variants themselves."""


class Run(NamedTuple):
    """What came of a script: its steps, its faults where they sit in them, and whether the outcome is as expected."""

    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]
    outcome: bool


def generate(preset: str = "varied", n: int = 400, seed: int = 7, wording: str = "a") -> Iterator[Trajectory]:
    """Return ``n`` labelled runs.

    Args:
        preset: ``single`` (one fault a run, nothing fails), ``varied`` (the same among passing failures, vanished files
            and optional steps) or ``mixture`` (several faults a run, at the rates of Trajel's annotations).
        n: how many runs; every prefix of the set is a stratified sample.
        seed: any integer; 0 is a seed like any other.
        wording: the wording bank, ``a`` or ``b``.

    Raises:
        ValueError: naming the parameter, what was given and what is allowed.

    >>> runs = list(generate(n=7))
    >>> sum(not run.label.faulty for run in runs), len({run.label.first.type for run in runs if run.label.faulty})
    (2, 5)
    """
    check_settings(preset, PRESETS, wording, BANKS, n, seed)
    return (make(preset, slot, seed, wording) for slot in slots(preset, n, seed))


def make(preset: str, slot: Slot, seed: int, wording: str = "a") -> Trajectory:
    """Return one run of a set. ``slot`` says which instance it is of, and whether with its faults or clean."""
    instance, calls, faulty, types = _fitting(preset, slot.instance, seed, wording)
    clean_id = f"ao-{opaque(f'{instance.key}|clean')}"
    if slot.faulty:
        run_id = f"ao-{opaque('|'.join((instance.key, *types)))}"
        label = Label(True, faulty.faults, faulty.outcome, twin=clean_id)
        return _trajectory(instance, run_id, faulty.steps, label, preset, seed)
    clean = _carried_out(instance, calls, ())
    return _trajectory(instance, clean_id, clean.steps, Label(False, (), clean.outcome), preset, seed)


def _fitting(preset: str, number: int, seed: int, wording: str) -> tuple[Instance, list[Call], Run, tuple[str, ...]]:
    """Draw instance ``number`` until the faults that it is to carry fit; return it, its script and its faulty run."""
    types = types_of(preset, number, seed)
    for attempt in range(_ATTEMPTS):
        key = f"{preset}|{seed}|{wording}|{number}|{attempt}"
        draw = Draw(f"{key}|faults")
        try:
            variants = variants_for(types, draw)
            instance = instance_of(key, str(seed), wording, wish_for(variants, draw), PRESETS[preset].lively)
            calls = oracle_script(instance)
            edits = [edit_for(variant, instance, calls, draw) for variant in variants]
            return instance, calls, _carried_out(instance, calls, edits), types
        except Unfit:
            continue
    raise RuntimeError(f"no instance in {_ATTEMPTS} fits the faults {', '.join(types)}")


def _carried_out(instance: Instance, calls: list[Call], edits: Sequence[Edit]) -> Run:
    """Replay a script in a fresh plant, with its faults at the steps that they came to sit at.

    Raises:
        Unfit: where two edits touch one call, or a call that is at fault was not made.
    """
    faults: tuple[Fault, ...] = ()
    if edits:
        touched = [position for edit in edits for position in edit.changes]
        if len(touched) != len(set(touched)):
            raise Unfit
        calls, faults = edited(calls, edits)
    plant = Plant(instance.world, instance.key, instance.troubles)
    steps, positions = carry_out(calls, plant)
    at = {position: index for index, position in enumerate(positions)}
    if any(fault.step not in at for fault in faults):
        raise Unfit
    faults = tuple(Fault(fault.type, at[fault.step or 0], fault.component) for fault in faults)
    return Run(steps, faults, outcome_correct(instance, plant, answer_of(steps)))


def answer_of(steps: Sequence[Step]) -> str:
    """Return the text of the last step, which is the summary."""
    action = steps[-1].action
    return str(action.args["answer"]) if action is not None and action.args else ""


def _trajectory(
    instance: Instance, run_id: str, steps: tuple[Step, ...], label: Label, preset: str, seed: int
) -> Trajectory:
    """Return the record of a run; nothing in its source says whether, where or how it went wrong."""
    meta: dict[str, Json] = {"preset": preset, "seed": seed, "wording": instance.wording, "family": instance.family}
    return Trajectory(
        run_id,
        f"ao-{opaque(instance.key)}",
        instance.goal,
        steps,
        answer_of(steps),
        Source("asset_ops", "scripted", "industrial_maintenance", meta),
        label,
        reference(instance),
    )
