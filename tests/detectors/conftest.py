"""Words instead of word pieces, for tests that read what an encoder is fed."""

from __future__ import annotations

import pytest
from plain_tokenizer import PlainTokenizer


@pytest.fixture
def words() -> PlainTokenizer:
    return PlainTokenizer()
