"""Runs of `misstep repair run`: attempts at repair cases."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec import Struct, structs

from misstep_analysis.repair.recorded_runs import REPAIRED, RepairRun, repair_run
from misstep_analysis.runs.kind import (
    Choice,
    Column,
    Content,
    ExportedTable,
    RunResults,
    Source,
    StarterNotebook,
    source_at,
    table_of,
)
from misstep_analysis.sessions.sources_kind import observed_in, observer_tables
from misstep_analysis.tables import Table
from misstep_harness.journal.opened import OpenRun
from misstep_harness.repair.records import ATTEMPT_RECORDS, RepairAttempt


class _Answer(Struct, frozen=True):
    """The answer of one validator about the patch of an attempt."""

    attempt: str
    validator: str
    passed: bool | None
    text: str
    score: float | None


class RepairRuns(RunResults[RepairRun]):
    """Runs of repairs."""

    command = REPAIRED
    records = ATTEMPT_RECORDS
    shown_alone: ClassVar[bool] = False
    notebook = StarterNotebook("attempts", ("repair",), "policy", "Repairs")

    def open(self, run: OpenRun, choice: Choice) -> RepairRun:
        return repair_run(run)

    def page(self, runs: Sequence[RepairRun], command: str) -> str:
        from misstep_analysis.repair.report import repairs_html

        return repairs_html(runs, command=command)

    def content(self, run: RepairRun) -> Content:
        return Content(attempts=list(_attempts(run)), observed=list(observed_in(_attempts(run))))

    def tables(self, run: RepairRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        def signals() -> Iterator[_Answer]:
            return (_Answer(one.id, **structs.asdict(each)) for one in _attempts(run) for each in one.signals)

        file, inside = ATTEMPT_RECORDS.file, ("signals", "trajectory", "observed")
        name = Column("id", str, "The name of the attempt in the run.")
        each = partial(_attempts, run)
        attempts = table_of("attempts", file, RepairAttempt, each, key=("id",), without=inside, first=name)
        signal_table = table_of("signals", file, _Answer, signals, key=("attempt", "validator"))
        is_observed = any(True for _ in observed_in(each()))
        return (attempts, signal_table, *(observer_tables(file, lambda: observed_in(each())) if is_observed else ()))

    def figures(self, run: RepairRun) -> Iterable[Table]:
        from misstep_analysis.repair.report import repair_tables, scores_of

        return repair_tables(scores_of([run]))

    def missing(self, run: RepairRun) -> Iterator[str]:
        from misstep_analysis.repair.report import scores_of

        (scores,) = scores_of([run])
        counts = {"case that did not hold": scores.not_affirmed, "case with a flaky oracle": scores.flaky}
        counts["attempt that broke before its patch was scored"] = scores.unscored
        yield from (f"{n:,} × {what}" for what, n in counts.items() if n)

    def sources(self, run: RepairRun, data: Path | None) -> tuple[Source, ...]:
        return (source_at(Path(run.manifest.folder), data),) if run.manifest.folder else ()


def _attempts(run: RepairRun) -> Iterator[RepairAttempt]:
    return iter({attempt.id: attempt for attempt in run.read(ATTEMPT_RECORDS)}.values())
