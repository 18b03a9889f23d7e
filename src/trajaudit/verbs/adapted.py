"""Adapters beside the judges: a trained detector as a judge, a relation model as what the claim checker asks.

A judge is asked about one run at a time, and an encoder is several times faster on many; so the runs that are in flight
together are read together. Nothing here loads torch before the first verdict is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trajaudit._fields import Json
from trajaudit.auditor import spec_hash
from trajaudit.detectors.adapters import Adapter, encoder_of, read
from trajaudit.judges.claim_check import Probabilities
from trajaudit.trajectory import Trajectory
from trajaudit.verdict import Verdict

if TYPE_CHECKING:
    from trajaudit.detectors.adapted import Adapted
    from trajaudit.detectors.entailment import RelationModel

VERSION = 1


class AdapterJudge:
    """The detector of an adapter as a judge.

    Args:
        adapter: the name of one that ships, or a folder.
        weights: where the encoder's weights lie, where that is elsewhere than at the training.
        name: what the auditor is called; the adapter's name where null.

    Raises:
        ValueError: no such adapter, one that holds no detector, or an encoder that is another one.
        FileNotFoundError: the encoder is not installed.
        RecordError: a file of it is broken.
    """

    def __init__(self, *, adapter: str, weights: str | None = None, name: str | None = None) -> None:
        self.adapter, self._weights = read(adapter), weights
        facts = self.adapter.facts
        if facts.kind != "detector":
            raise ValueError(f"adapter: {adapter!r} holds no trained detector but {facts.kind}")
        encoder_of(self.adapter, weights)  # refused now, and not at every run
        self.name = name or self.adapter.name
        self.spec: dict[str, Json] = {"judge": "adapter", "version": VERSION, **_identity(self.adapter)}
        self._spec_hash = spec_hash(self.spec)
        self._loaded: Adapted | None = None
        self._waiting: list[tuple[Trajectory, asyncio.Future[Verdict]]] = []

    async def judge(self, trajectory: Trajectory) -> Verdict:
        """Return the calibrated verdict; whoever asks in the same turn of the event loop is answered in one batch."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Verdict] = loop.create_future()
        self._waiting.append((trajectory, answer))
        if len(self._waiting) == 1:
            loop.call_soon(self._answer)
        return await answer

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        waiting = [(run, answer) for run, answer in waiting if not answer.done()]  # not those that were cancelled
        try:
            verdicts = self.predict([run for run, _ in waiting])
        except Exception as error:
            for _, answer in waiting:
                answer.set_exception(error)
            return
        for (_, answer), verdict in zip(waiting, verdicts, strict=True):
            answer.set_result(verdict)

    def predict(self, runs: Sequence[Trajectory]) -> list[Verdict]:
        """Return one verdict a run, in order."""
        from trajaudit.detectors.adapted import detector_of

        if self._loaded is None:
            self._loaded = detector_of(self.adapter, self._weights)
        said = self._loaded.predict(list(runs))
        return [replace(verdict, auditor=self.name, spec_hash=self._spec_hash) for verdict in said]


class Relations:
    """The relation model of an adapter, as the claim checker asks it."""

    def __init__(self, adapter: Adapter, weights: str | None = None) -> None:
        self.adapter, self._weights = adapter, weights
        encoder_of(adapter, weights)
        self.name = f"{adapter.name} {spec_hash(_identity(adapter))[:16]}"
        self._loaded: RelationModel | None = None

    def entails(self, premises: Sequence[str], hypothesis: str) -> Probabilities:
        """Return what the premises say of the hypothesis."""
        from trajaudit.detectors.adapted import relation_model_of

        if self._loaded is None:
            self._loaded = relation_model_of(self.adapter, self._weights)
        return Probabilities(*self._loaded.shares(premises, hypothesis))


def relations(*, adapter: str, weights: str | None = None) -> Relations:
    """Return the relation model of an adapter; arguments and errors as for `AdapterJudge`."""
    found = read(adapter)
    if found.facts.kind != "entailment":
        raise ValueError(f"adapter: {adapter!r} holds no model of entailment but {found.facts.kind}")
    return Relations(found, weights)


def _identity(adapter: Adapter) -> dict[str, Json]:
    """Return what could change a verdict: the tensors, and what stands beside them, but for figures and provenance."""
    facts = adapter.facts
    encoder = None if facts.encoder is None else facts.encoder["identity"]
    decides = {"spec": facts.spec, "encoder": encoder, "calibration": facts.calibration, "options": facts.options}
    return {"detector": facts.detector, "files": facts.files, **decides}
