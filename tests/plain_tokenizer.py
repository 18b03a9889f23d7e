"""A tokenizer whose tokens are words, so that a test can read what an encoder is fed."""

from __future__ import annotations


class PlainTokenizer:
    """Words by number, in order of first appearance; 0 begins, 1 separates."""

    cls_token_id, sep_token_id = 0, 1

    def __init__(self) -> None:
        self.words = ["[CLS]", "[SEP]"]

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        for word in text.split():
            if word not in self.words:
                self.words.append(word)
        return [self.words.index(word) for word in text.split()]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        return 3 if pair else 2

    def decode(self, ids: tuple[int, ...]) -> str:
        return " ".join(self.words[i] for i in ids)
