"""The grounding detector: what it learns, what it never reads, and labels that miss faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detectors need torch")
pytest.importorskip("datasets", reason="the detectors need datasets")

from trajaudit.detectors.encoders import Encoder
from trajaudit.detectors.grounding import Grounding, grounding, mean_of, relabelled
from trajaudit.detectors.grounding_inputs import Inputs, encoded
from trajaudit.detectors.grounding_members import Trees, best, inner_probabilities, softly
from trajaudit.trajectory import Action, Label, Source, Step, Trajectory


def _runs(groups: int, each: int = 6) -> list[Trajectory]:
    """Runs of many groups in which a faulty answer states a value that nothing returned."""
    random = np.random.default_rng(0)
    found = []
    for group in range(groups):
        for i in range(each):
            seen, faulty = int(random.integers(100, 900)), bool(i % 2)
            said = seen + 57 if faulty else seen
            step = Step(0, None, Action("lookup", {"asset": f"A-{group}"}), f'{{"days": {seen}}}')
            answer = f"The asset has {said} days left according to the lookup."
            name = f"t{group}-{i}"
            found.append(
                Trajectory(name, f"g{group}", f"Check A-{group}.", (step,), answer, Source("test"), Label(faulty))
            )
    return found


@pytest.fixture
def make(tiny: Path, tmp_path: Path) -> object:
    def made(**options: object) -> Grounding:
        return grounding(encoder=Encoder(str(tiny), window=64), cache=tmp_path, window=64, **options)  # type: ignore[arg-type]

    return made


def test_it_finds_invented_values_in_groups_that_it_never_saw(make) -> None:
    runs = _runs(10)
    detector = make(shares=[0.3], strengths=[0.01])
    detector.fit(runs[:48])
    said = detector.predict(runs[48:])
    scores = {run.label.faulty: [] for run in runs if run.label}
    for run, verdict in zip(runs[48:], said, strict=True):
        scores[run.label.faulty].append(verdict.score)
    assert min(scores[True]) > max(scores[False])
    invented = next(v for v, run in zip(said, runs[48:], strict=True) if run.label.faulty)
    assert "in no observation" in (invented.evidence[0].note or "")
    assert [part.split()[0] for part in (invented.rationale or "").split(", ")] == ["trees", "words", "meaning"]


def test_a_verdict_never_depends_on_id_group_label_source_or_reference(make) -> None:
    runs = _runs(8)
    detector = make(shares=[0.3], strengths=[0.01])
    detector.fit(runs)
    plain = runs[3]
    other = replace(
        plain,
        id="x",
        group="other",
        label=None,
        source=Source("elsewhere", "m", meta={"success": True}),
        reference="57",
    )
    first, second = detector.predict([plain, other])
    assert (first.score, first.evidence) == (second.score, second.evidence)


def test_the_same_seed_gives_the_same_scores_and_content_is_encoded_once(make, tmp_path: Path) -> None:
    runs = _runs(8)
    scores = []
    for _ in range(2):
        detector = make()
        detector.fit(runs)
        scores.append([verdict.score for verdict in detector.predict(runs)])
    assert scores[0] == scores[1]
    assert len(list(tmp_path.glob("grounding-*/*"))) == 1
    assert set(detector.chosen) == {"trees", "words", "meaning"}


def test_members_can_be_left_out_and_then_the_name_says_so(make) -> None:
    detector = make(members=["words"])
    assert (detector.name, detector.spec["members"]) == ("grounding_words", ["words"])
    assert make(missed=0.4).name == "grounding_missed"


def test_what_cannot_be_learnt_from_is_refused(make) -> None:
    with pytest.raises(ValueError, match="both classes"):
        make().fit([run for run in _runs(6) if run.label and run.label.faulty])
    with pytest.raises(ValueError, match="before it was fitted"):
        make().predict(_runs(1))
    for key, value in {"missed": 1.0, "inner_folds": 1}.items():
        with pytest.raises(ValueError, match=f"{key}: expected"):
            make(**{key: value})


def test_the_mean_is_taken_over_logits_and_no_member_can_overrule_the_others() -> None:
    assert mean_of([np.array([0.5]), np.array([0.8])])[0] == pytest.approx(2 / 3)  # odds 1 and 4: their mean is 2
    assert mean_of([np.array([1.0]), np.array([0.5])])[0] < 0.98


def test_a_clean_label_counts_as_a_missed_fault_with_elkan_and_notos_probability() -> None:
    random = np.random.default_rng(0)
    truth = random.random(4000) < np.repeat([0.2, 0.6], 2000)
    faulty = truth & (random.random(4000) < 0.75)  # a quarter of the faults is labelled clean
    probability = np.repeat([0.15, 0.45], 2000)
    target = relabelled(probability, faulty, 0.25)
    assert (target[faulty] == 1).all()
    for half in (slice(0, 2000), slice(2000, 4000)):
        missed = truth[half][~faulty[half]].mean()
        assert target[half][~faulty[half]].mean() == pytest.approx(missed, abs=0.03)


def test_soft_targets_weigh_both_sides() -> None:
    class Taken:
        def fit(self, rows, truth, sample_weight) -> None:
            self.seen = rows.ravel().tolist(), truth.tolist(), sample_weight.tolist()

    model = Taken()
    softly(model, np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 0.25, 0.0]), np.ones(3))
    assert model.seen == ([1.0, 2.0, 2.0, 3.0], [1, 1, 0, 0], [1.0, 0.25, 0.75, 1.0])
    with pytest.raises(ValueError, match="one class"):
        softly(model, np.zeros((2, 1)), np.ones(2), np.ones(2))


def _inputs(column: np.ndarray) -> Inputs:
    return Inputs(column[:, None], tuple("w" for _ in column), column[:, None], np.zeros(len(column), dtype=np.int64))


def test_inner_probabilities_come_from_members_without_the_fold() -> None:
    inputs, groups = _inputs(np.arange(8.0)), [f"g{i // 2}" for i in range(8)]
    seen: list[set[str]] = []

    class Spy(Trees):
        def fit(self, inputs, target, groups) -> None:
            seen.append(set(groups))

        def probabilities(self, inputs):
            return np.full(len(inputs), 0.5)

    fold = np.repeat([0, 1, 0, 1], 2)
    inner_probabilities(lambda: Spy(0), inputs, np.arange(8) % 2, groups, fold)
    assert seen == [{"g1", "g3"}, {"g0", "g2"}]


def test_the_best_option_is_the_one_that_ranks_held_out_runs_best() -> None:
    class Sign(Trees):
        def __init__(self, sign: float) -> None:
            self.sign = sign

        def fit(self, inputs, target, groups) -> None: ...

        def probabilities(self, inputs):
            return 0.5 + self.sign * inputs.features[:, 0] / 100

    faulty = np.arange(8) > 3
    groups, fold = list("aabbaabb"), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    assert best([-1.0, 1.0], Sign, _inputs(np.arange(8.0)), faulty, groups, fold) == 1.0


def test_a_long_answer_is_cut_and_what_was_lost_is_counted(tiny: Path) -> None:
    loaded = Encoder(str(tiny), window=64).load()
    vectors, unseen = encoded(["a b", "a " * 30, ""], loaded, 16)
    assert vectors.shape == (3, 32)
    assert unseen == [0, 30 + 2 - 16, 0]
    alone, _ = encoded(["a b"], loaded, 16)
    assert alone[0] == pytest.approx(vectors[0], abs=1e-5)  # neither its neighbours nor their padding matter
