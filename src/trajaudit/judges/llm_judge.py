"""The LLM judge: one view of a trajectory, one prompt, one reply form, any model behind ``Chat``.

Outcome and step judge are this class with another ``view``; prompt, procedure, taxonomy and decoding are the same, so
what differs between their verdicts is what they were shown. What becomes of a reply is said in ``asking``.
"""

from __future__ import annotations

import hashlib

from trajaudit._fields import Json
from trajaudit.judges import elision, reply, view
from trajaudit.judges.asking import Asking, Opinion, one_of
from trajaudit.judges.prompt import Prompt
from trajaudit.judges.reply import parse_reply, reply_schema
from trajaudit.judges.view import VIEWS
from trajaudit.llm.chat import Chat, Request
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Evidence

VERSION = 1


class LLMJudge(Asking):
    """A judge that asks a language model once a trajectory.

    Args:
        chat: the model.
        view: ``outcome`` or ``step``.
        procedure: what the agent had to follow, in the dataset's words.
        taxonomy: the fault types that a reply may name.
        prompt: the version of the prompt files.
        max_tokens: cap of the reply; it is taken off the window.
        seed: passed to the endpoint; sample ``i`` of a self-consistency ensemble gets ``seed + i``. Null sends none.
        overflow: what to do with a record that does not fit the window: ``elide`` or ``refuse``.
        reasoning_limit: characters of reasoning at most, as ``reply_schema`` says.
        top_logprobs: how many alternatives of each token to ask for (0 for none); from them comes the uncertainty.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        view: str,
        procedure: str,
        taxonomy: Taxonomy,
        prompt: str = "v1",
        max_tokens: int = 1024,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int | None = 0,
        overflow: str = "elide",
        reasoning_limit: int | None = None,
        top_logprobs: int = 0,
    ) -> None:
        one_of("view", view, VIEWS)
        if not procedure.strip():
            raise ValueError("procedure: expected the text that the agent had to follow, got an empty one")
        self.prompt = Prompt(prompt)
        self.schema = reply_schema(taxonomy, view, reasoning_limit)
        decoding = Request((), self.schema, temperature, top_p, max_tokens, seed, top_logprobs=top_logprobs)
        super().__init__(chat, view, self.prompt.system(procedure, taxonomy), decoding, overflow)
        self.name = f"{view}:{chat.name}"
        self.spec = self._spec()

    def user(self, mark: str, record: str, trajectory: Trajectory) -> str:
        return self.prompt.user(mark, record)

    def read(self, text: str, trajectory: Trajectory) -> Opinion:
        said = parse_reply(text, self.schema, len(trajectory.steps))
        types = () if said.type is None else (said.type,)
        evidence = () if said.step is None else (Evidence(said.step),)
        return Opinion(said.faulty, said.confidence, said.reasoning, said.step, types, evidence)

    def _spec(self) -> dict[str, Json]:
        """Return everything that can change a verdict of this judge."""
        return {
            "judge": "llm",
            "version": [VERSION, view.VERSION, elision.VERSION, reply.VERSION],
            "model": self.chat.spec,
            "view": self.view,
            "prompt": {"version": self.prompt.version, "sha256": self.prompt.sha256},
            "system_sha256": hashlib.sha256(self.system.encode()).hexdigest(),
            "schema": self.schema,
            **self.decoding_spec(),
        }
