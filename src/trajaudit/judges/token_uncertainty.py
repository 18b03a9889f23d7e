"""How unsure a model was of its verdict, read from the log-probabilities of the tokens that say ``faulty``.

Three signs, all the larger the less sure, taken at the value behind ``"faulty":`` and nowhere else, since the tokens of
the reasoning are many and hardly about the verdict:

- ``token_entropy``: entropy in nats between *true* and *false*, each the sum of the alternatives that begin the word
  (" true" and "true" are two tokens of one meaning), scaled to sum to 1; from 0 to ln 2.
- ``token_tie``: one less the difference of the same two sums, *not* scaled: what the model wanted to write in place of
  a verdict, had the grammar let it, counts as doubt.
- ``token_surprisal``: mean of -log p over the tokens of the value as it was written.

Endpoints report what was sampled before their own clean-up: a llama.cpp server lists the tokens of a code fence that
its text no longer has. So tokens are laid beside the text from the end. What cannot be read is left out, never guessed:
an endpoint without log-probabilities gives a verdict without signs, and where the listed alternatives name only one of
the two words there is no entropy.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from trajaudit._fields import Json

VERSION = 1
_VALUE = re.compile(rb'"faulty"\s*:\s*(true|false)')
"""A quotation mark inside a JSON string is escaped, so a verdict quoted in the reasoning does not match."""
_WORDS = ("true", "false")


def of_verdict(text: str, logprobs: Json) -> dict[str, float]:
    """Return the signs of doubt of a reply, by name; empty where they cannot be read.

    Args:
        text: the reply, a JSON object with ``faulty``.
        logprobs: ``choices[0].logprobs`` of a chat completion, or null.

    >>> listed = [{"token": " true", "logprob": math.log(0.6)}, {"token": " false", "logprob": math.log(0.2)}]
    >>> tokens = [{"token": '{"faulty":', "logprob": 0.0}, {**listed[0], "top_logprobs": listed},
    ...           {"token": "}", "logprob": 0.0}]
    >>> doubt = of_verdict('{"faulty": true}', {"content": tokens})
    >>> {name: round(value, 3) for name, value in doubt.items()}  # entropy of 3 to 1; 1 - (0.6 - 0.2); -ln 0.6
    {'token_entropy': 0.562, 'token_tie': 0.6, 'token_surprisal': 0.511}
    """
    try:
        said = _value_tokens(text, logprobs["content"])
        if not said:
            return {}
        surprisal = -sum(float(entry["logprob"]) for entry in said) / len(said)
        masses = [_mass(said[0].get("top_logprobs") or [], word) for word in _WORDS]
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return {}
    if not all(map(math.isfinite, (surprisal, *masses))):
        return {}
    signs = {"token_surprisal": max(0.0, surprisal)}
    if all(masses):
        share = masses[0] / sum(masses)
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share) if 0 < share < 1 else 0.0
        signs = {"token_entropy": entropy, "token_tie": max(0.0, 1 - abs(masses[0] - masses[1])), **signs}
    return signs


def _value_tokens(text: str, entries: Sequence[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Return the tokens that the value of ``faulty`` is made of, laying tokens and text together from the end."""
    pieces = [_bytes(entry) for entry in entries]
    joined, wanted = b"".join(pieces), text.strip().encode("utf-8", "surrogatepass")
    start = joined.rfind(wanted) if wanted else -1
    values = list(_VALUE.finditer(wanted))
    if start < 0 or not values:
        return []
    low, high = (start + end for end in values[-1].span(1))
    found, at = [], 0
    for entry, piece in zip(entries, pieces, strict=True):
        if at < high and at + len(piece) > low:
            found.append(entry)
        at += len(piece)
    return found


def _bytes(entry: Mapping[str, Json]) -> bytes:
    """Return a token's bytes; a character cut in two by the tokenizer is whole only as bytes."""
    given = entry.get("bytes")
    return bytes(given) if given is not None else entry["token"].encode("utf-8", "surrogatepass")


def _mass(alternatives: Sequence[Mapping[str, Json]], word: str) -> float:
    """Return the probability of the listed tokens that begin ``word``."""
    begun = ((str(entry["token"]).strip().lower(), float(entry["logprob"])) for entry in alternatives)
    return sum(math.exp(logprob) for token, logprob in begun if token and word.startswith(token))
