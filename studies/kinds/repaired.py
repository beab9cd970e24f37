"""Runs of `misstep repair run`: attempts at repair cases."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct, structs

from misstep.analysis.tables import Table
from misstep.harness.journal.records import ATTEMPT_RECORDS
from misstep.harness.lake.store import Store
from misstep.harness.records.repair_attempt import RepairAttempt
from misstep.harness.records.whole_counts import Counts
from misstep.harness.runs.shards.item_merge import finished_shards, merge_repairs
from misstep.harness.runs.shards.plan import Plan
from misstep.studies.kinds.columns import Column, ExportedTable, table_of
from misstep.studies.kinds.kind import (
    Choice,
    Content,
    Counting,
    Merged,
    RunResults,
    StarterNotebook,
    folder_of_shards,
    merged,
)
from misstep.studies.kinds.sessions import observed_in, observer_tables
from misstep.studies.kinds.sources import Source, source_at
from misstep.studies.repair_runs import REPAIRED, RepairRun, attempts_in, open_repair_run


class _Said(Struct, frozen=True):
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

    def open(self, folder: Path, choice: Choice) -> RepairRun:
        return open_repair_run(folder)

    def page(self, runs: Sequence[RepairRun], command: str) -> str:
        from misstep.studies.repair_report import repairs_html

        return repairs_html(runs, command=command)

    def content(self, run: RepairRun) -> Content:
        return Content(attempts=list(_attempts(run.folder)), observed=list(observed_in(_attempts(run.folder))))

    def tables(self, run: RepairRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        def signals() -> Iterator[_Said]:
            return (_Said(one.id, **structs.asdict(each)) for one in _attempts(run.folder) for each in one.signals)

        file, inside = ATTEMPT_RECORDS.file, ("signals", "trajectory", "observed")
        name = Column("id", str, "The name of the attempt in the run.")
        attempts = table_of(
            "attempts", file, RepairAttempt, lambda: _attempts(run.folder), key=("id",), without=inside, first=name
        )
        signal_table = table_of("signals", file, _Said, signals, key=("attempt", "validator"))
        is_observed = any(True for _ in observed_in(_attempts(run.folder)))
        return (
            attempts,
            signal_table,
            *(observer_tables(file, lambda: observed_in(_attempts(run.folder))) if is_observed else ()),
        )

    def figures(self, run: RepairRun) -> Iterable[Table]:
        from misstep.studies.repair_report import repair_tables, scores_of

        return repair_tables(scores_of([run]))

    def sources(self, run: RepairRun, data: Path | None) -> tuple[Source, ...]:
        return (source_at(Path(run.manifest.folder), data),) if run.manifest.folder else ()

    def counts(self, run: Path, how: Counting) -> Counts:
        from misstep.studies.passing import counted_attempts, open_attempts

        return counted_attempts(open_attempts([run], how.threshold))

    def merge(self, store: Store, plan: Plan, digest: str, benchmark: str) -> Merged:
        from misstep.studies.repair_report import repairs_text, scores_json, write_repair_scores

        out = folder_of_shards(store)
        merge_repairs(out, finished_shards(out, plan))
        scores = write_repair_scores(out, shlex.join(["misstep", "report", str(out)]))
        return merged(repairs_text([scores]), scores_json(out))


def _attempts(folder: Path) -> Iterator[RepairAttempt]:
    return iter({attempt.id: attempt for attempt in attempts_in(folder)}.values())
