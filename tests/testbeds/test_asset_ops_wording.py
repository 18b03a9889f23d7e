"""Two wording banks of the plant that share nothing, and sentences that can be read back into what they claim."""

from __future__ import annotations

import re

from trajaudit.testbeds.asset_ops import generate
from trajaudit.testbeds.asset_ops.wording import BANKS, Bank, bank, sentences
from trajaudit.testbeds.draw import Draw

EXAMPLES = {
    "site": "MAIN",
    "asset": "Pump 4",
    "other": "Pump 9",
    "winner": "Pump 9",
    "sensor": "Motor Current",
    "tool": "sites",
    "week": "2020-04-27",
    "since": "2024-02-01",
    "stat": "mean",
    "value": "61.20",
    "limit": "64.00",
    "unit": "l/s",
    "count": "3",
    "alerts": "2",
    "items": "Flow Rate, Motor Current",
    "file": "/tmp/cbmdir/0a-1b-2c.json",
    "first": "61.02",
    "last": "59.87",
    "trend": "falling",
    "side": "below",
    "due": "not needed",
    "a": "1.50",
    "b": "2.00",
    "pct": "33.3",
    "mode": "dry bearing",
    "code": "PU-BRG",
    "priority": "2",
    "wo": "WO-12345",
    "bundle": "WB-1234",
    "model": "ttm_96_28",
    "agents": "IoT, TSFM",
}


def trigrams(words: Bank) -> set[tuple[str, ...]]:
    """Return the word trigrams of everything a bank can say, its slots left out."""
    found = set()
    for said in words.sentences.values():
        for sentence in said:
            tokens = re.findall(r"[a-z']+", re.sub(r"\{\w+\}", " ", sentence).lower())
            found |= set(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return found


def test_the_banks_have_the_same_kinds_and_no_sentence_in_common():
    a, b = bank("a"), bank("b")
    assert a.sentences.keys() == b.sentences.keys()
    everything = [{s.lower() for said in x.sentences.values() for s in said} for x in (a, b)]
    assert not everything[0] & everything[1]


def test_the_banks_share_almost_no_three_words_in_a_row():
    a, b = trigrams(bank("a")), trigrams(bank("b"))
    overlap = len(a & b) / len(a | b)
    print(f"word trigrams: {len(a)} in bank a, {len(b)} in bank b, {100 * overlap:.2f} % in common: {a & b}")
    assert overlap < 0.005


def test_every_claim_is_read_back_as_what_was_said():
    for name in BANKS:
        words = bank(name)
        for kind, forms in words.sentences.items():
            group, _, what = kind.partition(".")
            if group not in ("say", "note", "text", "goal"):
                continue
            for form in forms:
                sentence = form.format(**EXAMPLES)
                slots = {slot: EXAMPLES[slot] for slot in re.findall(r"\{(\w+)\}", form)}
                assert words.read(group, sentence) == (what, slots), sentence
                assert sentences(sentence) == [sentence]


def test_a_sentence_that_no_form_says_is_not_read():
    assert bank("a").read("say", "Pump 4 is fine.") is None
    assert bank("b").read("say", bank("a").say("say.failed", Draw("x"), tool="sites")) is None


def test_generated_texts_of_the_two_banks_share_no_sentence():
    def said(wording: str) -> set[str]:
        texts = set()
        for run in generate("varied", 210, 5, wording):
            answers = [step.action.args["answer"] for step in run.steps if step.action.tool == "finish"]
            for text in (run.task, *answers, *(step.thought or "" for step in run.steps)):
                texts |= set(sentences(text))
        return texts

    a, b = said("a"), said("b")
    assert len(a) > 500
    assert not a & b
