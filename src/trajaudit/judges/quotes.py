r"""Finding a quote in the text it claims to come from.

A model that reads JSON quotes it unescaped, or escapes what was not, and straightens or curls quotation marks. Compared
as they are, right quotes fail: one tool rejected 83 % of its quotes, nearly all of them right, because a line break was
spelled ``\n`` on one side. So both sides are brought to one canonical text, and a map of offsets leads back to the
source, where the quote is shown. Digits and words stay as they are: a wrong number stays wrong.
"""

from __future__ import annotations

import re

_ESCAPES = {"n": " ", "r": " ", "t": " ", '"': '"', "\\": "\\", "/": "/"}
_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "\u00a0": " ", "–": "-", "—": "-"})
_PIECE = re.compile(r"\\+u([0-9a-fA-F]{4})|\\+([nrt\"\\/])|\\+|\s+|.", re.DOTALL)


def canonical_text(text: str) -> tuple[str, list[int]]:
    r"""Return the canonical text and, for each of its characters, the offset in ``text`` where it begins.

    >>> canonical_text('a\\\\nb')[0] == canonical_text('a\nb')[0] == "a b"
    True
    >>> canonical_text('x  “y”')
    ('x "y"', [0, 1, 3, 4, 5])
    """
    out: list[str] = []
    offsets: list[int] = []
    for match in _PIECE.finditer(text):
        char = _canonical_piece(match)
        if char == " " and out[-1:] == [" "]:
            continue
        out.append(char)
        offsets.append(match.start())
    return "".join(out), offsets


def find_quote(quote: str, source: str) -> tuple[int, int] | None:
    r"""Return where in ``source`` a quote stands, as (start, end) of the original text; null where it does not.

    >>> source = '{"note": "a\\nb", "ok": true}'
    >>> start, end = find_quote("a\nb", source)
    >>> source[start:end]
    'a\\nb'
    >>> find_quote("a c", source) is None
    True
    """
    wanted, (text, offsets) = canonical_text(quote)[0].strip(), canonical_text(source)
    at = text.find(wanted) if wanted else -1
    if at < 0:
        return None
    end = at + len(wanted)
    return offsets[at], offsets[end] if end < len(offsets) else len(source)


def _canonical_piece(match: re.Match[str]) -> str:
    code, escape = match.groups()
    piece = match.group()
    if code:
        char = chr(int(code, 16))
    elif escape:
        char = _ESCAPES[escape]
    else:
        char = " " if piece.isspace() else piece[0]
    return " " if char.isspace() else char.translate(_SAME)
