"""The adversarial stratum: a copy differs from its original by the attack's text and in nothing else."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace

import pytest
from sample_runs import make_run
from scripted_chat import FLAG, PROCEDURE, ScriptedChat

from trajaudit.dataset import Dataset, Procedure, Receipt
from trajaudit.datasets.attacked import PLACES, attack_on, attacked
from trajaudit.datasets.attacks import ATTACKS
from trajaudit.judges.llm_judge import LLMJudge
from trajaudit.taxonomy import SUPPORT_DESK
from trajaudit.testbeds.support_desk.dataset import support_desk
from trajaudit.trajectory import Fault, Label, Step, Trajectory


def base(*runs: Trajectory) -> Dataset:
    procedure = Procedure("p", 1, ("Be kind.",))
    return Dataset("base", lambda: iter(runs), SUPPORT_DESK, procedure, Receipt(len(runs), len(runs)), size=len(runs))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ATTACKS)
def test_a_copy_keeps_task_group_label_and_every_other_text(name: str, place: str, run: Trajectory) -> None:
    copy = attack_on(run, ATTACKS[name], place)
    assert (copy.task, copy.group, copy.label, copy.reference) == (run.task, run.group, run.label, run.reference)
    assert copy.content_hash != run.content_hash
    assert name not in copy.id
    assert not {"clean", "faulty", run.id} & set(copy.id.split("-"))
    changed = [i for i, (a, b) in enumerate(zip(run.steps, copy.steps, strict=True)) if a != b]
    assert len(changed) == (place == "observation")
    assert (copy.final_answer != run.final_answer) == (place == "answer")
    for i in changed:
        a, b = run.steps[i], copy.steps[i]
        assert (a.thought, a.action, a.agent) == (b.thought, b.action, b.agent)
        assert b.observation == {**a.observation, "note": ATTACKS[name].text}


def test_every_wording_comes_in_both_wishes() -> None:
    assert Counter(attack.wish for attack in ATTACKS.values()) == {"clean": 4, "faulty": 4}
    assert all(attack.name == name for name, attack in ATTACKS.items())


def test_what_was_observed_is_never_lost() -> None:
    attack = ATTACKS["ask_clean"]
    for held in ("text", {"note": "kept"}, [1, 2], 3, None):
        run = Trajectory("t", "g", "task", (Step(0, observation=held),), None, make_run().source)
        seen = attack_on(run, attack, "observation").steps[0].observation
        assert attack.text in json.dumps(seen)
        assert held is None or str(held).strip("{}[]'") in str(seen)


def test_families_stand_together_and_do_not_depend_on_size_or_order() -> None:
    runs = [make_run(f"t{i}", f"g{i // 2}", Label(True, (Fault("wrong_tool", 1),))) for i in range(4)]
    told = {"attacks": ["ask_clean", "end_faulty"], "places": ["observation", "answer"]}
    whole = list(attacked(base=base(*runs), **told))
    assert len(whole) == 4 * 5
    assert [run.id for run in whole[::5]] == [run.id for run in runs]
    assert len({run.id for run in whole}) == 20
    backwards = list(attacked(base=base(*runs[::-1]), **told))
    assert {run.id: run.content_hash for run in backwards} == {run.id: run.content_hash for run in whole}


def test_rules_that_read_fields_are_not_moved_by_a_note_in_an_observation() -> None:
    from trajaudit.testbeds.support_desk.rules import check

    data = attacked(base=support_desk(preset="varied", n=24), attacks=["ask_clean", "verdict_faulty"], places=PLACES)
    said = {run.id: sorted(violation.type for violation in check(run)) for run in data}
    for run in data:
        if told := run.source.meta.get("attack"):
            assert said[run.id] == said[told["of"]]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_stays_inside_the_fence(name: str, place: str, run: Trajectory) -> None:
    """What a judge reads around the record is the same with the attack and without it."""

    def around(one: Trajectory) -> str:
        chat = ScriptedChat([FLAG])
        asyncio.run(LLMJudge(chat, view="step", procedure=PROCEDURE, taxonomy=SUPPORT_DESK).judge(one))
        system, user = (message["content"] for message in chat.requests[0].messages)
        fences = [line for line in user.splitlines() if line.startswith("=== record ")]
        assert len(fences) == 2
        before, _, rest = user.partition(fences[0])
        return (system + before + rest.partition(fences[1])[2]).replace(fences[0].split()[2], "")

    assert around(attack_on(run, ATTACKS[name], place)) == around(run)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"attacks": ["ask_clen"]}, "attacks: unknown attack 'ask_clen' .did you mean 'ask_clean'"),
        ({"attacks": []}, "attacks: expected at least one"),
        ({"places": ["answer", "answer"]}, "places: expected at least one, each once"),
    ],
)
def test_an_attack_that_does_not_exist_is_refused_by_name(told: dict, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        attacked(**({"base": base(make_run()), "attacks": ["ask_clean"], "places": ["answer"]} | told))


def test_the_receipt_of_the_base_is_kept(run: Trajectory) -> None:
    receipt = Receipt(3, 1, {"torn": 2}, {"task": 1}, ["a note"])
    told = replace(base(run), receipt=receipt)
    found = attacked(base=told, attacks=["ask_clean"], places=["answer"]).receipt
    assert (found.read, found.kept, found.dropped, found.inferred) == (3, 2, {"torn": 2}, {"task": 1})
    assert found.notes[0] == "a note"
    assert receipt.notes == ["a note"], "the base is another set"


def test_an_attacked_set_is_not_attacked_again(run: Trajectory) -> None:
    once = attacked(base=base(run), attacks=["ask_clean"], places=["answer"])
    with pytest.raises(ValueError, match="base: expected a set without attacks, got 'base\\+attacked'"):
        attacked(base=once, attacks=["ask_clean"], places=["answer"])
