"""``trajaudit annotate export|import``: sheets that people fill in blind, and what they then say, as labels.

A judge's view of a run is shown only once enough people have annotated it (``people``): until then the run is in no
table beside a judge and not in the page, so that a second reader cannot be led by what the first one's import showed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import file_hash
from trajaudit.analysis.readers import Intervals, Reader, all_pairs, alphas, pair_agreement, reader
from trajaudit.annotation import Annotation
from trajaudit.config import Choice, ConfigError
from trajaudit.dataset import Dataset, Receipt
from trajaudit.datasets.annotations import by_trajectory, labelled, read_annotations
from trajaudit.datasets.sampling import Stratify, draw_sample
from trajaudit.reports import Table, render, write
from trajaudit.reports.readers import agreement_table, alpha_table, review_page, type_table
from trajaudit.reports.sheets import write_sheets
from trajaudit.runs import RunFolder
from trajaudit.trajectory import Trajectory, write_jsonl
from trajaudit.verbs.collect import collect, dataset_of, warnings
from trajaudit.verbs.judge import content_of
from trajaudit.verbs.paths import IRRELEVANT, Paths
from trajaudit.verbs.stats import Stats, check_stats
from trajaudit.verdict import Verdict, by_auditor


def annotate_export(
    *,
    dataset: Choice,
    paths: Paths,
    n: int = 20,
    seed: int = 0,
    stratify: Stratify = "none",
    with_reference: bool = False,
    name: str | None = None,
) -> int:
    """Write a self-contained HTML sheet for each of n trajectories, blind, that saves JSON without a server."""
    data = dataset_of(dataset)
    runs = draw_sample(data, n, seed, stratify)
    config = {"dataset": dataset.config, "n": n, "seed": seed, "stratify": stratify, "with_reference": with_reference}
    with RunFolder.open(
        paths["output_dir"],
        "annotate_export",
        name or data.name,
        config,
        data={**data.files, "items": content_of(runs)},
        seeds={"sample": seed, "dataset": dataset.config.get("seed")},
        irrelevant=IRRELEVANT,
        outputs=("sheets/index.html",),
    ) as folder:
        index = folder.path / "sheets" / "index.html"
        if not folder.done:
            condition = "with_reference" if with_reference else "blind"
            write_sheets(index.parent, runs, data.taxonomy, data.procedure.text, condition)
        fewer = f" (all that there are; n={n} was asked for)" if len(runs) < n else ""
        print(f"{len(runs)} sheets{fewer}: {index.resolve()}")
    return 0


def annotate_import(
    *,
    dataset: Choice,
    answers: list[str] | str,
    stats: Stats,
    paths: Paths,
    verdicts: list[str] | None = None,
    limit: int | None = None,
    people: int = 1,
    name: str | None = None,
) -> int:
    """Read filled-in sheets: labels as JSONL, how far people agree with each other and with every judge."""
    check_stats(stats)
    if people < 1:
        raise ConfigError(f"people: expected at least 1, got {people}")
    data = dataset_of(dataset)
    given = [answers] if isinstance(answers, str) else answers
    runs = list(data.prefix(limit))
    annotations, receipt, files = read_annotations(given, runs, data.taxonomy)
    said = by_trajectory(annotations)
    ready = [run for run in runs if len(said.get(run.id, ())) >= people]
    judged, judge_files = _judged(dataset, paths["output_dir"], name, limit, verdicts, {run.id for run in ready})
    config = {"dataset": dataset.config, "stats": stats, "people": people, "limit": limit, "verdicts": verdicts}
    with RunFolder.open(
        paths["output_dir"],
        "annotate_import",
        name or data.name,
        config,
        data={**data.files, **judge_files, **{str(file): file_hash(file) for file in files}},
        seeds={"stats": stats["seed"]},
        irrelevant=IRRELEVANT,
        outputs=("summary.txt", "trajectories.jsonl"),
    ) as folder:
        if folder.done:
            print((folder.path / "summary.txt").read_text(encoding="utf-8"))
            print(f"already done: {folder.path}")
            return 0
        tables = _tables(data, [run for run in runs if run.id in said], ready, annotations, judged, stats)
        summary = _write(folder.path, data, runs, ready, annotations, judged, tables, receipt)
        print(summary)
        print(f"labels: {folder.path / 'trajectories.jsonl'}\npage: {folder.path / 'review.html'}")
    return 0


def _judged(
    dataset: Choice, output_dir: str, name: str | None, limit: int | None, files: list[str] | None, ready: set[str]
) -> tuple[list[Verdict], dict[str, str]]:
    """Return the judges' verdicts on the runs whose annotations are in, and the files they are from."""
    try:
        found = collect(dataset, output_dir, name, limit, files)
    except FileNotFoundError:
        if files:
            raise
        return [], {}
    return [verdict for verdict in found.verdicts if verdict.trajectory_id in ready], found.files


def _tables(
    data: Dataset,
    annotated: Sequence[Trajectory],
    ready: Sequence[Trajectory],
    annotations: Sequence[Annotation],
    judged: Sequence[Verdict],
    stats: Stats,
) -> list[Table]:
    """Return the agreement of people with each other, over all they read, and with judges, over what may be shown."""
    told = Intervals(stats["resamples"], stats["seed"], stats["level"], stats["method"])
    types, human = data.taxonomy.types, by_auditor([annotation.to_verdict() for annotation in annotations])
    groups, readers = [run.group for run in annotated], _readers(human, annotated, types)
    tables = []
    if len(readers) > 1:
        between = all_pairs(readers, groups, types, told)
        tables += [
            alpha_table(alphas(readers, groups, types, told), len(readers)),
            agreement_table(between, "people", "People with each other"),
            type_table(between, "people_types", "People with each other, by type"),
        ]
    judges = _readers(by_auditor(judged), ready, types)
    if judges:
        shown, own = [run.group for run in ready], _readers(human, ready, types)
        across = [pair_agreement(one, judge, shown, types, told) for one in own for judge in judges]
        tables += [
            agreement_table(across, "judges", "People with judges"),
            type_table(across, "judges_types", "People with judges, by type"),
        ]
    return tables


def _readers(verdicts: Mapping[str, list[Verdict]], runs: Sequence[Trajectory], types: Sequence[str]) -> list[Reader]:
    ids = [run.id for run in runs]
    return [reader(name, own, ids, types) for name, own in verdicts.items()] if ids else []


def _write(
    folder: Path,
    data: Dataset,
    runs: Sequence[Trajectory],
    ready: Sequence[Trajectory],
    annotations: Sequence[Annotation],
    judged: Sequence[Verdict],
    tables: Sequence[Table],
    receipt: Receipt,
) -> str:
    """Write annotations, labels, tables, page and receipt, and return what is printed of them."""
    said = by_trajectory(annotations)
    labels = labelled(runs, said, receipt)
    write_jsonl(folder / "annotations.jsonl", annotations)
    write_jsonl(folder / "trajectories.jsonl", labels)
    write_jsonl(folder / "receipt.json", [receipt])
    for table in tables:
        write(table, folder / "tables")
    shown = {run.id for run in ready}
    human = [annotation.to_verdict() for annotation in annotations if annotation.trajectory_id in shown]
    known = {run.id: run for run in labels}
    read = [known.get(run.id, replace(run, label=None)) for run in ready]  # no label but the people's own
    title = f"What people and judges say of {data.name}"
    page = review_page(title, tables, read, [*human, *judged], warnings(judged))
    (folder / "review.html").write_bytes(page.encode("utf-8", "backslashreplace"))
    names = {annotation.annotator for annotation in annotations}
    head = (
        f"{len(annotations)} annotations of {len(said)} trajectories by {len(names)} people; "
        f"{len(labels)} labelled ({sum(run.label is not None and run.label.faulty for run in labels)} faulty)"
    )
    left = [f"{count} {why}" for why, count in receipt.dropped.items()]
    waiting = [f"{len(said) - len(ready)} wait for more people"] if len(said) > len(ready) else []
    text = "\n\n".join(["; ".join([head, *left, *waiting]), *(render(table, "txt") for table in tables)])
    (folder / "summary.txt").write_text(text, encoding="utf-8")
    return text
