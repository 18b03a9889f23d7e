"""Forms of sentences: what wording banks are made of, read in both directions.

A form is a sentence with choices ``[x|y]`` and slots ``{order}``. Written out it is every sentence it can say, from
which one is drawn uniformly; as a pattern it reads such a sentence back into its slots, which is how a witness knows
what a text claims.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

_CHOICE = re.compile(r"\[([^\]]*\|[^\]]*)\]")
_SLOT = re.compile(r"\\\{(\w+)\\\}")


def expanded(form: str) -> tuple[str, ...]:
    """Return every sentence that a form stands for.

    >>> expanded("[Load|Open] {order} [now|first].")[:3]
    ('Load {order} now.', 'Load {order} first.', 'Open {order} now.')
    """
    parts = _CHOICE.split(form)
    choices = [part.split("|") if i % 2 else [part] for i, part in enumerate(parts)]
    return tuple("".join(combination) for combination in itertools.product(*choices))


def pattern(form: str, slots: Mapping[str, str]) -> str:
    """Return a regular expression that matches what a form can say, with a group for each slot.

    ``slots`` maps a slot to the expression of what may fill it; any text may fill one that is not listed. A slot that
    comes twice has to be filled alike.

    >>> pattern("{order} [opened|read].", {"order": "ORD-[0-9]+"})
    '(?P<order>ORD-[0-9]+)\\\\ (?:opened|read)\\\\.'
    """

    seen: set[str] = set()

    def group(slot: re.Match[str]) -> str:
        if slot[1] in seen:
            return f"(?P={slot[1]})"
        seen.add(slot[1])
        return f"(?P<{slot[1]}>{slots.get(slot[1], '.+?')})"

    def literal(text: str) -> str:
        return _SLOT.sub(group, re.escape(text))

    parts = _CHOICE.split(form)
    choices = ("|".join(map(literal, part.split("|"))) if i % 2 else literal(part) for i, part in enumerate(parts))
    return "".join(f"(?:{choice})" if i % 2 else choice for i, choice in enumerate(choices))
