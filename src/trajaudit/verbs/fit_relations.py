"""``trajaudit fit dataset=infotabs``: what matching leaves undecided, decided by a small model, kept as an adapter.

The card says how well it tells relations apart on the pairs' own test parts, and, for every set of ``also``, what the
claim checker is worth with it and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from trajaudit._fields import Json, canonical
from trajaudit.analysis.intervals import wilson
from trajaudit.config import Choice
from trajaudit.dataset import Dataset
from trajaudit.datasets.infotabs import NliPairs
from trajaudit.detectors.adapter_facts import Facts
from trajaudit.detectors.adapters import FACTS, Adapter, compact, keep
from trajaudit.detectors.fitting import BEST
from trajaudit.detectors.relations import train_relations
from trajaudit.judges.claims import ClaimsJudge
from trajaudit.runs import RunFolder
from trajaudit.verbs.adapter_card import card, figures_on
from trajaudit.verbs.handing_over import handed_over
from trajaudit.verbs.paths import HARDWARE, IRRELEVANT, Paths
from trajaudit.verbs.provenance import command_line, encoder_facts, sha256, versions, without_places
from trajaudit.verbs.stats import Stats

WINDOW = 256
"""Tokens of a premise and a claim together."""


def fit_relations(
    pairs: NliPairs,
    choices: Mapping[str, Choice],
    elsewhere: Mapping[str, Dataset],
    logger: Choice,
    stats: Stats,
    paths: Paths,
    *,
    also: Json,
    to: str | None,
    seed: int,
    name: str | None,
    limit: int | None,
) -> int:
    """Teach a sliver of an encoder the relations of premise and hypothesis, and keep it as an adapter.

    Args:
        choices: ``dataset``, ``encoder`` and ``training``.
    """
    parts = {part: given[:limit] for part, given in pairs.parts.items()}
    encoder, training = choices["encoder"].build(), choices["training"].build()
    config: dict[str, Json] = {key: choice.config for key, choice in choices.items()}
    config |= {"also": also, "stats": stats, "seed": seed, "limit": limit}
    label = Path(to).name if to else f"{pairs.name}_entailment"
    files = {path: sha for data in elsewhere.values() for path, sha in data.files.items()}
    with RunFolder.open(
        paths["output_dir"],
        "fit",
        name or pairs.name,
        config,
        data={**pairs.files, **files},
        seeds={"detector": seed},
        irrelevant=(*IRRELEVANT, *HARDWARE),
        outputs=(f"{label}/{FACTS}",),
    ) as folder:
        if not folder.done:
            with logger.build().job(folder.path, f"relations-{folder.path.name}", config) as logs:
                found = train_relations(parts, encoder, training, folder.path, window=WINDOW, seed=seed, logs=logs)
            facts = _facts(pairs, parts, choices, found, limit)
            weights = torch.load(folder.path / BEST, map_location="cpu", weights_only=True)["state_dict"]
            adapter = keep(folder.path / label, facts, compact(weights), partial(card, label))
            _asked_elsewhere(adapter, elsewhere, stats)
        handed_over(folder.path / label, to)
    return 0


def _facts(
    pairs: NliPairs, parts: Mapping[str, Any], choices: Mapping[str, Choice], found: Json, limit: int | None
) -> Facts:
    trained_on = {
        "dataset": without_places(choices["dataset"].config),
        "name": pairs.name,
        "limit": limit,
        "pairs": found["train"],
        "sha256": sha256(canonical([list(pair) for pair in parts["train"]])),
    }
    return Facts(
        kind="entailment",
        detector="relations",
        options={"window": WINDOW},
        encoder=encoder_facts(choices["encoder"]),
        taxonomy=None,
        domain=None,
        training={key: value for key, value in choices["training"].config.items() if key != "_target_"},
        calibration=None,
        spec={"detector": "relations", "window": WINDOW},
        trained_on=trained_on,
        figures=[_part(part, scores) for part, scores in found["parts"].items()],
        command=command_line("fit"),
        versions=versions(),
        files={},
    )


def _part(name: str, scores: Json) -> Json:
    """Return the figures of one part of the pairs; the intervals take pairs on one table for independent."""

    def rate(key: str) -> Json:
        low, high = wilson(scores[key] * scores["pairs"], scores["pairs"])
        return {"value": scores[key], "low": low, "high": high, "n": scores["pairs"], "method": "wilson"}

    metrics = {"accuracy": rate("accuracy"), "macro_f1": {"value": scores["macro_f1"]}}
    return {"set": name, "pairs": scores["pairs"], "metrics": metrics | {"commonest": {"value": scores["commonest"]}}}


def _asked_elsewhere(adapter: Adapter, elsewhere: Mapping[str, Dataset], stats: Stats) -> None:
    """Hold the claim checker with the adapter, as it lies in its folder, against the one without."""
    from trajaudit.verbs.adapted import Relations

    facts, model = adapter.facts, Relations(adapter)
    for key, data in elsewhere.items():
        runs = [run for run in data if run.label is not None]
        for how, entailment in (("matching alone", None), ("with the model", model)):
            judge = ClaimsJudge(data.taxonomy, data.procedure.standing_claims, entailment=entailment)
            facts.figures.append(figures_on(f"{key}, {how}", "the claim checker", runs, judge.predict(runs), stats))
    if elsewhere:
        keep(adapter.folder, facts, adapter.tensors(), partial(card, adapter.name))
