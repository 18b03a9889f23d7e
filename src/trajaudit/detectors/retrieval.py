"""What of a long history is read with a claim: the pieces that share its rarest tokens.

A history grows with every step and a window does not. Reading all of it in pieces costs a pass of the encoder a piece,
and lets no pass hold two facts that stand apart; one window of the pieces most related to the claim costs one pass and
holds them together. Relatedness is the sum, over the distinct tokens that a piece shares with the claim, of how few
pieces have them (inverse document frequency within the run), so an order's number outweighs a comma. The choice that
changes the numbers is the length of a piece: short ones fit more facts, long ones keep a fact and its name together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

PIECE = 32
"""Most tokens of a piece; none reaches over the end of a part of a step."""


def pieces(parts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of the pieces of a history whose parts have these lengths.

    >>> pieces([40, 3])
    [(0, 20), (20, 40), (40, 43)]
    """
    found, start = [], 0
    for length in parts:
        count = -(-length // PIECE)
        edges = [start + round(length * i / count) for i in range(count + 1)] if count else [start]
        found += list(pairwise(edges))
        start += length
    return found


def related(history: Sequence[int], spans: Sequence[tuple[int, int]], claim: Sequence[int], size: int) -> list[int]:
    """Return which pieces are read with a claim, in order; of equals the later.

    Args:
        history: tokens. spans: of its pieces. claim: tokens. size: most tokens of all pieces together.

    >>> related([7, 1, 8, 1, 9, 1], [(0, 2), (2, 4), (4, 6)], [8, 1], 4)
    [1, 2]
    """
    words, asked = [set(history[start:stop]) for start, stop in spans], set(claim)
    spread = Counter(word for piece in words for word in piece & asked)
    worth = [sum(math.log(1 + len(spans) / spread[word]) for word in piece & asked) for piece in words]
    kept, left = list[int](), size
    for place in sorted(range(len(spans)), key=lambda i: (-worth[i], -i)):
        length = spans[place][1] - spans[place][0]
        if length <= left:
            kept.append(place)
            left -= length
    return sorted(kept)
