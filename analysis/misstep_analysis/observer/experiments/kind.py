"""Runs of `misstep experiment run`: live sessions with and without guidance."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.observer.experiments.report import EXPERIMENT, Experiment, experiment_of, report_of_run
from misstep_analysis.runs.kind import (
    GENERATED,
    Choice,
    Content,
    ExportedTable,
    RunResults,
    Source,
    StarterNotebook,
    table_of,
)
from misstep_analysis.sessions.sources_kind import observed_in, observer_tables
from misstep_analysis.tables import Table
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import LIVE_RECORDS
from misstep_harness.live_session import LiveSession


class _Planted(Struct, frozen=True):
    """One planted misbehaviour of a session as it took place."""

    item: str
    category: str
    onset: int
    last: int
    ended: str
    would_last: int | None
    relapse: bool


class ExperimentRuns(RunResults[Experiment]):
    """Runs of experiments."""

    command = EXPERIMENT
    records = LIVE_RECORDS
    notebook = StarterNotebook("sessions", ("experiment",), "model", "An experiment")

    def open(self, run: OpenRun, choice: Choice) -> Experiment:
        return experiment_of(run)

    def page(self, runs: Sequence[Experiment], command: str) -> str:
        return report_of_run(runs[0]).html(command, runs[0].source)

    def content(self, run: Experiment) -> Content:
        tables = _tables(run, gold=True, unfinished=True)
        return Content(observed=list(observed_in(iter(run.sessions))), tables=(tables[0], tables[-1]))

    def tables(self, run: Experiment, *, gold: bool) -> tuple[ExportedTable, ...]:
        return _tables(run, gold=gold)

    def figures(self, run: Experiment) -> Iterable[Table]:
        return report_of_run(run).tables if len({one.arm for one in run.sessions}) > 1 else ()

    def sources(self, run: Experiment, data: Path | None) -> tuple[Source, ...]:
        return (GENERATED,)


def _tables(run: Experiment, *, gold: bool, unfinished: bool = False) -> tuple[ExportedTable, ...]:
    file, sessions = LIVE_RECORDS.file, run.reader(LIVE_RECORDS, unfinished=unfinished)

    def planted() -> Iterator[_Planted]:
        return (_Planted(one.item, **structs.asdict(each)) for one in sessions() for each in one.episodes)

    inside = ("episodes", "observed", "trajectory")
    own = table_of("sessions", file, LiveSession, sessions, key=("item",), without=inside)
    truth = table_of("episodes", file, _Planted, planted, key=("item", "onset"))
    return (own, *observer_tables(file, lambda: observed_in(sessions())), *([truth] if gold else []))
