"""The parts of a hybrid under `trajaudit train`: any detector, any judge that asks no model, stored verdicts.

A part is whatever `detector=` can be. Those that learn are fitted inside every fold, so nothing that they say of a run
rests on its group. Stored verdicts cannot be fitted again; those of a trained detector are taken only where the records
of its training show that each was out of fold (`trajaudit.detectors.fold_records`), and those of an auditor that learnt
from no label (an LLM judge) where its run says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from trajaudit._fields import Json, RecordError, loads
from trajaudit.dataset import Dataset
from trajaudit.detectors import execution
from trajaudit.detectors.conformance import Conformance
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.fold_records import check_out_of_fold, read_records
from trajaudit.detectors.folds import Fold
from trajaudit.detectors.hybrid import Hybrid
from trajaudit.detectors.near_duplicates import THRESHOLD
from trajaudit.detectors.signals import Flags
from trajaudit.detectors.stacked import Stacked
from trajaudit.judges.stored import StoredJudge
from trajaudit.taxonomy import Taxonomy
from trajaudit.testbeds.asset_ops.signals import flags_of as flags_of_asset_ops
from trajaudit.verbs.free_auditors import Unfitted

FLAGS: Mapping[str | None, Flags] = {"asset_ops": flags_of_asset_ops}
"""The testbeds whose flags know their tools; elsewhere they are read off any run (`trajaudit.detectors.execution`)."""


def hybrid(
    *,
    parts: Mapping[str, Detector],
    taxonomy: Taxonomy,
    budget: float = 0.05,
    strength: float = 1.0,
    folds: int = 5,
    seed: int = 0,
    near_duplicates: float | None = THRESHOLD,
    name: str = "hybrid",
) -> Stacked:
    """Return an unfitted hybrid over named parts.

    Args:
        parts: unfitted; each is fitted anew for every inner fold, forgetting what it learnt before.
        budget: the share of clean runs that may be flagged where the hybrid decides by itself, on inner folds.
        folds: inner folds, of the parts' out-of-fold verdicts and of the hybrid's calibration.

    Raises:
        ValueError: no part is named.
    """
    if not parts:
        raise ValueError("parts: expected at least one, got none")
    makers = {part: partial(_same, detector) for part, detector in parts.items()}
    stacker = Hybrid(tuple(parts), taxonomy.types, budget=budget, strength=strength, folds=folds, seed=seed, name=name)
    return Stacked(makers, stacker, folds=folds, seed=seed, near_duplicates=near_duplicates)


def _same(detector: Detector) -> Detector:
    return detector


def conformance(*, taxonomy: Taxonomy, silent: float = 0.2) -> Conformance:
    """Return an unfitted process conformance auditor for a taxonomy."""
    return Conformance(taxonomy.name, silent=silent)


def stored(*, path: str, folds: Sequence[Fold], auditor: str | None = None, untrained: bool = False) -> Unfitted:
    """Return stored verdicts as a part.

    Args:
        path: a `predictions.jsonl` of `trajaudit train`, or a `verdicts.jsonl` of `trajaudit judge`.
        folds: those in which the verdicts will be used.
        auditor: whose verdicts; null where the file holds those of one auditor only.
        untrained: that the auditor learnt from no label, for a file from elsewhere that nothing beside it tells of.

    Raises:
        FileNotFoundError, RecordError, ValueError: no such file or auditor; verdicts that are not out of fold, or of
            which nothing tells.
    """
    judge = StoredJudge(path=path, auditor=auditor)
    if records := read_records(Path(path).parent):
        check_out_of_fold(records, folds, path)
    elif not untrained and _verb(Path(path).parent) != "judge":
        raise RecordError(
            f"{path}: expected beside it the record of every fold of its training (fold-*/runs.json) or the manifest "
            "of `trajaudit judge`, found neither; run the training's command again to have the records written, or "
            "say untrained=true of an auditor that learnt from no label"
        )
    return Unfitted(judge)


def _verb(folder: Path) -> Json:
    """Return the verb of a run folder's manifest; null where there is none."""
    path = folder / "manifest.json"
    return loads(path.read_bytes(), str(path)).get("verb") if path.is_file() else None


def flags_for(data: Dataset) -> Flags:
    """Return what gives the execution flags of a dataset's runs."""
    return FLAGS.get(data.rules, execution.flags_of)
