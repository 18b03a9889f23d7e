"""Names of faults and of the places they sit in: the vocabulary that labels, verdicts and tables share.

A taxonomy is data that a dataset hands to every auditor alike. The definitions here are in our own words; the type
names are the papers' own, so that tables can be laid side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trajaudit._fields import RecordError, nearest

COMPONENTS = ("thought", "action", "observation", "final_answer")
"""Where in a step a fault sits; ``final_answer`` is the text that the customer or user sees."""


@dataclass(frozen=True)
class Taxonomy:
    """A closed set of fault types, each with the definition that a judge is shown.

    >>> SUPPORT_DESK.check("wrong_tol", "label.faults[0].type")
    Traceback (most recent call last):
    ...
    trajaudit._fields.RecordError: label.faults[0].type: unknown fault type 'wrong_tol' (did you mean 'wrong_tool'?)
    """

    name: str
    definitions: Mapping[str, str]

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(self.definitions)

    def check(self, name: str, where: str) -> str:
        """Return ``name`` if it is a type of this taxonomy, else raise naming the nearest one."""
        if name not in self.definitions:
            raise RecordError(f"{where}: unknown fault type {name!r}{nearest(name, self.types)}")
        return name

    def text(self) -> str:
        """Return the taxonomy as the list that judges are shown, one type a line."""
        return "\n".join(f"- {name}: {meaning}" for name, meaning in self.definitions.items())


SUPPORT_DESK = Taxonomy(
    "support_desk",
    {
        "wrong_tool": "the call is valid, but a different tool was needed at this point to move the request forward",
        "hallucinated_argument": "an argument of the call stands neither in the request nor in any earlier observation",
        "skipped_precondition": "an action was taken without the check that the procedure demands before it",
        "ignored_observation": "the agent acted against what a tool had already told it",
        "premature_stop": "the run ended before the request was resolved by a refund or an escalation and a reply",
        "unsupported_claim": "the reply asserts something that no observation supports",
    },
)

TRAJEL = Taxonomy(
    "trajel",
    {
        "factual": "a value is stated that contradicts what was observed",
        "referential": "an asset, sensor, file or earlier result is named that appears nowhere before",
        "logical": "the conclusion does not follow from premises that are themselves right",
        "procedural": "a required step is skipped, done out of order, or claimed without having been carried out",
        "scope": "an agent acts or answers outside its mandate, or answers another question than was asked",
    },
)

TAXONOMIES = {taxonomy.name: taxonomy for taxonomy in (SUPPORT_DESK, TRAJEL)}

EXECUTION_FLAGS = {
    "task_completion": "the task was carried out to its end",
    "data_retrieval_accuracy": "the data that was retrieved is the data that was asked about",
    "result_verification": "results were checked before they were used or reported",
    "agent_sequence_correct": "the right agents were called, in an order that the task allows",
    "clarity_and_justification": "the answer is clear and its conclusion is justified",
}
"""The five execution-quality flags of Trajel (section 6), in its order; each is good where it is true."""
