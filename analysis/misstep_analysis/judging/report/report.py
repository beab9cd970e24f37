"""Runs of judges as one page: what they found, which of them is better, and every item to look at."""

import shlex
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Protocol, cast

from msgspec import structs

from misstep_analysis.judging.assessment import Assessment, assessment_tables
from misstep_analysis.judging.judged_runs import JudgedRun, names_of_judges
from misstep_analysis.judging.page import LABELS_DRAWN, RUNS_DRAWN, JudgedBy, Section, judge_figures, judge_page
from misstep_analysis.judging.pairs.comparison import (
    best_of,
    compare_judges,
    compared_runs_table,
    comparison_table,
)
from misstep_analysis.judging.report.assessment import NO_JUDGE, assessed, is_plumbing
from misstep_analysis.judging.report.report_items import PAGE_CHARACTERS, item_browser
from misstep_analysis.judging.sample import majority
from misstep_analysis.judging.score_tables import best_per_benchmark
from misstep_analysis.judging.scores import Scores
from misstep_analysis.pages import Foot
from misstep_analysis.plots import can_draw
from misstep_analysis.tables import Table, of_evidence
from misstep_analysis.tables.wording import counted_text
from misstep_harness.journal.opened import distinct_names
from misstep_harness.journal.records import Inputs
from misstep_harness.places import cache_folder

_NOTES = (
    "The gold label of an item is the one that most raters gave; where their labels tie there is none, and no score "
    "counts the item. An item that was not answered is never given a label.",
    "Texts and runs are shortened to what a page can hold, the steps that a judge named as evidence last; where "
    "something is left out, the page says so.",
    f"Confusion matrices are drawn of at most {LABELS_DRAWN} labels, and with the reliability of scores of the first "
    f"{RUNS_DRAWN} runs on a benchmark; the tables are of all.",
)

SEED = 0
_TRIAGE_TABLES = "misstep_analysis.triage.judged"
"""The module that makes the tables of triage runs: named, as a system is not imported by what it builds on."""


class _TriageTables(Protocol):
    def triage_run(self, run: JudgedRun, tables: Sequence[Table], seed: int) -> list[Table]: ...
    def triage_comparison(self, runs: Mapping[str, JudgedRun], seed: int) -> list[Table]: ...


def report_html(runs: Sequence[JudgedRun], known: Sequence[Assessment] = (), command: str = "") -> str:
    """Return the report of one or several runs as one self-contained page."""
    folders, names = distinct_names([run.folder for run in runs]), names_of_judges(runs)
    assessments = known or [assessed(run, seed=SEED) for run in runs]
    groups: dict[Inputs, dict[str, tuple[JudgedRun, Assessment]]] = {}
    for name, run, assessment in zip(names, runs, assessments, strict=True):
        groups.setdefault(run.manifest.inputs, {})[name] = (run, assessment)
    room = PAGE_CHARACTERS // len(groups)
    sections = [_section(group, place, room) for place, group in enumerate(groups.values())]
    alone = next(iter(sections)) if len(sections) == 1 else None
    return judge_page(
        alone.title if alone else "Judges on several benchmarks",
        alone.finding if alone else best_per_benchmark([_scored(group) for group in groups.values()]),
        sections,
        _NOTES,
        _warnings(dict(zip(folders, runs, strict=True))),
        foot=Foot(
            command or shlex.join(["misstep", "report", *folders]),
            datasets=tuple(dict.fromkeys(name for run in runs if (name := _public_set(run)))),
            inputs=tuple(map(_input, folders, runs)),
            seed=SEED,
        ),
    )


def _warnings(runs: Mapping[str, JudgedRun]) -> list[str]:
    warnings = []
    small = [name for name, run in runs.items() if is_plumbing(run)]
    if small:
        warnings.append(NO_JUDGE if len(runs) == 1 else f"{', '.join(small)}: {NO_JUDGE}")
    for name, run in runs.items():
        if run.unfinished:
            who = "This run" if len(runs) == 1 else f"The run {name}"
            warnings.append(f"{who} {run.unfinished}.")
    versions: dict[str, dict[Inputs, list[str]]] = {}
    for name, run in runs.items():
        versions.setdefault(run.question.name, {}).setdefault(run.manifest.inputs, []).append(name)
    for benchmark, of in versions.items():
        if len(of) > 1:
            groups = "; ".join(", ".join(names) for names in of.values())
            warnings.append(f"These runs are about different versions of {benchmark} and not compared: {groups}.")
    return warnings


def _section(group: Mapping[str, tuple[JudgedRun, Assessment]], place: int, room: int) -> Section:
    first, assessment = next(iter(group.values()))
    reference = majority(first.gold)
    source = first.question.name
    if len(group) == 1:
        title = f"{first.judge} on {source}"
        tables = {"": tables_of_run(first, assessment)}
        finding = tables[""][0].finding
    else:
        title = f"{len(group)} runs on {source}"
        finding, tables = _compared(group, source)
    runs = [
        JudgedBy(name if len(group) > 1 else run.judge, {one.item: one for one in run.verdicts})
        for name, (run, _) in group.items()
    ]
    finer = majority(first.subcategories).label_of
    return Section(
        title=title,
        finding=finding,
        figures=_figures(group),
        # No two tables on the page have one name.
        tables={
            heading: [structs.replace(table, name=f"{table.name}-{place}-{number}") for table in shown]
            for number, (heading, shown) in enumerate(tables.items())
        },
        items=item_browser(first.benchmark, tuple(first.question.labels), reference, runs, room, finer),
    )


def _compared(group: Mapping[str, tuple[JudgedRun, Assessment]], source: str) -> tuple[str, dict[str, list[Table]]]:
    first = next(iter(group.values()))[0]
    scored = _scored(group)
    verdicts = {name: run.verdicts for name, (run, _) in group.items()}
    pairs = compare_judges(verdicts, first.gold, clusters=first.clusters, seed=SEED)
    evidence = first.question.evidence
    comparison = (compared_runs_table(scored, source), comparison_table(pairs, source))
    tables = {"": [of_evidence(table, evidence) for table in comparison]}
    tables |= {name: tables_of_run(run, assessment) for name, (run, assessment) in group.items()}
    if first.is_triage:
        beside = _triage_tables().triage_comparison({name: run for name, (run, _) in group.items()}, SEED)
        return beside[0].finding, tables | {"": [*beside, *tables[""]]}
    return best_of(scored, pairs), tables


def tables_of_run(run: JudgedRun, assessment: Assessment) -> list[Table]:
    """Return the tables of one run; one of triage begins with whose fault the runs are."""
    tables = assessment_tables(assessment, run.question.name)
    return _triage_tables().triage_run(run, tables, SEED) if run.is_triage else tables


def _triage_tables() -> _TriageTables:
    return cast("_TriageTables", import_module(_TRIAGE_TABLES))


def _scored(group: Mapping[str, tuple[JudgedRun, Assessment]]) -> dict[str, Scores]:
    return {name: assessment.scores for name, (_, assessment) in group.items()}


def _figures(group: Mapping[str, tuple[JudgedRun, Assessment]]) -> tuple[tuple[str, ...], ...]:
    if not can_draw():
        return ()
    return judge_figures({name: assessment for name, (_, assessment) in group.items()})


def _public_set(run: JudgedRun) -> str:
    """Return the public set that a run's benchmark was built from; empty for a user's own."""
    built = (cache_folder() / "benchmarks").resolve()
    inside = run.benchmark.resolve()
    return inside.relative_to(built).parts[0] if inside.is_relative_to(built) else ""


def _input(name: str, run: JudgedRun) -> str:
    model = run.manifest.settings.get("model")
    judge = f"{run.judge}{f' with {model}' if model else ''}"
    unfinished = "" if run.manifest.finished else ", not finished"
    begun = f", begun {run.manifest.started}" if run.manifest.started else ""
    items = counted_text(len(run.verdicts), "item")
    form = run.manifest.settings.get("imported")
    if form:
        judge += f", imported from {run.manifest.settings.get('file')} ({form}),"
    return f"{name}: {judge} on {run.question.name} ({run.manifest.inputs.digest[:12]}), {items}{begun}{unfinished}"
