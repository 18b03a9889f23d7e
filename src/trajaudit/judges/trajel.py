"""The Trajel judge: is there a hallucination, of which types, where, and why (the paper's Appendix B, in our words).

The paper's prompt has the question, the expected answer, the agents' thinking and their response; here the fenced
record of the step view is question, thinking and response at once. The expected answer is not shown unless the variant
asks for it by name, and then a run without one is an ``abstain``, not a verdict under another condition.
"""

from __future__ import annotations

import hashlib
from importlib import resources

from jinja2 import Environment, StrictUndefined

from trajaudit import location
from trajaudit._fields import Json
from trajaudit.judges import elision, trajel_reply, view
from trajaudit.judges.asking import Asking, Opinion
from trajaudit.judges.self_consistency import Votes
from trajaudit.judges.trajel_reply import parse_reply, reply_schema
from trajaudit.judges.variant import GOALS, PromptVariant
from trajaudit.judges.view import Part, fenced
from trajaudit.llm.chat import Chat, Request
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Trajectory

VERSION = 1
_FOLDER = resources.files("trajaudit.judges") / "prompts" / "trajel_v1"
_TEMPLATES = Environment(undefined=StrictUndefined, autoescape=False, trim_blocks=True)


class TrajelJudge(Asking):
    """A judge that asks the four questions of Trajel's evaluation about everything in a trajectory.

    Args:
        chat: the model.
        procedure: what the agents had to follow, in the dataset's words.
        taxonomy: the types that a reply may name; examples ship for each taxonomy of trajaudit.
        variant: how it is asked.
        The others are those of ``LLMJudge``.
    """

    def __init__(
        self,
        chat: Chat,
        *,
        procedure: str,
        taxonomy: Taxonomy,
        variant: PromptVariant | None = None,
        max_tokens: int = 1024,
        temperature: float = 0.0,
        top_p: float = 1.0,
        seed: int | None = 0,
        overflow: str = "elide",
        reasoning_limit: int | None = None,
        top_logprobs: int = 0,
    ) -> None:
        self.variant = variant or PromptVariant()
        self.types = taxonomy.types
        self.schema = reply_schema(taxonomy, self.variant, reasoning_limit)
        decoding = Request((), self.schema, temperature, top_p, max_tokens, seed, top_logprobs=top_logprobs)
        super().__init__(chat, "step", _system(self.variant, procedure, taxonomy), decoding, overflow)
        told = "" if self.variant == PromptVariant() else f"+{self.variant.name}"
        self.name = f"trajel{told}:{chat.name}"
        self.spec = self._spec()

    def user(self, mark: str, record: str, trajectory: Trajectory) -> str:
        shown = trajectory.reference if self.variant.with_reference else None
        reference = "" if shown is None else fenced([Part("expected answer", shown)], mark)
        return _rendered("user.md", mark=mark, record=record, reference=reference)

    def why_not(self, trajectory: Trajectory) -> str | None:
        lacking = self.variant.with_reference and trajectory.reference is None
        return "with_reference: the trajectory has no expected answer" if lacking else None

    def read(self, text: str, trajectory: Trajectory) -> Opinion:
        return parse_reply(text, self.types, len(trajectory.steps))

    def _spec(self) -> dict[str, Json]:
        """Return everything that can change a verdict of this judge."""
        return {
            "judge": "trajel",
            "version": [VERSION, view.VERSION, elision.VERSION, trajel_reply.VERSION, location.VERSION],
            "model": self.chat.spec,
            "variant": self.variant.spec,
            "system_sha256": hashlib.sha256(self.system.encode()).hexdigest(),
            "user_sha256": hashlib.sha256(_read("user.md").encode()).hexdigest(),
            "schema": self.schema,
            **self.decoding_spec(),
        }


def trajel_self_consistency(
    chat: Chat,
    *,
    k: int,
    procedure: str,
    taxonomy: Taxonomy,
    variant: PromptVariant | None = None,
    max_tokens: int = 1024,
    temperature: float = 0.7,
    top_p: float = 1.0,
    seed: int | None = 0,
    overflow: str = "elide",
    reasoning_limit: int | None = None,
    top_logprobs: int = 0,
) -> Votes:
    """Return a judge that lets ``k`` samples of the Trajel judge vote; their spread is its semantic entropy."""
    member = TrajelJudge(
        chat,
        procedure=procedure,
        taxonomy=taxonomy,
        variant=variant,
        max_tokens=max_tokens,
        temperature=temperature,
        top_p=top_p,
        seed=seed,
        overflow=overflow,
        reasoning_limit=reasoning_limit,
        top_logprobs=top_logprobs,
    )
    return Votes(member, k)


def _system(variant: PromptVariant, procedure: str, taxonomy: Taxonomy) -> str:
    """Return the system message. It holds nothing of the trajectory, so an endpoint can cache it."""
    return _rendered(
        "system.md",
        full=variant.instructions == "full",
        definitions="\n".join(variant.ordered(taxonomy.text().splitlines())),
        procedure=variant.told(procedure),
        outline=variant.procedure == "outline",
        examples=_examples(taxonomy).strip() if variant.examples else "",
        goals=GOALS[variant.goals],
    )


def _examples(taxonomy: Taxonomy) -> str:
    known = sorted(entry.name.removesuffix(".md") for entry in (_FOLDER / "examples").iterdir())
    if taxonomy.name not in known:
        raise ValueError(
            f"variant: examples ship for the taxonomies {', '.join(known)}, not for {taxonomy.name!r}; "
            "take one without (prompt_variant=no_examples)"
        )
    return _read(f"examples/{taxonomy.name}.md")


def _rendered(name: str, **told: object) -> str:
    return _TEMPLATES.from_string(_read(name)).render(**told).strip()


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
