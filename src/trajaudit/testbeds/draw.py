"""A stream of random draws named by a string: the same key gives the same draws on every platform, in every order.

A run is keyed by (seed, instance, fault type), so it can be made alone, again, or in another order and stay the same.
That needs a new stream for every run, and seeding ``random.Random`` costs about 10 µs, half of what a whole run may
cost here. So a stream is one BLAKE2b digest read as a 512-bit integer, whose digits in mixed radix are the draws
(about 0.2 µs each); when it runs low, the digest of the key and a counter refills it. A digit is taken only while at
least 64 bits remain, which keeps the bias of a draw from ``n`` values below n / 2**64.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from math import gcd
from typing import TypeVar

T = TypeVar("T")

_LOW = 1 << 64
_ENOUGH = 1 << 320
_PARTS = 1_000_000


class Draw:
    """A deterministic stream of draws.

    >>> Draw("7|12|wrong_tool").below(1000) == Draw("7|12|wrong_tool").below(1000)
    True
    >>> draw = Draw("example")
    >>> [draw.below(6) for _ in range(8)]
    [0, 3, 3, 4, 2, 0, 3, 5]
    """

    __slots__ = ("_block", "_key", "_pool")

    def __init__(self, key: str) -> None:
        self._key = key
        self._block = 0
        self._pool = 0  # the first digest is taken when something is drawn

    def _refill(self) -> None:
        self._block += 1
        self._pool = int.from_bytes(blake2b(f"{self._key}\x00{self._block}".encode()).digest(), "little")

    def below(self, n: int) -> int:
        """Return an integer from 0 to ``n`` - 1, each equally likely; ``n`` must be below 2**64."""
        if self._pool < _LOW:
            self._refill()
        self._pool, digit = divmod(self._pool, n)
        return digit

    def digits(self, *radices: int) -> list[int]:
        """Return one draw below each of the numbers given: at most eight, each below 2**32, at half the price."""
        if self._pool < _ENOUGH:
            self._refill()
        pool, out = self._pool, []
        for radix in radices:
            pool, digit = divmod(pool, radix)
            out.append(digit)
        self._pool = pool
        return out

    def between(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        """Return one item of a non-empty sequence; one that has no other takes no draw."""
        return items[self.below(len(items))] if len(items) > 1 else items[0]

    def chance(self, share: float) -> bool:
        """Return True with probability ``share``, to within one in a million."""
        return self.below(_PARTS) < share * _PARTS

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order (Fisher-Yates)."""
        out = list(items)
        for last in range(len(out) - 1, 0, -1):
            other = self.below(last + 1)
            out[last], out[other] = out[other], out[last]
        return out


class Scatter:
    """A seeded bijection of ``range(count)`` in constant memory: position j goes to (a·j + b) mod count.

    A stored shuffle of 100,000 positions would be the one thing in the generator that grows with the size of the set.
    The stride is near count / golden ratio, so that neighbouring positions land far apart.

    >>> sorted(Scatter("k", 10)(j) for j in range(10)) == list(range(10))
    True
    """

    __slots__ = ("_count", "_offset", "_stride")

    def __init__(self, key: str, count: int) -> None:
        self._count = max(count, 1)
        draw = Draw(key)
        self._offset = draw.below(self._count)
        stride = max(1, round(self._count * 0.618)) + draw.below(max(1, self._count // 10))
        while gcd(stride, self._count) != 1:
            stride += 1
        self._stride = stride

    def __call__(self, position: int) -> int:
        return (self._stride * position + self._offset) % self._count


def opaque(key: str) -> str:
    """Return 16 hexadecimal digits that say nothing of ``key``: the ids and groups of generated runs.

    >>> len(opaque("7|12|wrong_tool"))
    16
    """
    return blake2b(key.encode(), digest_size=8).hexdigest()
