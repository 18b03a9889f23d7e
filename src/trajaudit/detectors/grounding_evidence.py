"""What a reader can check of a run that was flagged: values from nowhere, made-up arguments, failures left untold.

The score comes from the members; this only points. A finding here may be harmless (a sum that the agent worked out),
and a flagged run may show none.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from trajaudit.detectors.grounding_features import features, sentences, telling
from trajaudit.detectors.grounding_reading import IDENTIFIER, Reading, among, numbers
from trajaudit.verdict import Evidence

MOST = 8
_QUOTE = 160


def evidence(reading: Reading) -> tuple[Evidence, ...]:
    """Return at most `MOST` findings: of the answer first, then of calls, in order of steps."""
    return tuple(islice(_found(reading), MOST))


def _found(reading: Reading) -> Iterator[Evidence]:
    for sentence in sentences(reading.answer):
        if missing := _from_nowhere(reading, sentence):
            yield Evidence(None, sentence[:_QUOTE], f"in no observation: {', '.join(missing)}")
    before = reading.task
    for call in reading.calls:
        made_up = [name for name, value in call.args.items() if _made_up(value, before)]
        if made_up:
            said = ", ".join(f"{name}={call.args[name]}" for name in made_up)
            yield Evidence(call.step, said[:_QUOTE], "neither in the task nor in an observation before")
        before += "\n" + call.text
    if features(reading)["failures_untold"]:
        for call in reading.calls:
            if call.outcome != "ok":
                note = f"{call.tool} gave {'an error' if call.outcome == 'error' else 'nothing'}; the answer is silent"
                yield Evidence(call.step, call.text[:_QUOTE] or None, note)


def _from_nowhere(reading: Reading, sentence: str) -> list[str]:
    figures = [f"{n:g}" for n in numbers(sentence) if telling(n) and reading.origin(n) == "nowhere"]
    called = {call.tool for call in reading.calls}
    names = [
        name for name in IDENTIFIER.findall(sentence) if reading.origin_of(name) == "nowhere" and name not in called
    ]
    return list(dict.fromkeys(figures + names))


def _made_up(value: object, before: str) -> bool:
    if isinstance(value, bool) or value is None or value == "":
        return False
    if isinstance(value, int | float):
        return not among(float(value), numbers(before))
    return isinstance(value, str) and value.lower() not in before.lower()
