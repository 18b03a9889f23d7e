"""Two wording banks that share nothing, and sentences that can be read back into what they claim."""

from __future__ import annotations

import re

import pytest

from trajaudit.testbeds.draw import Draw
from trajaudit.testbeds.support_desk import generate
from trajaudit.testbeds.support_desk.wording import BANKS, Bank, bank, expanded

EXAMPLES = {
    "order": "ORD-12345",
    "orders": "order ORD-12345",
    "email": "ada@example.com",
    "name": "Ada Byron",
    "amount": "1.234,56 €",
    "days": 5,
    "hours": 24,
    "queue": "Order Review",
    "reason": "the limit of 30 days was passed (44 days elapsed)",
    "value": "Tuesday",
    "window": 30,
}


def trigrams(words: Bank) -> set[tuple[str, ...]]:
    """Return the word trigrams of everything a bank can say, its slots left out."""
    found = set()
    for sentences in words.sentences.values():
        for sentence in sentences:
            tokens = re.findall(r"[a-z']+", re.sub(r"\{\w+\}", " ", sentence).lower())
            found |= set(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return found


def test_the_banks_have_the_same_kinds_and_no_sentence_in_common():
    a, b = bank("a"), bank("b")
    assert a.sentences.keys() == b.sentences.keys()
    everything = [{s.lower() for sentences in x.sentences.values() for s in sentences} for x in (a, b)]
    assert not everything[0] & everything[1]
    assert min(len(sentences) for sentences in (*a.sentences.values(), *b.sentences.values())) >= 2


def test_the_banks_share_almost_no_three_words_in_a_row():
    a, b = trigrams(bank("a")), trigrams(bank("b"))
    overlap = len(a & b) / len(a | b)
    print(f"word trigrams: {len(a)} in bank a, {len(b)} in bank b, {100 * overlap:.2f} % in common")
    assert overlap < 0.005


def test_generated_texts_of_the_two_banks_share_no_sentence():
    def said(wording: str) -> set[str]:
        texts = set()
        for run in generate("varied", 240, 5, wording):
            thoughts = [step.thought for step in run.steps if step.thought]
            reasons = [step.action.args["reason"] for step in run.steps if step.action.tool == "escalate"]
            for text in (run.task, *thoughts, *reasons, *run.final_answer.split("\n")):
                texts |= set(re.split(r"(?<=[.!?]) ", re.sub(r"ORD-\d+", "ORD", text)))
        return {text for text in texts if len(text.split()) > 2}

    assert not said("a") & said("b")


@pytest.mark.parametrize("name", BANKS)
def test_every_sentence_of_a_reply_is_read_back_as_what_it_says(name: str):
    words, count = bank(name), 0
    for kind, sentences in words.sentences.items():
        for sentence in sentences if kind.startswith("reply_to") else ():
            read = words.read(sentence.format(**EXAMPLES))
            assert read is not None, sentence
            assert f"reply_to.{read[0]}" == kind, sentence
            assert all(str(EXAMPLES[slot]) == value for slot, value in read[1].items()), sentence
            assert set(read[1]) == set(re.findall(r"\{(\w+)\}", sentence))
            count += 1
    assert count > 40


@pytest.mark.parametrize("name", BANKS)
def test_a_sentence_that_no_form_says_is_not_read(name: str):
    assert bank(name).read("A courier will bring you a yacht.") is None
    other = bank(BANKS[1 - BANKS.index(name)])
    for kind in ("reply_to.payout", "reply_to.escalated", "reply_to.warranty"):
        assert bank(name).read(other.say(kind, Draw("x"), **EXAMPLES)) is None


@pytest.mark.parametrize("name", BANKS)
def test_a_thought_is_known_by_what_it_is_about(name: str):
    words = bank(name)
    for kind, sentences in words.sentences.items():
        for sentence in sentences if kind.startswith("thought") else ():
            assert words.thinks_of("policy", f"{sentence} And so on.".format(**EXAMPLES)) == (kind == "thought.policy")


@pytest.mark.parametrize("name", BANKS)
def test_no_thought_says_what_was_answered_or_how_an_order_is_settled(name: str):
    thoughts = [s for kind, sentences in bank(name).sentences.items() if kind.startswith("thought") for s in sentences]
    assert not [
        t for t in thoughts if re.search(r"refund|escalat|not eligible|ineligible|authoris|approved|denied", t.lower())
    ]


def test_choices_are_written_out_and_slots_are_kept():
    assert expanded("[a|b] {x} [c|d]") == ("a {x} c", "a {x} d", "b {x} c", "b {x} d")
    assert expanded("plain") == ("plain",)
    assert bank("a").naming(["ORD-1", "ORD-2", "ORD-3"]) == "orders ORD-1, ORD-2 and ORD-3"
