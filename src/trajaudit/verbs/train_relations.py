"""``trajaudit train dataset=infotabs``: intermediate training of an encoder on pairs, before it is a detector's."""

from __future__ import annotations

from trajaudit._fields import Json, dumps
from trajaudit.config import Choice
from trajaudit.datasets.infotabs import NliPairs
from trajaudit.detectors.relations import train_relations
from trajaudit.runs import RunFolder
from trajaudit.verbs.paths import IRRELEVANT, Paths


def relations(
    pairs: NliPairs,
    dataset: Choice,
    encoder: Choice,
    trainer: Choice,
    logger: Choice,
    paths: Paths,
    *,
    seed: int = 0,
    name: str | None = None,
    limit: int | None = None,
) -> int:
    """Teach an encoder the relations of premise and hypothesis, and print how it is used afterwards."""
    parts = {part: given[:limit] for part, given in pairs.parts.items()}
    config: dict[str, Json] = {"dataset": dataset.config, "encoder": encoder.config, "trainer": trainer.config}
    config |= {"seed": seed, "limit": limit}
    with RunFolder.open(
        paths["output_dir"],
        "train",
        name or pairs.name,
        config,
        data=pairs.files,
        seeds={"detector": seed},
        irrelevant=(*IRRELEVANT, "trainer.accelerator", "trainer.devices"),
        outputs=("metrics.json", "encoder/model.safetensors"),
    ) as folder:
        weights = folder.path / "encoder"
        if folder.done:
            print(f"already done: {weights}")
            return 0
        with logger.build().job(folder.path, f"relations-{folder.path.name}", config) as logs:
            found = train_relations(parts, encoder.build(), trainer.build(), folder.path, seed=seed, logs=logs)
        (folder.path / "metrics.json").write_text(dumps(found) + "\n")
        for part, scores in found["parts"].items():
            accuracy, commonest = scores["accuracy"], scores["commonest"]
            print(f"{part}: accuracy {accuracy:.3f} of {scores['pairs']} (commonest relation: {commonest:.3f})")
        print(f"use it: detector=nli encoder.weights={weights} encoder.relation=true")
    return 0
