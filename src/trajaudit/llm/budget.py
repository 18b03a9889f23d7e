"""A limit on money or tokens that stops a run cleanly.

The limit is checked before a request leaves, so a run can pass it by what is in flight at that moment and no more;
those answers are stored. An answer from the response cache costs nothing. A reply whose cost is unknown stops a run
with a budget at once, since the budget can then no longer be kept.
"""

from __future__ import annotations

from trajaudit.llm.chat import BudgetExceeded
from trajaudit.verdict import Usage


class Budget:
    """What may be spent in US dollars and in tokens (prompt and completion together); null is no limit.

    >>> budget = Budget(tokens=100)
    >>> budget.check()
    >>> budget.spend(Usage(1, 90, 0, 15, 0.0))
    >>> budget.check()
    Traceback (most recent call last):
    ...
    trajaudit.llm.chat.BudgetExceeded: budget.tokens: 105 of 100 tokens spent
    """

    def __init__(self, usd: float | None = None, tokens: int | None = None) -> None:
        for name, limit in (("usd", usd), ("tokens", tokens)):
            if limit is not None and not limit >= 0:
                raise ValueError(f"budget.{name}: expected 0 or more, or null for no limit, got {limit!r}")
        self.usd, self.tokens = usd, tokens
        self.spent = Usage()

    def require_price(self, known: bool, model: str) -> None:
        """Refuse a budget in money for a model whose price is unknown, before anything is spent."""
        if self.usd is not None and not known:
            raise ValueError(
                f"budget.usd: cannot be kept, because the price of {model!r} is unknown; "
                "state it (price.input, price.output) or set budget.tokens instead"
            )

    def spend(self, usage: Usage) -> None:
        """Count one reply."""
        self.spent += usage

    def check(self) -> None:
        """Raise where the limit is reached, or where what was spent is no longer known.

        Raises:
            BudgetExceeded: naming the limit and what was spent.
        """
        spent = self.spent
        if self.usd is not None and (spent.usd is None or spent.usd >= self.usd):
            raise BudgetExceeded(_message("usd", spent.usd, self.usd, "US dollars"))
        prompt, completion = spent.prompt_tokens, spent.completion_tokens
        tokens = None if prompt is None or completion is None else prompt + completion
        if self.tokens is not None and (tokens is None or tokens >= self.tokens):
            raise BudgetExceeded(_message("tokens", tokens, self.tokens, "tokens"))


def _message(name: str, spent: float | None, limit: float, unit: str) -> str:
    if spent is None:
        return f"budget.{name}: cannot be kept any longer, because the endpoint did not report what a reply cost"
    return f"budget.{name}: {spent:.10g} of {limit:.10g} {unit} spent"
