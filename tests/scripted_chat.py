"""A model in memory that says what a test tells it to say, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from trajaudit.llm.chat import Completion, Request
from trajaudit.trajectory import Action, Source, Step, Trajectory
from trajaudit.verdict import Usage

CLEAN = {"reasoning": "all in order", "faulty": False, "step": None, "type": "none", "confidence": 0.9}
FLAG = {"reasoning": "no check", "faulty": True, "step": 1, "type": "skipped_precondition", "confidence": 0.8}
PROCEDURE = "1. Check eligibility before a refund.\n2. Reply to the customer."


class ScriptedChat:
    """Answers the i-th request with the i-th item of the script, the last one from then on; exceptions are raised.

    A token is four characters, so that windows can be worked out by hand.
    """

    def __init__(self, script: Sequence[object], window: int | None = None, name: str = "scripted") -> None:
        self.script, self.window, self.name = script, window, name
        self.spec = {"model": name}
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        item = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        if isinstance(item, Exception):
            raise item
        return item if isinstance(item, Completion) else completion(item)

    def count_tokens(self, text: str) -> int:
        return -(-len(text) // 4)

    async def close(self) -> None:
        pass


def completion(
    reply: object, finish: str = "stop", refusal: str | None = None, prompt_tokens: int = 1000
) -> Completion:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return Completion(text, finish, Usage(1, prompt_tokens, 0, 20, 0.001), 0.5, refusal=refusal)


def outcome(reply: dict) -> dict:
    """The same reply as the form of the outcome view has it: without a step."""
    return {key: value for key, value in reply.items() if key != "step"}


def refund_run(
    observations: Sequence[object] = ({"ok": True}, {"refunded": 40.5}), answer: str = "Refunded."
) -> Trajectory:
    """A run with one step an observation."""
    steps = tuple(
        Step(i, f"thought {i}", Action("act", {"order_id": f"ORD-{i}"}), observation)
        for i, observation in enumerate(observations)
    )
    return Trajectory("t1", "g1", "Refund order ORD-0.", steps, answer, Source("test"))
