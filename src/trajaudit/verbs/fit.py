"""``trajaudit fit``: one detector fitted on every labelled run of a dataset, kept as an adapter with its card.

`train` measures a detector, fold by fold, and throws the folds' weights away; `fit` makes one to be used. What the card
says of it comes from three places: out of fold on the runs that it was trained on, and on sets that it never saw
(``also``), by the adapter as it was read back from its folder. A fit that is done is not done again.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from trajaudit._fields import Json, canonical
from trajaudit.auditor import spec_hash
from trajaudit.config import Choice, ConfigError
from trajaudit.dataset import Dataset
from trajaudit.datasets.infotabs import NliPairs
from trajaudit.detectors.adapter_facts import Facts
from trajaudit.detectors.adapters import FACTS, Adapter, compact, keep
from trajaudit.detectors.detector import Detector
from trajaudit.detectors.whole_fit import WholeFit, fit_whole
from trajaudit.runs import RunFolder
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verbs.adapter_card import card, figures_on
from trajaudit.verbs.collect import dataset_of
from trajaudit.verbs.handing_over import handed_over
from trajaudit.verbs.paths import HARDWARE, IRRELEVANT, Paths
from trajaudit.verbs.provenance import command_line, encoder_facts, sha256, versions, without_places
from trajaudit.verbs.stats import Stats, check_stats
from trajaudit.verbs.train import item_of

KEPT = ("bert_step", "nli", "longformer")
"""The detectors that can be kept as an adapter."""
OUT_OF_FOLD = "the runs that it was trained on, each judged by weights that never saw its group"
ELSEWHERE = "never seen in training"


def fit(
    *,
    dataset: Choice,
    detector: Choice,
    encoder: Choice,
    trainer: Choice,
    calibration: Choice,
    logger: Choice,
    stats: Stats,
    paths: Paths,
    also: dict[str, Any],
    to: str | None = None,
    name: str | None = None,
    limit: int | None = None,
) -> int:
    """Fit a detector on all labelled runs, and keep it as an adapter of a few hundred KB with its card; it resumes."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit: expected at least 1, got {limit}")
    check_stats(stats)
    elsewhere = {key: dataset_of(Choice(f"also.{key}", config)) for key, config in also.items()}
    pairs = dataset.build()
    if isinstance(pairs, NliPairs):
        from trajaudit.verbs.fit_relations import fit_relations  # it loads torch, and the other verbs list this module

        told_pairs = {"dataset": dataset, "encoder": encoder, "training": trainer}
        seed = detector.config.get("seed") or 0
        return fit_relations(
            pairs, told_pairs, elsewhere, logger, stats, paths, also=also, to=to, seed=seed, name=name, limit=limit
        )
    kind = str(detector.config["_target_"]).rpartition(".")[2]
    if detector.config["_target_"] != f"trajaudit.detectors.{kind}.{kind}" or kind not in KEPT:
        raise ConfigError(f"detector: {kind!r} cannot be kept as an adapter; known: {', '.join(KEPT)}")
    data = dataset_of(dataset)
    runs = [run for run in data.prefix(limit) if run.label is not None]
    told: dict[str, Any] = {"taxonomy": data.taxonomy, "cache": Path(paths["output_dir"]) / "cache"}
    told |= {"encoder": encoder.build(), "training": trainer.build()}
    one: Detector = detector.build(**told)
    choices = {"dataset": dataset, "detector": detector, "encoder": encoder, "training": trainer}
    config: dict[str, Json] = {key: c.config for key, c in (choices | {"calibration": calibration}).items()}
    config |= {"also": also, "stats": stats, "limit": limit}
    label = Path(to).name if to else f"{data.name}_{one.name}"
    files = {path: sha for source in (data, *elsewhere.values()) for path, sha in source.files.items()}
    with RunFolder.open(
        paths["output_dir"],
        "fit",
        name or data.name,
        config,
        data={**files, "items": content_of(runs), f"auditor {one.name}": spec_hash(one.spec)},
        seeds={"detector": detector.config.get("seed")},
        irrelevant=(*IRRELEVANT, *HARDWARE),
        outputs=(f"{label}/{FACTS}",),
    ) as folder:
        if not folder.done:
            with logger.build().job(folder.path, f"{one.name}-{folder.path.name}", config) as logs:
                whole = fit_whole(
                    lambda: detector.build(**told, logs=logs),
                    runs,
                    calibration.build(),
                    folder.path,
                    detector.config.get("seed") or 0,
                )
            facts = _facts(kind, data, runs, whole, choices, limit)
            adapter = _kept(folder.path / label, facts, whole, runs, stats)
            _asked_elsewhere(adapter, elsewhere, told["cache"], stats, folder.path)
            for inner in folder.path.glob("inner-*"):
                shutil.rmtree(inner)
        handed_over(folder.path / label, to)
    return 0


def _facts(
    kind: str,
    data: Dataset,
    runs: Sequence[Trajectory],
    whole: WholeFit,
    choices: Mapping[str, Choice],
    limit: int | None,
) -> Facts:
    """Return what the adapter has to know, without figures yet."""
    trained_on = {
        "dataset": without_places(choices["dataset"].config),
        "name": data.name,
        "limit": limit,
        "runs": len(runs),
        "faulty": sum(run.label is not None and run.label.faulty for run in runs),
        "groups": len({run.group for run in runs}),
        "sha256": content_of(runs),
    }
    return Facts(
        kind="detector",
        detector=kind,
        options={key: value for key, value in choices["detector"].config.items() if key != "_target_"},
        encoder=encoder_facts(choices["encoder"]),
        taxonomy=data.taxonomy.name,
        domain=data.rules,
        training={key: value for key, value in choices["training"].config.items() if key != "_target_"},
        calibration=whole.calibrated.to_json(),
        spec=whole.detector.spec,
        trained_on=trained_on,
        figures=[],
        command=command_line("fit"),
        versions=versions(),
        files={},
    )


def _kept(folder: Path, facts: Facts, whole: WholeFit, runs: Sequence[Trajectory], stats: Stats) -> Adapter:
    """Write the adapter with its out-of-fold figures."""
    verdicts = whole.verdicts
    write_jsonl(folder.parent / "out_of_fold.jsonl", verdicts)
    facts.figures.append(figures_on("out of fold", OUT_OF_FOLD, runs, verdicts, stats))
    weights = whole.detector.weights()  # type: ignore[attr-defined]
    return keep(folder, facts, compact(weights), partial(card, folder.name))


def _asked_elsewhere(
    adapter: Adapter, elsewhere: Mapping[str, Dataset], cache: Path, stats: Stats, folder: Path
) -> None:
    """Ask the adapter, as it lies in its folder, about sets that it never saw, and write its card anew."""
    from trajaudit.detectors.adapted import detector_of

    facts, loaded = adapter.facts, detector_of(adapter, cache=cache)
    for key, data in elsewhere.items():
        runs = [run for run in data if run.label is not None]
        verdicts = loaded.predict(runs)
        write_jsonl(folder / f"also-{key}.jsonl", verdicts)
        same = data.taxonomy.name == facts.taxonomy
        facts.figures.append(figures_on(key, ELSEWHERE, runs, verdicts, stats, typed=same))
    if elsewhere:
        keep(adapter.folder, facts, adapter.tensors(), partial(card, adapter.name))


def content_of(runs: Sequence[Trajectory]) -> str:
    """Return one hash over what was trained on, with labels and groups."""
    return sha256(canonical([item_of(run) for run in runs]))
