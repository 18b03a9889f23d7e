"""An episode: a task in a testbed that an agent works on by real tool calls, and the record of how that went.

A testbed's labels by construction say what was put into a script; here nothing is put in. A model acts, and what it did
is labelled afterwards by the testbed's rules (``origin: rule``): exact where the rules see, "no rule fired" and no more
where they do not. Two choices change numbers. A reply that is no call never reached the world, so it is no step of the
trajectory: it is fed back to the model and counted (``failed_parses``). And an episode that ran into a limit is a run
like any other, labelled as it stands; only one in which nothing was called, or whose endpoint failed, gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from trajaudit._fields import Fields, Json, RecordError, fail
from trajaudit.dataset import Procedure
from trajaudit.taxonomy import Taxonomy
from trajaudit.trajectory import Fault, Label, Trajectory
from trajaudit.verdict import Usage

ENDINGS = ("finished", "stopped", "max_steps", "parse_fail", "overflow", "refused")
"""How an episode ends that the agent had its say in: by the call that ends it, by words instead of a call, at the limit
of steps, by too many replies in a row that were no call, by a history that no longer fits the window, by a refusal."""
FAILURES = ("api_error", "not_run")
"""How one fails that no agent is to blame for; a later run tries it again."""


@dataclass(frozen=True)
class Tool:
    """A tool as an agent is told of it; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Json

    def to_json(self) -> Json:
        """Return the form in which chat completions endpoints take a tool."""
        told = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": told}


class Ending(NamedTuple):
    """What the user is left with, and whether the outcome is the expected one (null where nobody knows)."""

    final_answer: str | None
    outcome_correct: bool | None


class Episode(Protocol):
    """One task under way. ``id`` and ``group`` are opaque; the same seed gives the same episode.

    ``agent`` is who acts now (null where there is one agent only), ``brief`` what that agent is told beside the task,
    ``tools`` what it may be told to use. All three can change with a call. ``call`` answers with an observation,
    whatever is asked, and never raises for what an agent asks; ``done`` says that a call ended the episode.
    """

    id: str
    group: str
    task: str

    @property
    def agent(self) -> str | None: ...
    @property
    def brief(self) -> str: ...
    @property
    def tools(self) -> tuple[Tool, ...]: ...
    @property
    def done(self) -> bool: ...
    def call(self, tool: str, args: dict[str, Json]) -> Json: ...
    def ending(self, said: str | None) -> Ending:
        """Return how it ended; ``said`` is what the agent said last instead of a call, if anything."""
        ...


class Broken(Protocol):
    """A rule that a trajectory breaks: at which step, and the fault type that it stands for."""

    @property
    def step(self) -> int | None: ...
    @property
    def type(self) -> str: ...


Rules = Callable[[Trajectory], Sequence[Broken]]


@dataclass(frozen=True)
class Testbed:
    """A named source of episodes, with what an agent must be told.

    ``rules`` names the testbed whose rule engine labels what the agent did; ``size`` is the number of episodes.
    """

    __test__ = False  # no test class, whatever its name

    name: str
    domain: str
    episodes: Callable[[], Iterator[Episode]]
    size: int
    taxonomy: Taxonomy
    procedure: Procedure
    rules: str


def labelled(check: Rules, trajectory: Trajectory, outcome_correct: bool | None) -> Trajectory:
    """Return a trajectory with the label that rules give it: a fault for each (type, step) that they name."""
    broken = dict.fromkeys(Fault(rule.type, rule.step) for rule in check(trajectory))
    return replace(trajectory, label=Label(bool(broken), tuple(broken), outcome_correct, "rule"))


_KEYS = ("episode", "spec_hash", "status", "trajectory", "failed_parses", "usage", "latency_s", "detail")


@dataclass(frozen=True, slots=True)
class Rollout:
    """What became of one episode: how it ended, the trajectory (null where nothing was called), and what it cost."""

    episode: str
    spec_hash: str
    status: str
    trajectory: Trajectory | None = None
    failed_parses: int = 0
    usage: Usage = field(default_factory=Usage)
    latency_s: float = 0.0
    detail: str | None = None

    def __post_init__(self) -> None:
        if self.status not in (*ENDINGS, *FAILURES):
            fail(f"{self.episode}: status", f"one of {', '.join((*ENDINGS, *FAILURES))}", self.status)
        if self.status in FAILURES and self.trajectory is not None:
            raise RecordError(f"{self.episode}: trajectory: expected none where status is {self.status}")

    def to_json(self) -> Json:
        trajectory = None if self.trajectory is None else self.trajectory.to_json()
        plain = {name: getattr(self, name) for name in _KEYS}
        return {**plain, "trajectory": trajectory, "usage": self.usage.to_json()}

    @classmethod
    def from_json(cls, obj: Json, where: str = "rollout") -> Rollout:
        fields = Fields(obj, f"{where}:", _KEYS)
        trajectory = fields.maybe("trajectory", dict)
        return cls(
            fields.need("episode", str),
            fields.need("spec_hash", str),
            fields.need("status", str),
            None if trajectory is None else Trajectory.from_json(trajectory, f"{where}: trajectory"),
            fields.need("failed_parses", int),
            Usage.from_json(fields.need("usage", dict), fields.at("usage")),
            fields.need("latency_s", float),
            fields.maybe("detail", str),
        )
