"""Where healthy answers take their values from, learnt from clean runs: the one fitted part of the claim checker.

A number of days in an answer may equal the days since purchase by chance. Runs known to be clean show that such a
number is always the payout time; then only that field supports it. What is learnt are units and fields, never words, so
it carries over to answers in other sentences. A tool whose fields were never seen in training is not held to them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from trajaudit._fields import Fields, Json, loads, typed
from trajaudit.judges.claim_check import kind_of, supporting
from trajaudit.judges.claim_facts import observed
from trajaudit.judges.claim_premises import prepared
from trajaudit.judges.claim_sentences import sentences
from trajaudit.trajectory import Trajectory

COVER = 0.999
"""The share of the occurrences of a kind that the fields kept must explain together; else the kind is left free."""
_LEAST = 20
"""A kind that occurs less often is left free."""


def learn_sources(clean: Iterable[Trajectory]) -> dict[str, tuple[str, ...]]:
    """Return, for each kind of value, the fewest fields that explain where healthy final answers take it from."""
    seen_in: dict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    for trajectory in clean:
        seen = observed(trajectory)
        for claim in sentences(trajectory.final_answer or ""):
            given, stated, _ = prepared(claim, seen)
            for value in stated:
                fields = frozenset(fact.field for fact in supporting(value, given.facts)) - {"task"}
                if value.kind != "identifier":
                    seen_in[kind_of(value)][fields] += 1
    covers = {kind: _cover(counts) for kind, counts in sorted(seen_in.items()) if sum(counts.values()) >= _LEAST}
    return {kind: fields for kind, fields in covers.items() if fields}


def _cover(counts: Counter[frozenset[str]]) -> tuple[str, ...]:
    """Return fields, the one that explains most first, until all but a thousandth of the occurrences is explained.

    Fields that explain equally many are kept together: in healthy runs what was authorised is what was refunded.
    """
    left, total = counts.copy(), sum(counts.values())
    kept: list[str] = []
    while sum(left.values()) > (1 - COVER) * total:
        gain: Counter[str] = Counter()
        for fields, count in left.items():
            gain.update(dict.fromkeys(fields, count))
        if not gain:
            return ()
        most = max(gain.values())
        best = [name for name in sorted(gain) if gain[name] == most]
        kept += best
        left = Counter({fields: count for fields, count in left.items() if not fields.intersection(best)})
    return tuple(kept)


def read_sources(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Read learnt sources from a JSON file, as written from `learn_sources`.

    Raises:
        RecordError: naming the file and the key.
    """
    content = typed(loads(Path(path).read_bytes(), str(path)), dict, str(path))
    fields = Fields(content, f"{path}:", tuple(content))

    def name(item: Json, where: str) -> str:
        return typed(item, str, where)

    return {kind: fields.each(kind, name) for kind in content}
