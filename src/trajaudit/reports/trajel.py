"""The reproduction ledger of Trajel: every printed figure that the released annotations give, beside ours.

Three printed figures follow from a reading that is not the obvious one, and are shown under both: positions are counted
by the number after each word "Task", which loses the rest of a list; components are searched by their exact spelling;
and one model's type counts include a run that its N leaves out. Two kappas are called F1 in the paper's conclusion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trajaudit.analysis.agreement import agreement_f1, clustered, cohen_kappa, jaccard
from trajaudit.analysis.intervals import estimates, wilson
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import BoolArray, Statistic, rate
from trajaudit.reports.ledger import Line, ledger_line

RATE, COUNT = 3, 0


@dataclass(frozen=True, eq=False)
class Sides:
    """The annotations as arrays over n runs.

    Attributes:
        judge, human: [n], flagged as hallucinating. labelled: [n], where the human gave a binary label.
        judge_types, human_types: [n, types]. model, question, reviewer, agreement: of each run.
        components: of each run, the components that the human named. words: of each run, the components that stand
        in the human's text by their exact spelling. tasks, mentions: of each run, the tasks named, and the number after
        each word "Task".
    """

    types: tuple[str, ...]
    judge: BoolArray
    human: BoolArray
    labelled: BoolArray
    judge_types: BoolArray
    human_types: BoolArray
    model: tuple[str, ...]
    question: tuple[str, ...]
    reviewer: tuple[str, ...]
    agreement: tuple[str, ...]
    components: tuple[frozenset[str], ...]
    words: tuple[frozenset[str], ...]
    tasks: tuple[frozenset[int], ...]
    mentions: tuple[tuple[int, ...], ...]

    def column(self, side: str, name: str) -> BoolArray:
        matrix = self.judge_types if side == "judge" else self.human_types
        return matrix[:, self.types.index(name)]


def proportion(hits: int, n: int) -> Estimate:
    """Return a share with Wilson's interval."""
    return Estimate(hits / n, *wilson(hits, n), n, "wilson")


def ledger(published: Mapping[str, Any], sides: Sides, resamples: int = 10_000, seed: int = 0) -> list[Line]:
    """Return one line a printed figure, those that need unreleased data included."""
    statistics = dict(_statistics(sides))
    ready = estimates(clustered(sides.question), list(statistics.values()), resamples, seed)
    known = dict(zip(statistics, ready, strict=True))
    return [
        *_dataset(published["dataset"], sides),
        *_confusion(published["confusion"], sides, known),
        *_kappas(published, sides, known),
        *_types(published["types"], sides),
        *_models(published["models"], sides, known),
        *_places(published, sides),
        *_detection(published["detection"], sides, known),
        *_disagreement(published["disagreement"], sides, known),
        *_type_by_component(published["type_by_component"], sides),
        *(Line(key, None, None, None, "not reproducible here", why) for key, why in published["unreleased"].items()),
    ]


def _statistics(sides: Sides) -> Iterator[tuple[str, Statistic]]:
    """Yield what gets its interval from resampled questions, by the name that the lines below look it up under."""
    labelled, flagged = sides.labelled, sides.labelled & sides.judge & sides.human
    yield "cohen_kappa", cohen_kappa(sides.judge, sides.human, labelled)
    yield "f1", agreement_f1(sides.judge, sides.human, labelled)
    yield "mean_jaccard", jaccard(sides.judge_types, sides.human_types, flagged)
    every = np.ones(len(labelled), dtype=np.bool_)
    for name in sides.types:
        judge, human = sides.column("judge", name), sides.column("human", name)
        yield f"kappa.{name}", cohen_kappa(judge, human, every)
        yield f"f1.{name}", agreement_f1(judge, human, labelled)
        yield f"precision.{name}", rate(human, judge & labelled, "the judge never names it")
        yield f"recall.{name}", rate(judge, human & labelled, "no reviewer names it")
    for model in dict.fromkeys(sides.model):
        own = labelled & (np.array(sides.model) == model)
        yield f"f1.{model}", agreement_f1(sides.judge, sides.human, own)


def _line(key: str, printed: float, ours: Estimate | float | None, digits: int, note: str = "") -> Line:
    return ledger_line(key, f"{printed:.{digits}f}", ours, note=note)


def _dataset(published: Mapping[str, Any], sides: Sides) -> Iterator[Line]:
    n, labelled = len(sides.model), int(sides.labelled.sum())
    yield _line("dataset.trajectories", published["trajectories"], n, COUNT)
    yield _line("dataset.with_binary_label", published["with_binary_label"], labelled, COUNT)
    yield _line("dataset.questions", published["questions"], len(set(sides.question)), COUNT)
    reviewers = Counter(sides.reviewer)
    words = Counter(zip(sides.reviewer, sides.agreement, strict=True))
    for name, printed in published["reviewers"].items():
        yield _line(f"dataset.reviewers.{name}", printed, reviewers[name], COUNT)
        for word in ("agree", "disagree", "partial"):
            yield _line(f"dataset.{word}.{name}", published[word][name], words[name, word], COUNT)
        share = proportion(words[name, "agree"], reviewers[name])
        yield _line(f"dataset.agreement_rate.{name}", published["agreement_rate"][name], share, RATE)
    human = proportion(int((sides.human & sides.labelled).sum()), labelled)
    yield _line("dataset.human_rate", published["human_rate"], human, RATE)
    yield _line("dataset.judge_rate", published["judge_rate"], proportion(int(sides.judge.sum()), n), RATE)
    sizes = sides.human_types.sum(axis=1)
    yield _line("dataset.single_type", published["single_type"], int((sizes == 1).sum()), COUNT)
    yield _line("dataset.multi_type", published["multi_type"], int((sizes > 1).sum()), COUNT)


def _confusion(published: Mapping[str, float], sides: Sides, known: Mapping[str, Estimate]) -> Iterator[Line]:
    judge, human, labelled = sides.judge, sides.human, sides.labelled
    cells = {"tn": ~judge & ~human, "fn": ~judge & human, "fp": judge & ~human, "tp": judge & human}
    counts = {name: int((cell & labelled).sum()) for name, cell in cells.items()}
    for name, count in counts.items():
        yield _line(f"confusion.{name}", published[name], count, COUNT)
    tp, right = counts["tp"], counts["tp"] + counts["tn"]
    rates = {
        "precision": proportion(tp, tp + counts["fp"]),
        "recall": proportion(tp, tp + counts["fn"]),
        "f1": known["f1"],
        "accuracy": proportion(right, int(labelled.sum())),
        "cohen_kappa": known["cohen_kappa"],
    }
    for name, ours in rates.items():
        yield _line(f"confusion.{name}", published[name], ours, RATE)
    disputed = np.array([word == "disagree" for word in sides.agreement])
    both = int((cells["tp"] & labelled & disputed).sum())
    yield _line("confusion.both_positive_but_disagree", published["both_positive_but_disagree"], both, COUNT)


def _overlap(sides: Sides, name: str, among: BoolArray) -> dict[str, int]:
    judge, human = sides.column("judge", name) & among, sides.column("human", name) & among
    parts = {"both": judge & human, "judge_only": judge & ~human, "human_only": ~judge & human}
    parts |= {"neither": ~judge & ~human & among, "human_total": human}
    return {part: int(cell.sum()) for part, cell in parts.items()}


def _kappas(published: Mapping[str, Any], sides: Sides, known: Mapping[str, Estimate]) -> Iterator[Line]:
    every = np.ones(len(sides.judge), dtype=np.bool_)
    columns = published["kappa"]["columns"]
    for name in sides.types:
        ours = _overlap(sides, name, every)
        for column, printed in zip(columns, published["kappa"][name], strict=True):
            value, digits = (known[f"kappa.{name}"], RATE) if column == "kappa" else (ours[column], COUNT)
            yield _line(f"kappa.{name}.{column}", printed, value, digits)
    for name, printed in published["conclusion_f1"].items():
        cause = f"the paper's conclusion quotes the kappa {known[f'kappa.{name}'].value:.3f} as F1"
        yield _line(f"conclusion_f1.{name}", printed, known[f"f1.{name}"], RATE, cause)


def _types(published: Mapping[str, Any], sides: Sides) -> Iterator[Line]:
    total = int(sides.human_types.sum())
    yield _line("types.total", published["total"], total, COUNT)
    for name, printed in published["counts"].items():
        count = int(sides.column("human", name).sum())
        yield _line(f"types.counts.{name}", printed, count, COUNT)
        yield _line(f"types.shares.{name}", published["shares"][name], proportion(count, total), RATE)
    for pair, printed in published["pairs"].items():
        a, b = (sides.column("human", name) for name in pair.split("+"))
        yield _line(f"types.pairs.{pair}", printed, int((a & b).sum()), COUNT)


def _models(published: Mapping[str, Any], sides: Sides, known: Mapping[str, Estimate]) -> Iterator[Line]:
    columns = published["columns"]
    for model, row in published.items():
        if model == "columns":
            continue
        own = np.array(sides.model) == model
        counted = own & sides.labelled
        n, human, judge = int(counted.sum()), sides.human & counted, sides.judge & counted
        hits = int((human & judge).sum())
        ours: dict[str, Estimate | float] = {
            "n": n,
            "rate": proportion(int(human.sum()), n),
            "judge_precision": proportion(hits, int(judge.sum())),
            "judge_recall": proportion(hits, int(human.sum())),
            "judge_f1": known[f"f1.{model}"],
        }
        for column, printed in zip(columns, row, strict=True):
            if column in ours:
                digits = COUNT if column == "n" else RATE
                yield _line(f"models.{model}.{column}", printed, ours[column], digits)
                continue
            kind = sides.column("human", column)
            inside, whole = int((kind & counted).sum()), int((kind & own).sum())
            cause = "" if inside == whole else f"{whole} with the run that has no binary label, which N leaves out"
            yield _line(f"models.{model}.{column}", printed, inside, COUNT, cause)


def _places(published: Mapping[str, Any], sides: Sides) -> Iterator[Line]:
    spelled = Counter(word for words in sides.words for word in words)
    meant = Counter(name for names in sides.components for name in names)
    for name, printed in published["components"].items():
        reading = "" if spelled[name] == meant[name] else f"exact spelling; {meant[name]} with misspelt ones"
        yield ledger_line(f"components.{name}", str(printed), spelled[name], reading)
    mentions = Counter(number for numbers in sides.mentions for number in numbers)
    corrected = Counter(task for tasks in sides.tasks for task in tasks)
    for task, printed in published["tasks"].items():
        same = mentions[task] == corrected[task]
        reading = "" if same else f'mentions of "Task {task}"; {corrected[task]} runs with lists read whole'
        yield ledger_line(f"tasks.{task}", str(printed), mentions[task], reading)


def _detection(published: Mapping[str, Any], sides: Sides, known: Mapping[str, Estimate]) -> Iterator[Line]:
    for name in sides.types:
        counts = _overlap(sides, name, sides.labelled)
        ours: dict[str, Estimate | float] = {
            "tp": counts["both"],
            "fp": counts["judge_only"],
            "fn": counts["human_only"],
            **{metric: known[f"{metric}.{name}"] for metric in ("precision", "recall", "f1")},
        }
        for column, printed in zip(published["columns"], published[name], strict=True):
            yield _line(
                f"detection.{name}.{column}",
                printed,
                ours[column],
                COUNT if len(column) == 2 and column != "f1" else RATE,
            )


def _disagreement(published: Mapping[str, Any], sides: Sides, known: Mapping[str, Estimate]) -> Iterator[Line]:
    both = sides.labelled & sides.judge & sides.human
    n = int(both.sum())
    exact = int(((sides.judge_types == sides.human_types).all(axis=1) & both).sum())
    yield _line("disagreement.n", published["n"], n, COUNT)
    yield _line("disagreement.exact_set_match", published["exact_set_match"], exact, COUNT)
    yield _line("disagreement.exact_set_share", published["exact_set_share"], proportion(exact, n), RATE)
    yield _line("disagreement.mean_jaccard", published["mean_jaccard"], known["mean_jaccard"], RATE)
    for name in sides.types:
        ours = _overlap(sides, name, both)
        for column, printed in zip(published["columns"], published[name], strict=True):
            yield _line(f"disagreement.{name}.{column}", printed, ours[column], COUNT)


def _type_by_component(published: Mapping[str, Any], sides: Sides) -> Iterator[Line]:
    for name in sides.types:
        kind: Sequence[bool] = sides.column("human", name).tolist()
        for column, printed in zip(published["columns"], published[name], strict=True):
            spelled = sum(own and column in words for own, words in zip(kind, sides.words, strict=True))
            meant = sum(own and column in names for own, names in zip(kind, sides.components, strict=True))
            reading = "" if spelled == meant else f"exact spelling; {meant} with misspelt ones"
            yield ledger_line(f"type_by_component.{name}.{column}", str(printed), spelled, reading)
