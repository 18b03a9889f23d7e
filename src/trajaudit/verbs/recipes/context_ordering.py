"""The recipe of the context-ordering hypothesis: does what a detector reads decide which faults it finds?

Trajel's section 4.2 expects step classifiers to do best on factual faults, entailment on referential and logical ones,
long context on procedural and scope faults. The plant knows type, step and stratum of every fault by construction, so
the expectation is a hypothesis that can fail. It is declared here, before any table: `PREDICTED`, and three families
of contrasts. Paradigms are compared with the same part of them trained (a suffix of the name, such as ``_top``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trajaudit.analysis import holm, tabulate
from trajaudit.analysis.combinations import Combined, added, combined, mean_of, scaled
from trajaudit.analysis.interactions import ANY, MEASURES, STRATA, cell, cells_of, interaction, measured
from trajaudit.analysis.paired import detectable
from trajaudit.analysis.resampling import design
from trajaudit.analysis.result import Estimate
from trajaudit.analysis.statistic import Statistic
from trajaudit.analysis.table import Answers, Items
from trajaudit.dataset import Dataset
from trajaudit.reports.context_ordering import Contrast, Gain, cell_table, contrast_table, gain_table
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.reproduce import Reproduction
from trajaudit.verbs.side_by_side import Said, by_auditor, free, sets_of
from trajaudit.verbs.stats import Stats
from trajaudit.verbs.trained import every_training, hashes_by_path
from trajaudit.verdict import Verdict

PREDICTED = {
    "bert_step": ("factual",),
    "nli": ("referential", "logical"),
    "longformer": ("procedural", "scope"),
}
"""The fault types that each paradigm is expected to do best on (Trajel, section 4.2)."""
PLACEBOS = ("tfidf", "length", "position_prior", "has_error")
"""Auditors without a theory. Majority has one score for all, so it has no profile."""
PRIMARY, BY_STRATUM, PLACEBO = "prediction", "prediction by stratum", "placebo"


@dataclass(frozen=True)
class Measures:
    """Every statistic by its name, and the names by measure, auditor, stratum and type, one a seed."""

    items: Items
    statistics: dict[str, Statistic]
    names: dict[tuple[str, str, str], dict[str, list[str]]]

    def areas(self, auditor: str, stratum: str) -> dict[str, list[str]]:
        """Return the names of an auditor's areas by fault type."""
        return {kind: names for kind, names in self.names["auc", auditor, stratum].items() if kind != ANY}


def context_ordering(*, dataset: Dataset, stats: Stats, runs: str) -> Reproduction:
    """Measure every training under a folder by fault type and stratum, and test the hypothesis.

    Args:
        dataset: says by its name which trainings are meant; the tested runs are those that they were given.
        runs: folder that `trajaudit train experiment=context_ordering` wrote to.

    Raises:
        FileNotFoundError: no training there.
        RecordError: trainings learnt from other runs or tested others, or are the same.
        ValueError: a paradigm has no training.
    """
    trained = every_training(runs, dataset.name)
    learnt_from, tested = sets_of(trained)
    said: Said = by_auditor(trained, tested)
    said |= {name: [of] for name, of in free(dataset, learnt_from, tested).items()}
    variants = _variants(said)
    if not variants:
        lacking = ",".join(name for name in PREDICTED if name not in said)
        raise ValueError(
            f"recipe.runs: lacks trainings: trajaudit train experiment=context_ordering -m detector={lacking}"
        )
    found = _measures(tested, said)
    how: dict[str, Any] = {"resamples": stats["resamples"], "seed": stats["seed"], "level": stats["level"]}
    keys = [(*key, kind) for key, of in found.names.items() for kind in of]
    means = [mean_of(names) for of in found.names.values() for names in of.values()]
    declared = list(_declared(found, said, variants))
    gains = list(_gains(found, said))
    wanted = [*means, *(weights for _, weights in declared), *(weights for _, weights in gains)]
    told = combined(design(found.items), found.statistics, wanted, **how)
    estimates = dict(zip(keys, told, strict=False))
    contrasts = [replace(one, told=value) for (one, _), value in zip(declared, told[len(keys) :], strict=False)]
    gained = [replace(one, told=value) for (one, _), value in zip(gains, told[len(told) - len(gains) :], strict=True)]
    rows = [row for family in (PRIMARY, BY_STRATUM, PLACEBO) for row in _adjusted(contrasts, family, stats["level"])]
    counts = {stratum: int(cell(found.items, ANY, stratum).sum()) for stratum in STRATA}
    tables = [cell_table(m, found.items.types, _of(m, estimates), counts) for m in MEASURES]
    if gained:
        tables.insert(0, gain_table(_holm_over_all_faults(gained), found.items.types))
    areas = _of("auc", estimates)
    files = {**dataset.files, **hashes_by_path(trained, runs)}
    return Reproduction([], contrast_table(rows), tables, [], _findings(rows, areas, variants, said), files)


def _variants(said: Said) -> list[str]:
    """Return the suffixes under which all paradigms were trained."""
    first = next(iter(PREDICTED))
    suffixes = [name.removeprefix(first) for name in said if name.startswith(first)]
    return sorted(suffix for suffix in suffixes if all(name + suffix in said for name in PREDICTED))


def _measures(tested: Sequence[Trajectory], said: Said) -> Measures:
    items = tabulate(tested, ())[0]
    found = Measures(items, {}, {})
    for auditor, seeds in said.items():
        for seed, verdicts in enumerate(seeds):
            answers = _answers(tested, verdicts)
            for kind, stratum in cells_of(items):
                for measure, statistic in measured(items, answers, kind, stratum).items():
                    name = f"{measure}, {auditor}, {seed}, {stratum}, {kind}"
                    found.statistics[name] = statistic
                    of = found.names.setdefault((measure, auditor, stratum), {})
                    of.setdefault(kind, []).append(name)
    return found


def _answers(tested: Sequence[Trajectory], verdicts: Sequence[Verdict]) -> Answers:
    (own,) = tabulate(tested, verdicts)[1].values()
    return own


def _declared(found: Measures, said: Said, variants: Sequence[str]) -> Iterator[tuple[Contrast, Mapping[str, float]]]:
    """Yield every contrast of the three families, not yet measured, with its weights."""
    for suffix in variants:
        for paradigm, types in PREDICTED.items():
            rivals = tuple(name + suffix for name in PREDICTED if name != paradigm)
            entrants = [(PRIMARY, paradigm + suffix, "all")]
            entrants += [(BY_STRATUM, paradigm + suffix, stratum) for stratum in STRATA if stratum != "all"]
            entrants += [(PLACEBO, name, "all") for name in PLACEBOS if name in said]
            for family, auditor, stratum in entrants:
                against = [found.areas(name, stratum) for name in rivals]
                weights = interaction(found.areas(auditor, stratum), against, types)
                yield Contrast(family, auditor, paradigm, types, rivals, stratum, Combined(Estimate(None))), weights


def _gains(found: Measures, said: Said) -> Iterator[tuple[Gain, Mapping[str, float]]]:
    """Yield what each further trained paradigm gains over the plain one, by type, not yet measured."""
    for paradigm in PREDICTED:
        for auditor in said:
            if paradigm in said and auditor.startswith(f"{paradigm}_"):
                plain, further = (found.names["auc", name, "all"] for name in (paradigm, auditor))
                for kind, names in further.items():
                    weights = added(mean_of(names), scaled(mean_of(plain[kind]), -1))
                    yield Gain(auditor, paradigm, kind, Combined(Estimate(None))), weights


def _holm_over_all_faults(gains: Sequence[Gain]) -> list[Gain]:
    adjusted = iter(holm([one.told.p_value for one in gains if one.kind == ANY]))
    return [replace(one, p_holm=next(adjusted)) if one.kind == ANY else one for one in gains]


def _adjusted(rows: Sequence[Contrast], family: str, level: float) -> list[Contrast]:
    own = [row for row in rows if row.family == family]
    alpha = (1 - level) / max(1, len(own))
    adjusted = holm([row.told.p_value for row in own])
    return [
        replace(row, p_holm=p, detectable=None if row.told.error is None else detectable(row.told.error, alpha))
        for row, p in zip(own, adjusted, strict=True)
    ]


def _of(measure: str, estimates: Mapping[tuple[str, str, str, str], Combined]) -> dict[tuple[str, str, str], Estimate]:
    return {(who, kind, at): one.estimate for (what, who, at, kind), one in estimates.items() if what == measure}


def _findings(
    rows: Sequence[Contrast],
    areas: Mapping[tuple[str, str, str], Estimate],
    variants: Sequence[str],
    said: Said,
) -> list[str]:
    told = [
        f"{row.auditor} on {' and '.join(row.types)}: {row.verdict}, {_shown(row)}"
        for row in rows
        if row.family == PRIMARY
    ]
    for family in (BY_STRATUM, PLACEBO):
        own = [row for row in rows if row.family == family]
        words = [row.verdict for row in own]
        told.append(
            f"{family}: {', '.join(f'{words.count(word)} {word}' for word in dict.fromkeys(words))} of {len(own)}"
        )
    for suffix in variants:
        best = []
        for paradigm, types in PREDICTED.items():
            for kind in types:
                ranked = sorted(PREDICTED, key=lambda name: -(areas[name + suffix, kind, "all"].value or 0.0))
                best.append(f"{kind} {ranked[0]} (predicted: {paradigm})")
        told.append(f"highest area among the paradigms{f' ({suffix[1:]})' if suffix else ''}: {', '.join(best)}")
    counted = ", ".join(f"{name} {len(of)}" for name, of in said.items())
    return [*told, f"trainings, by auditor: {counted}"]


def _shown(row: Contrast) -> str:
    one = row.told.estimate
    if one.value is None or one.low is None or one.high is None:
        return one.reason or "no interval"
    return f"{one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
