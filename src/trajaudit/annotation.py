"""The annotation record: what one person said of one trajectory, in Trajel's four fields, and how several become one.

Presence, location (steps and components), types and a rationale are separate fields, as in the paper's form (section
3): a reader can name a type without a place, and nobody is asked which type sits at which place. Two choices change
numbers. A label made of annotations therefore lists *every* combination of the places and types that were named, so
that its steps and its types are right as sets; where several of both are named, the pairing is not a claim. And where
several people read one trajectory, its label is what more than half of them say; a tie is no label, never a coin toss.

An annotation also reads as a ``Verdict`` of the auditor ``human:NAME``, which is what puts people and judges into one
agreement table and one viewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from trajaudit._fields import Fields, Json, RecordError, fail
from trajaudit.auditor import spec_hash
from trajaudit.taxonomy import COMPONENTS, Taxonomy
from trajaudit.trajectory import Fault, Label, Trajectory
from trajaudit.verdict import Evidence, Verdict

VERSION = 1
FORM = "annotation"
_KEYS = (
    *("form", "version", "trajectory_id", "content_hash", "taxonomy", "condition", "annotator"),
    *("present", "locations", "types", "rationale", "saved"),
)


@dataclass(frozen=True, slots=True)
class Location:
    """A place that was named: a step (null for the final answer alone) and a component (null for the whole step)."""

    step: int | None
    component: str | None

    def to_json(self) -> Json:
        return {"step": self.step, "component": self.component}

    @classmethod
    def from_json(cls, obj: Json, where: str = "location") -> Location:
        fields = Fields(obj, where, ("step", "component"))
        step, component = fields.maybe("step", int), fields.maybe("component", str)
        if component is not None and component not in COMPONENTS:
            fail(fields.at("component"), f"one of {', '.join(COMPONENTS)}, or null", component)
        if step is None and component != "final_answer":
            fail(fields.at("step"), "an integer (only the final answer has no step)", step)
        return cls(step, component)


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one person said of one trajectory.

    ``condition`` says under which conditions it was read (``blind``, or ``with_reference``); ``saved`` is the browser's
    clock, for the record only.
    """

    trajectory_id: str
    content_hash: str
    taxonomy: str
    annotator: str
    present: bool
    locations: tuple[Location, ...] = ()
    types: tuple[str, ...] = ()
    rationale: str = ""
    condition: str = "blind"
    saved: str | None = None

    def to_json(self) -> Json:
        plain = {name: getattr(self, name) for name in self.__slots__ if name not in ("locations", "types")}
        places = [location.to_json() for location in self.locations]
        return {"form": FORM, "version": VERSION, **plain, "locations": places, "types": list(self.types)}

    @classmethod
    def from_json(cls, obj: Json, where: str = "annotation") -> Annotation:
        """Read what a sheet saved.

        Raises:
            RecordError: naming file and key, what was expected and what was given.
        """
        fields = Fields(obj, f"{where}:", _KEYS)
        for key, kind, expected in (("form", str, FORM), ("version", int, VERSION)):
            if fields.need(key, kind) != expected:
                fail(fields.at(key), f"{expected!r} (a file that a sheet saved)", fields.obj[key])
        annotator = fields.need("annotator", str).strip()
        if not annotator:
            fail(fields.at("annotator"), "a name", annotator)
        return cls(
            fields.need("trajectory_id", str),
            fields.need("content_hash", str),
            fields.need("taxonomy", str),
            annotator,
            fields.need("present", bool),
            _distinct(fields.each("locations", Location.from_json), fields.at("locations")),
            _distinct(fields.each("types", _text), fields.at("types")),
            fields.need("rationale", str),
            fields.need("condition", str),
            fields.maybe("saved", str),
        )

    def check(self, trajectory: Trajectory, taxonomy: Taxonomy, where: str) -> None:
        """Refuse an annotation of other content, with a step or type that does not exist, or that contradicts itself.

        Raises:
            RecordError
        """
        if self.content_hash != trajectory.content_hash:
            fail(
                f"{where}: content_hash",
                f"{trajectory.content_hash[:12]}…, the content of {trajectory.id!r} in this dataset",
                f"{self.content_hash[:12]}…",
            )
        if self.taxonomy != taxonomy.name:
            fail(f"{where}: taxonomy", repr(taxonomy.name), self.taxonomy)
        for i, name in enumerate(self.types):
            taxonomy.check(name, f"{where}: types[{i}]")
        last = len(trajectory.steps) - 1
        for i, location in enumerate(self.locations):
            if location.step is not None and not 0 <= location.step <= last:
                fail(f"{where}: locations[{i}].step", f"0 to {last} (the last step)", location.step)
        if self.present and not self.types:
            fail(f"{where}: types", "at least one type where present is true", [])
        if not self.present and (self.types or self.locations):
            fail(f"{where}: types and locations", "none where present is false", list(self.types) or "a location")

    @property
    def steps(self) -> frozenset[int]:
        """The steps that were named; the final answer has none."""
        return frozenset(location.step for location in self.locations if location.step is not None)

    def to_verdict(self) -> Verdict:
        """Return the annotation as the verdict of the auditor ``human:NAME``; every place named is evidence."""
        return Verdict(
            self.trajectory_id,
            self.content_hash,
            f"human:{self.annotator}",
            spec_hash({"annotator": self.annotator, "condition": self.condition, "version": VERSION}),
            faulty=self.present,
            step=min(self.steps, default=None),
            types=self.types,
            evidence=tuple(Evidence(place.step, note=_words(place.component)) for place in self.locations),
            rationale=self.rationale or None,
        )


def label_of(annotations: Sequence[Annotation]) -> Label | None:
    """Return what more than half of the annotators say of a trajectory; null where they are split evenly.

    Of those who say that a fault is there, more than half must name a type, or a place, for the label to hold it.

    >>> said = [Annotation("t", "c", "trajel", who, True, (Location(step, "action"),), (kind,))
    ...         for who, step, kind in (("A", 2, "logical"), ("B", 2, "scope"), ("C", 1, "logical"))]
    >>> label_of(said).faults
    (Fault(type='logical', step=2, component='action'),)
    >>> label_of([said[0], Annotation("t", "c", "trajel", "D", False)]) is None
    True
    """
    flagging = [annotation for annotation in annotations if annotation.present]
    if 2 * len(flagging) == len(annotations):
        return None
    if 2 * len(flagging) < len(annotations):
        return Label(False, origin="human")
    types = _majority((annotation.types for annotation in flagging), len(flagging))
    places = _majority((annotation.locations for annotation in flagging), len(flagging)) or [Location(None, None)]
    ordered = sorted(places, key=lambda place: (place.step is None, place.step or 0, place.component or ""))
    faults = tuple(Fault(name, place.step, place.component) for place, name in product(ordered, types))
    return Label(True, faults, origin="human")


def _majority(named: Iterable[Collection], among: int) -> list:
    counts = Counter(item for items in named for item in items)
    return [item for item, count in counts.items() if 2 * count > among]


def _distinct(items: tuple, where: str) -> tuple:
    if len(set(items)) != len(items):
        raise RecordError(f"{where}: expected each one once, got {len(items)} with {len(set(items))} different")
    return items


def _text(item: Json, where: str) -> str:
    return item if isinstance(item, str) else fail(where, "a string", item)


def _words(component: str | None) -> str | None:
    return None if component is None else component.replace("_", " ")
