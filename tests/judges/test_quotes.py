"""A right quote is found however its line breaks, escapes and quotation marks are spelled; a wrong one is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajaudit.judges.quotes import canonical_text, find_quote


@pytest.mark.parametrize("quote", ["a\nb", "a\\nb", "a\\\\nb", "a b", "a\r\n  b"])
@pytest.mark.parametrize("source", ["a\nb", "a\\nb", "a\\\\nb"])
def test_a_line_break_is_the_same_however_it_is_escaped(quote, source):
    assert find_quote(quote, source) == (0, len(source))


def test_the_offsets_lead_back_to_the_original_text():
    source = json.dumps({"msg": 'He said "no"\tand left.', "n": 3})
    start, end = find_quote("“no” and left", source)
    assert source[start:end] == '\\"no\\"\\tand left'


@pytest.mark.parametrize("wrong", ["refund 41", "Refund 40", "refund 400", ""])
def test_a_wrong_quote_is_not_found(wrong):
    assert find_quote(wrong, "refund 40 EUR") is None


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_the_quote_of_a_text_is_found_in_its_json(inner, before, after):
    source = json.dumps({"text": before + inner + after}, ensure_ascii=False)
    if canonical_text(inner)[0].strip() and "\\" not in inner + before[-1:] and inner.isprintable():
        assert find_quote(inner, source) is not None


@given(st.text(max_size=80))
def test_offsets_ascend_and_stay_inside(text):
    canonical, offsets = canonical_text(text)
    assert len(canonical) == len(offsets)
    assert offsets == sorted(set(offsets))
    assert all(0 <= offset < len(text) for offset in offsets)
