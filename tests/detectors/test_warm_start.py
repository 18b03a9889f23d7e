"""A warm start: what a source learnt is what the new detector starts from, and only from its like."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("pytorch_lightning", reason="the detectors need Lightning")
pytest.importorskip("transformers", reason="the detectors need transformers")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors import learned  # noqa: E402
from trajaudit.detectors.bert_step import bert_step  # noqa: E402
from trajaudit.detectors.encoders import Encoder  # noqa: E402
from trajaudit.detectors.learned import Learned  # noqa: E402
from trajaudit.detectors.longformer import longformer  # noqa: E402
from trajaudit.detectors.nli import nli  # noqa: E402
from trajaudit.detectors.training import Training  # noqa: E402
from trajaudit.taxonomy import SUPPORT_DESK, TRAJEL, Taxonomy  # noqa: E402
from trajaudit.trajectory import Trajectory  # noqa: E402
from trajaudit.verdict import Verdict  # noqa: E402

HEADS = Training(epochs=3, held_out=0.0, lr=1e-2)
TOP = Training("top", 1, epochs=1, held_out=0.0, encoder_lr=1e-3, lr=1e-2, batch_runs=4)
Make = Callable[..., Learned]


@pytest.fixture
def make(tiny: Path, tmp_path: Path) -> Make:
    def made(
        kind: Callable[..., Learned] = bert_step,
        training: Training = HEADS,
        taxonomy: Taxonomy = SUPPORT_DESK,
        **given: object,
    ) -> Learned:
        sizes = {nli: {"overlap": 8}, longformer: {"attention": 16, "window": 128}}.get(kind, {})
        return kind(
            encoder=Encoder(str(tiny), 64),
            training=training,
            taxonomy=taxonomy,
            cache=tmp_path / "cache",
            **{"window": 64, **sizes, **given},
        )

    return made


def _fitted(detector: Learned, runs: list[Trajectory], folder: Path) -> list[Verdict]:
    (folder / "fold-0" / "model").mkdir(parents=True, exist_ok=True)
    detector.fit(runs, folder / "fold-0" / "model")
    return detector.predict(runs)


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Fits from now on train nothing, so that what is predicted is what was started from."""
    return lambda: monkeypatch.setattr(learned, "fit", lambda *given: given[0].eval())


@pytest.mark.parametrize(
    ("kind", "training"), [(bert_step, HEADS), (bert_step, TOP), (nli, HEADS), (longformer, HEADS)]
)
def test_before_its_own_training_it_says_what_its_source_says(
    make: Make, zebras, tmp_path: Path, untrained, kind, training: Training
) -> None:
    runs = zebras(6)
    source = _fitted(make(kind, training), runs, tmp_path / "source")
    untrained()
    start = replace(training, start=str(tmp_path / "source"))
    warm = _fitted(make(kind, start, seed=1), runs, tmp_path / "warm")
    assert [(v.score, v.step_scores, v.types) for v in warm] == [(v.score, v.step_scores, v.types) for v in source]
    cold = _fitted(make(kind, training, seed=1), runs, tmp_path / "cold")
    assert [v.score for v in cold] != [v.score for v in source]


def test_between_domains_without_a_common_type_only_faulty_is_taken_over(
    make: Make, zebras, tmp_path: Path, untrained
) -> None:
    runs = zebras(6)
    source = make()
    said = _fitted(source, runs, tmp_path / "source")
    untrained()
    warm = make(training=replace(HEADS, start=str(tmp_path / "source")), taxonomy=TRAJEL, seed=1)
    assert [v.score for v in _fitted(warm, runs, tmp_path / "warm")] == [v.score for v in said]
    own, theirs = (one._module.network.heads.out.weight for one in (warm, source))  # type: ignore[union-attr]
    assert (own.shape[0], theirs.shape[0]) == (1 + len(TRAJEL.types), 1 + len(SUPPORT_DESK.types))
    assert torch.equal(own[0], theirs[0])
    assert not any(torch.equal(own[i], theirs[j]) for i in range(1, 6) for j in range(1, 7))


def test_a_type_that_both_domains_know_is_taken_over_by_its_name(make: Make, zebras, tmp_path: Path, untrained) -> None:
    runs, turned = zebras(6), Taxonomy("turned", dict(reversed(SUPPORT_DESK.definitions.items())))
    source = make()
    _fitted(source, runs, tmp_path / "source")
    untrained()
    warm = make(training=replace(HEADS, start=str(tmp_path / "source")), taxonomy=turned, seed=1)
    _fitted(warm, runs, tmp_path / "warm")
    own, theirs = (one._module.network.heads.out.bias for one in (warm, source))  # type: ignore[union-attr]
    assert torch.equal(own, theirs[[0, *range(len(turned.types), 0, -1)]])


def test_a_warm_fit_goes_on_learning_and_is_identified_by_the_weights_it_started_from(
    make: Make, zebras, tmp_path: Path
) -> None:
    runs = zebras(6)
    source = _fitted(make(), runs, tmp_path / "source")
    shutil.copytree(tmp_path / "source", tmp_path / "elsewhere")
    warm, moved = (make(training=replace(HEADS, start=str(tmp_path / name))) for name in ("source", "elsewhere"))
    assert warm.spec == moved.spec != make().spec
    assert [v.score for v in _fitted(warm, runs, tmp_path / "warm")] != [v.score for v in source]
    _fitted(make(seed=1), runs, tmp_path / "other")
    assert make(training=replace(HEADS, start=str(tmp_path / "other"))).spec != warm.spec


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"kind": longformer}, "detector"),
        ({"window": 32}, "recipe"),
        ({"aggregation": "noisy_or"}, "heads"),
        ({"training": TOP}, "detector"),
    ],
)
def test_a_start_of_another_kind_is_refused_by_what_differs(
    make: Make, zebras, tmp_path: Path, given: dict[str, object], named: str
) -> None:
    _fitted(make(), zebras(4), tmp_path / "source")
    start = replace(given.pop("training", HEADS), start=str(tmp_path / "source"))  # type: ignore[type-var]
    with pytest.raises(ValueError, match=f"start: .*: {named}: expected"):
        make(training=start, **given)


def test_a_folder_without_a_finished_training_or_with_several_is_no_start(make: Make, zebras, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no finished training"):
        make(training=replace(HEADS, start=str(tmp_path / "nothing")))
    _fitted(make(), zebras(4), tmp_path / "source")
    shutil.copytree(tmp_path / "source" / "fold-0", tmp_path / "source" / "fold-1")
    with pytest.raises(ValueError, match="a training of 2 folds"):
        make(training=replace(HEADS, start=str(tmp_path / "source")))
