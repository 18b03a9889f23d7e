"""The card of an adapter: on what it was trained, how it did there and elsewhere, what made it, and where it ends.

It is written from the facts alone, so it cannot say a number that the run did not give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trajaudit._fields import Json, dumps
from trajaudit.analysis import Scorecard, score, tabulate
from trajaudit.analysis.result import Estimate
from trajaudit.detectors.adapter_facts import Facts
from trajaudit.reports import Column, Row, Table, render
from trajaudit.trajectory import Trajectory
from trajaudit.verbs.stats import Stats
from trajaudit.verdict import Verdict

SHOWN = {
    "roc_auc": "AUC",
    "recall": "recall",
    "silent_recall": "silent recall",
    "false_alarm": "false alarm",
    "step_exact": "exact step",
    "type_macro_f1": "type macro-F1",
    "ece": "ECE",
}
"""The metrics of a card, by name, with their headers."""
OF_PAIRS = {"accuracy": "accuracy", "macro_f1": "macro F1", "commonest": "commonest relation"}
"""Those of a model of entailment on pairs."""
OTHER_TYPES = "this set's faults have other types"
PARTS = {
    "process_model.json": "what clean runs have in common: order, guards, sources of arguments, how a run ends",
    "claim_sources.json": "for each kind of value, the fields that healthy replies take it from",
    "hybrid.json": "weights, calibration and threshold over rules, conformance and claims",
}
"""The files of the free auditors."""
WHAT = {
    "detector": "A trained detector",
    "entailment": "A model of entailment for the claim checker",
    "free_auditors": "Auditors that ask no model",
}


def figures_on(
    name: str,
    how: str,
    runs: Sequence[Trajectory],
    verdicts: Sequence[Verdict],
    stats: Stats,
    *,
    typed: bool = True,
) -> Json:
    """Return what verdicts on labelled runs are worth, with intervals that keep groups whole.

    Args:
        typed: the auditor knows the types of these faults.
    """
    items, answers = tabulate(runs, verdicts)
    (found,) = score(items, answers, **stats)
    return figures_of(name, how, runs, found, typed=typed)


def figures_of(name: str, how: str, runs: Sequence[Trajectory], found: Scorecard, *, typed: bool = True) -> Json:
    """Return the figures of a card from a scorecard; arguments as for `figures_on`."""
    metrics = {key: _plain(found.metrics[key]) for key in SHOWN}
    if not typed:
        metrics["type_macro_f1"] = _plain(Estimate(None, n=len(runs), reason=OTHER_TYPES))
    faulty = sum(run.label is not None and run.label.faulty for run in runs)
    return {"set": name, "how": how, "runs": len(runs), "faulty": faulty, "metrics": metrics}


def _plain(estimate: Estimate) -> Json:
    return {key: value for key, value in estimate.__dict__.items() if value not in (None, "")} | {
        "value": estimate.value
    }


def figures_table(figures: Sequence[Json]) -> Table:
    """Return what an auditor is worth on labelled sets, a row each set."""
    columns = (
        *(Column("set", "set", "text"), Column("runs", "runs", "count"), Column("faulty", "faulty", "count")),
        *(Column(key, header) for key, header in SHOWN.items()),
    )
    rows = [Row((one["set"], one["runs"], one["faulty"], *_estimates(one, SHOWN))) for one in figures]
    notes = dict.fromkeys(f"{one['set']}: {one['how']}." for one in figures)
    return Table("figures", "How it did", columns, tuple(rows), tuple(notes))


def pairs_table(figures: Sequence[Json]) -> Table:
    """Return how well a model tells relations of premise and hypothesis apart, a row each set of pairs."""
    columns = (
        *(Column("set", "set", "text"), Column("pairs", "pairs", "count")),
        *(Column(key, header) for key, header in OF_PAIRS.items()),
    )
    rows = [Row((one["set"], one["pairs"], *_estimates(one, OF_PAIRS))) for one in figures]
    return Table("pairs", "Relations told apart", columns, tuple(rows))


def _estimates(one: Json, keys: Iterable[str]) -> list[Estimate]:
    return [Estimate(**one["metrics"][key]) for key in keys]


def card(name: str, facts: Facts) -> str:
    """Return the card as Markdown."""
    return "\n".join([f"# {name}", "", *_what(facts), "", *_done(facts), "", *_made(facts), "", *_limits(facts), ""])


def _what(facts: Facts) -> Iterable[str]:
    on = facts.trained_on
    knows = f", fault types of {facts.taxonomy}" if facts.taxonomy else ""
    yield f"{WHAT[facts.kind]} (`{facts.detector}`){knows}."
    yield ""
    counts = ", ".join(f"{on[key]} {key}" for key in ("runs", "faulty", "groups", "pairs") if key in on)
    yield f"- **Trained on** {on['name']} ({counts}): `{dumps(on['dataset'])}`; content `{on['sha256'][:16]}…`."
    if facts.encoder is not None:
        weights, identity = facts.encoder["weights"], dumps(facts.encoder["identity"])
        yield f"- **Encoder** `{weights}`, `{identity}`: it is not inside, and no other will do."
    if facts.training is not None:
        yield f"- **Training** `{dumps(facts.training)}`; options `{dumps(facts.options)}`."
    yield from (f"- `{name}`: {PARTS[name]}." for name in facts.files if name in PARTS)
    if facts.calibration is not None:
        yield f"- **Decides** {_line(facts.calibration)}."


def _line(calibration: Json) -> str:
    """Return how a raw score becomes a decision, in words."""
    if calibration["threshold"] is None:
        return f"nothing to be faulty: {calibration['reason']}"
    line = f"{calibration['threshold']:.3f} of a {calibration['method']} calibration"
    return f"faulty above {line}, both from inner folds"


def _done(facts: Facts) -> Iterable[str]:
    for key, table in (("runs", figures_table), ("pairs", pairs_table)):
        if figures := [one for one in facts.figures if key in one]:
            yield render(table(figures), "md")


def _made(facts: Facts) -> Iterable[str]:
    yield "## How it was made"
    yield ""
    yield f"```\n{facts.command}\n```"
    yield ""
    yield "With " + ", ".join(f"{name} {version}" for name, version in facts.versions.items()) + "."


def _limits(facts: Facts) -> Iterable[str]:
    yield "## Where it ends"
    yield ""
    if facts.kind == "entailment":
        yield "- It was taught on sentences about tables; what a tool returns is read as such a table."
        yield "- It decides only what matching leaves open: values, dates and names are checked without it."
        return
    domain, name = facts.domain, facts.trained_on["name"]
    where = f"runs that use the tools of {domain}" if domain else f"runs like those of {name}"
    yield f"- It knows {where}. The rows above that it was not trained on say how far that carries; other agents,"
    yield "  words or tools can cost it more, and its probabilities hold only where faults are as common as there."
    yield "- A fault of a kind that no training run shows can pass unseen, and is named as one that was shown."
