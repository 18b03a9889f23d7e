"""The card of the auditors that ask no model, from the run that fitted them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from trajaudit._fields import Json, canonical
from trajaudit.analysis import Scorecard
from trajaudit.dataset import Dataset
from trajaudit.detectors.adapter_facts import Facts
from trajaudit.detectors.adapters import Adapter, describe
from trajaudit.detectors.conformance import MODEL as PROCESS_MODEL
from trajaudit.detectors.hybrid import MODEL as HYBRID
from trajaudit.judges.claims import MODEL as CLAIM_SOURCES
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.adapter_card import card, figures_of
from trajaudit.verbs.provenance import sha256, versions

FILES = (PROCESS_MODEL, CLAIM_SOURCES, HYBRID)


def describe_free(
    folder: Path,
    dataset: Dataset,
    trained_on: dict[str, Json],
    train: Sequence[Trajectory],
    spec: Json,
    asked: Mapping[str, tuple[str, Sequence[Trajectory], Scorecard]],
    command: str,
) -> Adapter:
    """Write facts and card beside the three files that a fit of the free auditors has left.

    Args:
        trained_on: the configuration of what was fitted on, ``train``.
        asked: for each set, what it is to the training, its runs, and the hybrid's scorecard.
    """
    counts = {
        "runs": len(train),
        "faulty": sum(run.label is not None and run.label.faulty for run in train),
        "groups": len({run.group for run in train}),
        "sha256": sha256(canonical([[run.id, run.content_hash] for run in train])),
    }
    facts = Facts(
        kind="free_auditors",
        detector="hybrid",
        options={},
        encoder=None,
        taxonomy=dataset.taxonomy.name,
        domain=dataset.rules,
        training=None,
        calibration=None,
        spec=spec,
        trained_on={"dataset": trained_on, "name": trained_on["dataset"], **counts},
        figures=[figures_of(name, how, runs, of_hybrid) for name, (how, runs, of_hybrid) in asked.items()],
        command=command,
        versions=versions(),
        files={},
    )
    return describe(folder, facts, FILES, partial(card, folder.name))
