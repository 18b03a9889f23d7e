"""An adapter is the detector it was made of, or an error that says why not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from zoo import zebra_runs  # noqa: E402

from trajaudit._fields import RecordError  # noqa: E402
from trajaudit.detectors import adapted  # noqa: E402
from trajaudit.detectors.adapter_facts import Facts  # noqa: E402
from trajaudit.detectors.adapters import FACTS, TENSORS, Adapter, compact, keep, read, shipped  # noqa: E402
from trajaudit.detectors.calibration import Calibration, calibrate  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.detectors.whole_fit import fit_whole  # noqa: E402
from trajaudit.taxonomy import SUPPORT_DESK  # noqa: E402

HEADS = Training(epochs=15, held_out=0.0, lr=1e-2)
LORA = Training("lora", rank=2, epochs=4, held_out=0.0, encoder_lr=1e-2, lr=1e-2, batch_runs=4)
BIASES = replace(LORA, tuning="biases")
OPTIONS = {"bert_step": {"window": 64}, "nli": {"window": 64, "overlap": 8}}
OPTIONS["longformer"] = {"window": 128, "attention": 16}


def facts_of(kind: str, detector, tiny: Path, training: Training) -> Facts:
    encoder = {"weights": str(tiny), "window": 64}
    line = calibrate([0.2, 0.4, 0.6, 0.8], [False, False, True, True], Calibration("platt", false_alarms=None))
    return Facts(
        "detector",
        kind,
        {**OPTIONS[kind], "seed": 0},
        {**encoder, "identity": Encoder(**encoder).identity()},
        "support_desk",
        None,
        {**training.__dict__},
        line.to_json(),
        detector.spec,
        {"name": "zoo", "dataset": {}, "runs": 24, "sha256": "0" * 64},
        [],
        "trajaudit fit",
        {},
        {},
    )


def made(kind: str, tiny: Path, training: Training, tmp_path: Path) -> tuple[Adapter, list[float], list[float]]:
    """An adapter, with the calibrated and raw scores that the detector gave before it was kept."""
    detector = adapted.DETECTORS[kind](
        encoder=Encoder(str(tiny), 64), training=training, taxonomy=SUPPORT_DESK, cache=None, **OPTIONS[kind]
    )
    (tmp_path / "fit").mkdir()
    detector.fit(zebra_runs(12), tmp_path / "fit")
    tensors = compact(detector.weights())
    detector.load({name: torch.from_numpy(value).float() for name, value in tensors.items()}, "here")
    facts = facts_of(kind, detector, tiny, training)
    raw = [verdict.score for verdict in detector.predict(zebra_runs(16))]
    line = adapted.calibrated_of(facts.calibration)
    adapter = keep(tmp_path / "mine", facts, tensors, lambda facts: "a card\n")
    return adapter, [line.probability(score) for score in raw], raw


@pytest.mark.parametrize(
    ("kind", "training"), [("bert_step", HEADS), ("bert_step", LORA), ("nli", BIASES), ("longformer", LORA)]
)
def test_what_is_loaded_gives_the_verdicts_of_what_was_kept(kind, training, tiny: Path, tmp_path: Path) -> None:
    _, expected, raw = made(kind, tiny, training, tmp_path)
    verdicts = adapted.detector_of(read(tmp_path / "mine")).predict(zebra_runs(16))
    assert [verdict.score for verdict in verdicts] == expected
    assert len(set(raw)) > 1


def test_an_adapter_holds_what_was_trained_and_nothing_of_the_encoder(tiny: Path, tmp_path: Path) -> None:
    adapter, _, _ = made("bert_step", tiny, LORA, tmp_path)
    names = set(adapter.tensors())
    assert all(".heads." in name or name.endswith((".down", ".up")) for name in names)
    assert adapter.size < (tiny / "model.safetensors").stat().st_size / 2
    assert {name: str(value.dtype) for name, value in adapter.tensors().items() if value.ndim > 1}.popitem()[
        1
    ] == "float16"


@pytest.fixture(scope="module")
def kept(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    made("bert_step", tiny, HEADS, folder)
    return folder / "mine"


def copied(kept: Path, tmp_path: Path, **changes) -> Adapter:
    """The adapter in a folder of its own, with facts changed."""
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    told = json.loads((folder / FACTS).read_text())
    (folder / FACTS).write_text(json.dumps(told | changes))
    return read(folder)


def test_another_encoder_is_refused(kept: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(read(kept).facts.encoder["weights"], other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-6}))
    with pytest.raises(ValueError, match=r"mine: encoder.sha256: expected '.*, got '.*: the adapter was trained on"):
        adapted.detector_of(read(kept), weights=str(other))


def test_the_same_encoder_in_another_place_is_taken(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(read(kept).facts.encoder["weights"], tmp_path / "moved")
    assert adapted.detector_of(read(kept), weights=str(tmp_path / "moved"))


def test_torn_tensors_are_refused(kept: Path, tmp_path: Path) -> None:
    adapter = copied(kept, tmp_path)
    whole = (adapter.folder / TENSORS).read_bytes()
    (adapter.folder / TENSORS).write_bytes(whole[:-100])
    with pytest.raises(RecordError, match="adapter.safetensors: expected sha256 .*: torn, or of another adapter"):
        adapted.detector_of(adapter)


def test_a_torn_file_that_the_facts_agree_with_is_refused_all_the_same(kept: Path, tmp_path: Path) -> None:
    import hashlib

    whole = (kept / TENSORS).read_bytes()[:-100]
    adapter = copied(kept, tmp_path, files={TENSORS: hashlib.sha256(whole).hexdigest()})
    (adapter.folder / TENSORS).write_bytes(whole)
    with pytest.raises(RecordError, match="expected a whole safetensors file"):
        adapter.tensors()


def test_a_detector_that_has_changed_since_is_refused(kept: Path, tmp_path: Path) -> None:
    spec = read(kept).facts.spec
    adapter = copied(kept, tmp_path, spec=spec | {"recipe": {**spec["recipe"], "window": 32}})
    with pytest.raises(ValueError, match=r"spec.recipe.window: expected 32, got 64: the detector has changed since"):
        adapted.detector_of(adapter)


def test_tensors_of_other_heads_are_refused_by_name(kept: Path, tmp_path: Path) -> None:
    adapter = copied(kept, tmp_path)
    tensors = adapter.tensors()
    name = next(name for name in tensors if name.endswith("out.bias"))
    other = keep(adapter.folder, adapter.facts, {**tensors, name: tensors[name][:-1]}, lambda facts: "")
    with pytest.raises(ValueError, match=rf"{name}: expected \[7\], got \[6\]"):
        adapted.detector_of(other)


def test_facts_of_a_newer_version_or_another_kind_are_refused(kept: Path, tmp_path: Path) -> None:
    for key, value, said in (("version", 2, "version: expected 1, got 2"), ("kind", "pickle", "kind: expected one of")):
        with pytest.raises(RecordError, match=said):
            copied(kept, tmp_path / key, **{key: value})


def test_an_unknown_adapter_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="no such adapter.*'support_des'.*did you mean 'support_desk'"):
        read("support_des")


def test_every_adapter_that_ships_is_whole_small_and_has_a_card_of_its_figures() -> None:
    desk, plant = ("support_desk", "support_desk_steps"), ("asset_ops_steps", "asset_ops_nli", "asset_ops_runs")
    assert {*desk, *plant, "claims_entailment"} <= {adapter.name for adapter in shipped()}
    for adapter in shipped():
        assert adapter.size < 1_000_000
        card = (adapter.folder / "README.md").read_text()
        assert adapter.facts.command in card
        for one in adapter.facts.figures:
            for metric in one["metrics"].values():
                assert metric["value"] is None or f"{metric['value']:.3f}" in card
        if adapter.facts.kind != "free_auditors":
            adapter.tensors()


def test_the_figures_of_a_whole_fit_come_from_weights_that_never_saw_the_run(zebras, tmp_path: Path) -> None:
    """A detector that knows its training runs by heart scores all others alike, and so do the figures."""

    class ByHeart:
        name, spec = "by_heart", {}

        def fit(self, runs, folder: Path) -> None:
            self.known = {run.id: run.label.faulty for run in runs}

        def predict(self, runs):
            from trajaudit.verdict import Verdict

            scores = [0.5 if run.id not in self.known else 0.9 if self.known[run.id] else 0.1 for run in runs]
            pairs = zip(runs, scores, strict=True)
            return [Verdict(r.id, r.content_hash, "by_heart", "s", faulty=s > 0.5, score=s) for r, s in pairs]

    runs = zebras(12)
    whole = fit_whole(ByHeart, runs, Calibration("none", folds=3, false_alarms=None), tmp_path)
    assert {verdict.score for verdict in whole.verdicts} == {0.5}
    assert [verdict.trajectory_id for verdict in whole.verdicts] == [run.id for run in runs]
    assert {verdict.score for verdict in whole.detector.predict(runs)} == {0.1, 0.9}
    with pytest.raises(ValueError, match="calibration.folds: expected at least 2, got 1"):
        fit_whole(ByHeart, runs, Calibration(folds=1), tmp_path)
