"""A finished run opened for its export: its tables, its figures and what it was made on.

    classify            verdicts, sessions, files
    judge run, triage   verdicts; gold where it is asked for
    observe             runs, invocations, interventions, sessions
    repair run          attempts, signals
    reflect run         items, events
    triage --curate     runs, and the runs of each action
    experiment run      sessions, invocations, interventions; episodes, which were planted, where gold is asked for

All have `scores`, the figures of the run's own page. Labels that a judge must not see are in no table unless they are
asked for, and then in one of their own.
"""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from misstep.analysis.measures.observed import OBSERVED, Observed, observed_table
from misstep.analysis.measures.prevalence import prevalence_table
from misstep.analysis.pages.findings import Findings
from misstep.analysis.tables import Table, of_evidence
from misstep.analysis.tables.wording import counted_text
from misstep.harness.errors import UsageError
from misstep.harness.journal.records import Manifest
from misstep.harness.runs.standing_runs import manifest_of
from misstep.studies.curation import CURATED
from misstep.studies.experiments import EXPERIMENT, open_experiment, report_of_run
from misstep.studies.exports.columns import ExportedTable
from misstep.studies.exports.record_tables import (
    classified_tables,
    curated_tables,
    experiment_tables,
    judged_tables,
    observed_tables,
    reflected_tables,
    repaired_tables,
    score_table,
)
from misstep.studies.exports.sources import Source, sources_of
from misstep.studies.finished_runs import command_line, read_scores
from misstep.studies.judged_runs import JUDGED, open_run
from misstep.studies.judging.assessment import assessed
from misstep.studies.judging.report import tables_of_run
from misstep.studies.reflexive.report import reflection_tables
from misstep.studies.reflexive.runs import REFLECTED, open_reflexive_run
from misstep.studies.repair_report import repair_tables, scores_of
from misstep.studies.repair_runs import REPAIRED, open_repair_run

CLASSIFIED = "classify"


class Choice(Struct, frozen=True):
    """What of a run is exported, and where its benchmark is found (`benchmark`, `data` as of `open_run`).

    `gold` says whether labels that a judge must not see are tables as well.
    """

    benchmark: str = ""
    data: Path | None = None
    gold: bool = False


class RunExport(Struct, frozen=True):
    """A finished run as an export has it.

    - `folder`, `manifest`: The run's folder and its `run.toml`.
    - `tables`: Its tables, the main one first.
    - `figures`: The tables of its figures, the main one first; empty where there is nothing to compute.
    - `sources`: What it was made on, with licences.
    - `gold`: The names of the tables with labels that a judge must not see.
    """

    folder: Path
    manifest: Manifest
    tables: tuple[ExportedTable, ...]
    figures: tuple[Table, ...]
    sources: tuple[Source, ...]
    gold: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return self.folder.resolve().name

    def table(self, name: str) -> ExportedTable | None:
        """One of its tables; `None` where it has none of that name."""
        return next((table for table in self.tables if table.name == name), None)


def open_export(folder: Path, choice: Choice) -> RunExport:
    """The run in a folder."""
    manifest = manifest_of(folder, "Name the folder of a run.")
    if manifest.command not in _OPENED:
        known = ", ".join(f"`{name}`" for name in _OPENED)
        raise UsageError(f"{folder} is a run of `misstep {manifest.command}`", f"Name a run of one of {known}.")
    if not manifest.finished:
        raise UsageError(f"the run {folder} is not finished", f"Continue it: {command_line(manifest)}")
    tables, figures, benchmark = _OPENED[manifest.command](folder, choice)
    gold = tuple(table.name for table in tables if table.name in _GOLD)
    sources = sources_of(manifest, benchmark, choice.data)
    return RunExport(folder, manifest, (*tables, score_table(figures)), figures, sources, gold)


_GOLD = ("gold", "episodes")

_Opened = tuple[tuple[ExportedTable, ...], tuple[Table, ...], Path | None]
"""Tables, figures, and the folder of the benchmark where there is one."""


def _judged(folder: Path, choice: Choice) -> _Opened:
    run = open_run(folder, choice.benchmark, choice.data)
    return judged_tables(run, gold=choice.gold), tuple(tables_of_run(run, assessed(run))), run.benchmark


def _classified(folder: Path, _: Choice) -> _Opened:
    found = read_scores(folder, Findings)
    patterns = {pattern.labels: pattern.count for pattern in found.patterns}
    source = counted_text(found.n, "session")
    shares = prevalence_table(tuple(found.categories), patterns, source=source, paper=CLASSIFIED, every=True)
    return classified_tables(folder), (of_evidence(shares, found.evidence),), None


def _observed(folder: Path, _: Choice) -> _Opened:
    found = read_scores(folder, Observed)
    figures = observed_table(found, source=counted_text(found.n, "session"), evidence=found.evidence)
    return observed_tables(folder), (figures,), None


def _repaired(folder: Path, _: Choice) -> _Opened:
    return repaired_tables(folder), tuple(repair_tables(scores_of([open_repair_run(folder)]))), None


def _reflected(folder: Path, _: Choice) -> _Opened:
    run = open_reflexive_run(folder)
    return reflected_tables(folder, run.work), tuple(reflection_tables([run])), None


def _experiment(folder: Path, choice: Choice) -> _Opened:
    arms = {one.arm for one in open_experiment(folder).sessions}
    figures = report_of_run(folder).tables if len(arms) > 1 else ()
    return experiment_tables(folder, gold=choice.gold), figures, None


def _curated(folder: Path, _: Choice) -> _Opened:
    return curated_tables(folder), (), None


_OPENED: dict[str, Callable[[Path, Choice], _Opened]] = {
    CLASSIFIED: _classified,
    JUDGED: _judged,
    CURATED: _curated,
    OBSERVED: _observed,
    REPAIRED: _repaired,
    REFLECTED: _reflected,
    EXPERIMENT: _experiment,
}
"""The command of a run → what opens it."""
