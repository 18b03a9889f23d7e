"""Numbers that say how well an answer rests on what its run observed; none of them names a domain's words.

Four groups: how the calls went, how the answer is written, what in it no observation supports, and where the arguments
of calls came from. A word of a scenario's topic, or the length of its task, would tell a model which scenario it reads
and how often that one is faulty; these say what kind of run it is, which is what carries over to a new scenario.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from trajaudit._fields import Json
from trajaudit.detectors.grounding_reading import (
    DATE,
    IDENTIFIER,
    OUTCOMES,
    Reading,
    among,
    numbers,
)

Features = dict[str, float]
NONE = -1.0
"""A share of nothing: told apart from 0, since no numbers at all is another answer than no unsupported ones."""
PHRASES = {
    "failure": r"\b(?:unable|cannot|can't|could not|couldn't|not (?:possible|available|found|provided|able|enough|"
    r"sufficient|specified|contain|successful\w*)|no (?:data|readings|sensor|records?|information|results?|response|"
    r"fault|recent|such|explicit)|errors?|fail\w*|missing|unavailable|insufficient|does not exist|invalid|unknown|"
    r"refused)\b",
    "intention": r"\b(?:i will|we will|we need|need to|let's|let me|please|i'll|next step|to determine|we can|first,|"
    r"you can|should be called|would be)\b",
    "assumption": r"\b(?:assum\w+|hypothetical|sample|example|placeholder|typically|generally|for instance)\b",
    "hedge": r"\b(?:may|might|could|likely|possibly|probably|appears?|seems?|suggests?|potential(?:ly)?|estimated?|"
    r"approximately)\b",
    "done": r"\b(?:has been|have been|was|were|is)\s+(?:successfully\s+)?(?:created|issued|opened|updated|closed|"
    r"submitted|recorded|scheduled|retrieved|marked)\b",
}
"""What a sentence does: admits a failure, says what is still to do, assumes, hedges, reports an action as done."""
_PHRASES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in PHRASES.items()}
_CALL_AS_TEXT = re.compile(r'\{"name"|"parameters"|\w+\([\w"\']+=|```|def |import ')
_HOLE = re.compile(r"\[[a-z_ ]{3,}\]|<[a-z_ ]+>|X{3,}|\bNone\b|\bnull\b|\{\w+\}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[a-z]+")
_FUNCTION_TEXT = (
    "about above after again all also and any are because been before being below between both but can could did does "
    "doing down during each few for from further had has have having her here hers him his how into its itself just "
    "more most nor not now off once only other our out over own same she should some such than that the their them "
    "then there these they this those through too under until very was were what when where which while who why will "
    "with would you your using use used based results result answer final question original provide provided"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())


def features(reading: Reading) -> Features:
    """Return the named numbers of one run, all finite."""
    found: Features = {}
    for group in GROUPS.values():
        found |= {name: float(value) for name, value in group(reading).items()}
    return found


def matrix(readings: Sequence[Reading]) -> NDArray[np.float64]:
    """Return [n, features], in the order of `features`."""
    return np.array([list(features(reading).values()) for reading in readings], dtype=np.float64)


def sentences(text: str) -> list[str]:
    """Return the sentences and list items that hold a word."""
    return [part for part in _SENTENCE.split(text) if re.search(r"[A-Za-z]{3}", part)]


def content_words(text: str) -> list[str]:
    """Return the words of more than two letters, function words left out; underscores separate words."""
    words = _WORD.findall(text.lower().replace("_", " "))
    return [word for word in words if len(word) > 2 and word not in _FUNCTION_WORDS]


def share(hits: Sequence[bool] | Sequence[float]) -> float:
    """Return the mean, `NONE` of nothing."""
    return float(np.mean(hits)) if len(hits) else NONE


def unsupported(reading: Reading) -> list[float]:
    """Return the numbers of the answer that stand neither in the task nor in an observation."""
    return [number for number in numbers(reading.answer) if reading.origin(number) == "nowhere"]


def telling(number: float) -> bool:
    """Return whether a number is worth a search: a small integer (a count, a list's own numbering) is not."""
    return abs(number) > 12 or number != int(number)


def _course(reading: Reading) -> Features:
    """How the calls went."""
    went = [call.outcome for call in reading.calls]
    tools = {call.tool for call in reading.calls}
    working = {call.tool for call in reading.calls if call.outcome == "ok"}
    asked = [call.tool + json.dumps(call.args, sort_keys=True) for call in reading.calls]
    counts = {f"{name}_calls": went.count(name) for name in OUTCOMES}
    shares = {f"{name}_share": share([one == name for one in went]) for name in OUTCOMES}
    return {
        "calls": len(went),
        **counts,
        **shares,
        "first_ok": float(went[0] == "ok") if went else NONE,
        "last_ok": float(went[-1] == "ok") if went else NONE,
        "last_two_not_ok": sum(one != "ok" for one in went[-2:]),
        "tools_working": len(working),
        "tools_never_working": len(tools - working),
        "repeated_calls": len(asked) - len(set(asked)),
        "own_steps": len(reading.own),
        "planned": len(reading.plan),
        "planned_less_called": len(reading.plan) - len(went) if reading.plan else 0,
        "verified": bool(reading.remarks),
        "doubts": share([remark != "continue" for remark in reading.remarks]),
        "broke_off": reading.broke_off,
        "observed_length": np.log1p(len(reading.observed)),
    }


def _form(reading: Reading) -> Features:
    """How the answer is written."""
    answer, said = reading.answer, sentences(reading.answer)
    found: Features = {"answer_empty": not answer, "answer_length": np.log1p(len(answer)), "sentences": len(said)}
    for name, pattern in _PHRASES.items():
        hits = [bool(pattern.search(sentence)) for sentence in said]
        found |= {name: sum(hits), f"{name}_share": sum(hits) / max(len(said), 1)}
    failed = sum(call.outcome != "ok" for call in reading.calls)
    errors = sum(call.outcome == "error" for call in reading.calls)
    return found | {
        "call_as_text": bool(_CALL_AS_TEXT.search(answer)),
        "holes": len(_HOLE.findall(answer)),
        "questions": answer.count("?"),
        "list_items": len(re.findall(r"(?m)^\s*(?:[-*•]|\d+\.)\s", answer)),
        "task_repeated": reading.task[:50].lower() in answer.lower(),
        "based_on": answer.startswith("Based on"),
        "first_person": len(re.findall(r"\b(?:I|we|We)\b", answer)),
        "steps_named": len(re.findall(r"\bstep\s*#?\d", answer, re.IGNORECASE)),
        "tools_named": sum(tool in answer for tool in {call.tool for call in reading.calls}),
        "errors_untold": errors > 0 and found["failure"] == 0,
        "failures_untold": failed if found["failure"] == 0 else 0,
        "answer_less_observed": np.log1p(len(answer)) - np.log1p(len(reading.observed)),
    }


def _support(reading: Reading) -> Features:
    """What in the answer has no support."""
    answer, said = reading.answer, numbers(reading.answer)
    origins = [reading.origin(number) for number in said]
    nowhere = unsupported(reading)
    arguments = numbers(json.dumps([call.args for call in reading.calls]))
    names, dates = set(IDENTIFIER.findall(answer)), {date[:10] for date in DATE.findall(answer)}
    quotes = re.findall(r'"([^"\n]{4,60})"', answer)
    everything = (reading.observed + " " + reading.task).lower()
    return {
        "numbers": len(said),
        "numbers_seen": origins.count("seen"),
        "numbers_nowhere": len(nowhere),
        "telling_nowhere": sum(telling(number) for number in nowhere),
        "nowhere_share": share([origin == "nowhere" for origin in origins]),
        "numbers_from_arguments": sum(among(number, arguments) for number in nowhere),
        "sentences_nowhere": share([_unsupported_sentence(reading, sentence) for sentence in sentences(answer)]),
        "names": len(names),
        "names_seen": sum(reading.origin_of(name) == "seen" for name in names),
        "names_nowhere": sum(reading.origin_of(name) == "nowhere" for name in names),
        "task_names_missing": sum(name not in answer for name in set(IDENTIFIER.findall(reading.task))),
        "dates_seen": sum(reading.origin_of(date) == "seen" for date in dates),
        "dates_nowhere": sum(reading.origin_of(date) == "nowhere" for date in dates),
        "quotes": len(quotes),
        "quotes_nowhere": sum(quote.lower() not in everything for quote in quotes),
        **_word_support(reading),
    }


def _unsupported_sentence(reading: Reading, sentence: str) -> bool:
    return any(telling(n) and reading.origin(n) == "nowhere" for n in numbers(sentence))


def _word_support(reading: Reading) -> Features:
    seen, asked = set(_WORD.findall(reading.observed.lower().replace("_", " "))), set(content_words(reading.task))
    words = content_words(reading.answer)
    by_sentence = [set(content_words(sentence)) for sentence in sentences(reading.answer)]
    seen_shares = [len(own & seen) / len(own) for own in by_sentence if own]
    return {
        "words_seen": share([word in seen for word in words]),
        "words_seen_not_asked": share([word in seen and word not in asked for word in words]),
        "words_nowhere": share([word not in seen and word not in asked for word in words]),
        "least_seen_sentence": min(seen_shares, default=NONE),
        "little_seen_sentences": share([one < 0.4 for one in seen_shares]),
        "task_words_answered": share([word in set(words) for word in asked]),
    }


def _arguments(reading: Reading) -> Features:
    """Where the arguments of calls came from: the task, an earlier observation, or nowhere."""
    texts = figures = total = 0
    for call, before in zip(reading.calls, _before(reading), strict=True):
        for value in call.args.values():
            figure = _figure(value)
            if figure is not None:
                total, figures = total + 1, figures + (not among(figure, numbers(before)))
            elif isinstance(value, str) and value:
                total, texts = total + 1, texts + (value.lower() not in before.lower())
    return {
        "arguments_nowhere": texts,
        "figures_nowhere": figures,
        "arguments_nowhere_share": (texts + figures) / total if total else NONE,
    }


def _before(reading: Reading) -> list[str]:
    """Return, for each call, the task and all that was observed before it."""
    texts = [reading.task]
    for call in reading.calls:
        texts.append(texts[-1] + "\n" + call.text)
    return texts[:-1]


def _figure(value: Json) -> float | None:
    """Return an argument that is a number, or a number as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    return float(value) if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value) else None


GROUPS: dict[str, Callable[[Reading], Features]] = {
    "course": _course,
    "form": _form,
    "support": _support,
    "arguments": _arguments,
}
"""Features by what they are about, for ablations."""
