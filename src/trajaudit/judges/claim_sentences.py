"""A text cut into atomic claims, and the sentences in it that claim nothing.

What is left out here is never checked, so the list is short and says only what no reader would call a statement of
fact: greetings, thanks, regrets, wishes, signatures, questions, requests, and (in a thought) intentions. All else is a
claim, however polite. Words are compared by their first five letters (truncation, the oldest stemming there is):
"refunded", "refunds" and "refunding" are one word, and no suffix list has to be kept for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from trajaudit.judges.claim_values import values

_SPLIT = re.compile(r"(?<=[.!?])[\"'”)]*\s+(?=[\"'“(]?[A-Z0-9€$£¥*-])|\n+")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_COURTESY = re.compile(
    r"(?:dear|hello|hi|hey|to|attention|attn|good (?:morning|afternoon|evening|day)|greetings)\b[^.!?]*[,:!]?"
    r"|(?:(?:many )?thanks|(?:we )?(?:apologi[sz]e|thank you)|(?:i|we)(?:'m| am|'re| are)? (?:very )?sorry)\b[^.!?]*"
    r"|(?:kind |best |warm )?(?:regards|sincerely|yours|cheers|take care|all the best|best wishes)\b[^.!?]*"
    r"|(?:it'?s |it is )?(?:nice|good|great|lovely|a pleasure) to (?:hear|meet|see|help)\b[^.!?]*"
    r"|(?:please|let (?:us|me) know|feel free|do not hesitate|don't hesitate|have an?|enjoy|hope)\b[^.!?]*",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:dear|hello|hi|hey)\s+[^,:.!?]{1,40}[,:!]\s+", re.IGNORECASE)
_INTENTION = re.compile(
    r"\b(?:will|shall|needs? to|should|must|let me|let's|i'll|going to|plan to|want to|next|first|try|would|could|"
    r"may|might|if|whether)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:should|recommend(?:s|ed)?|suggest(?:s|ed)?|advis(?:e|es|ed|able)|may|might|could|would|consider|if|whether|"
    r"ensure|verify|check that)\b",
    re.IGNORECASE,
)
_STOP = frozenset(
    _WORD.findall(
        "a an and any are as at be because been but by can did do does for from had has have he her here his how i if "
        "in into is it its just me my no nor not of on one or our out over own per she so some such than that the "
        "their them then there these they this those to too under until up us was we were what when where which while "
        "who whose will with within would you your yours about after again all also before between both down during "
        "each few further more most other same very s t d ll m re ve now soon shortly later please"
    )
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that claim something, without the form of address before them.

    >>> sentences("Dear Ada Ito, EUR 5 has been paid back. It arrives in a week.\\nKind regards, the team")
    ['EUR 5 has been paid back.', 'It arrives in a week.']
    """
    found: list[str] = []
    for raw in _SPLIT.split(text):
        sentence = _ADDRESS.sub("", raw.strip(" \t*_-•#>|"), count=1).strip()
        if any(char.isalnum() for char in sentence) and not courteous(sentence):
            found.append(sentence)
    if found and text.rstrip().endswith(found[-1]) and _signature(found[-1], len(found)):
        found.pop()
    return found


def courteous(sentence: str) -> bool:
    """Return whether a sentence is a form of politeness or a question, and holds nothing that could be checked."""
    if sentence.endswith("?"):
        return True
    match = _COURTESY.fullmatch(sentence.rstrip(".!"))
    checkable = [value for value in values(sentence) if value.kind not in ("name",)]
    return match is not None and not checkable


def _signature(line: str, position: int) -> bool:
    """Return whether a last line is a signature: a few words that no sentence ends, and nothing to check."""
    return position > 1 and len(line.split()) <= 4 and line[-1] not in ".!?:" and not values(line)


def intended(sentence: str) -> bool:
    """Return whether a sentence of a thought speaks of what is to be done or may be, and asserts nothing yet."""
    return _INTENTION.search(sentence) is not None


def advised(sentence: str) -> bool:
    """Return whether a sentence gives advice or states a condition or possibility, which no observation bears out."""
    return _ADVICE.search(sentence) is not None


@lru_cache(maxsize=65536)
def stems(text: str) -> frozenset[str]:
    """Return the words of a text that carry content, cut to five letters.

    >>> sorted(stems("The refunds were refunded to the customer."))
    ['custo', 'refun']
    """
    words = (word.lower().split("'")[0].split("’")[0] for word in _WORD.findall(text.replace("_", " ")))
    return frozenset(word[:5] for word in words if word not in _STOP and len(word) > 2)


def allowed(sentence: str, standing: Iterable[str]) -> bool:
    """Return whether a standing claim of the procedure covers a sentence: the same values, and half its words or more.

    >>> standing = ("The refund arrives within five working days.",)
    >>> allowed("The money will arrive in 5 working days.", standing)
    True
    >>> allowed("The money will arrive in 3 working days.", standing)
    False
    """
    mine, said = _stated(sentence), stems(sentence)
    for claim in standing:
        known = stems(claim)
        shared = len(said & known) / max(1, min(len(said), len(known)))
        if mine == _stated(claim) and shared >= 0.5:
            return True
    return False


def _stated(text: str) -> frozenset[tuple[object, ...]]:
    """Return the values of a sentence but for identifiers, which say what it is about."""
    found = [value for value in values(text) if value.kind != "identifier"]
    return frozenset((v.numbers, v.dimension, v.scale) if v.kind == "number" else (v.text.casefold(),) for v in found)
