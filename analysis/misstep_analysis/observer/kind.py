"""Runs of `misstep observe`: what an observer would have seen and said."""

from collections.abc import Iterator, Sequence

from misstep_analysis.observer.observed import OBSERVED, ObservedSummary, observed_table
from misstep_analysis.runs.finished import read_scores
from misstep_analysis.runs.kind import Content, ExportedTable, RunResults, StarterNotebook, table_of
from misstep_analysis.sessions.sources_kind import observer_tables, session_table
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import OBSERVED_RECORDS


class ObservedRuns(RunResults[OpenRun]):
    """Runs of an observer."""

    command = OBSERVED
    records = OBSERVED_RECORDS
    notebook = StarterNotebook("invocations", ("observe",), "detector", "An observer")

    def page(self, runs: Sequence[OpenRun], command: str) -> str:
        from misstep_analysis.observer.page import page_of_observed

        return page_of_observed(runs[0])

    def content(self, run: OpenRun) -> Content:
        return Content(observed=list(run.read(OBSERVED_RECORDS)))

    def tables(self, run: OpenRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        file, records = OBSERVED_RECORDS.file, run.reader(OBSERVED_RECORDS)
        inside = ("invocations", "interventions")
        runs = table_of("runs", file, ObservedRun, records, key=("item",), without=inside)
        return (runs, *observer_tables(file, records), session_table(run))

    def figures(self, run: OpenRun) -> Iterator[Table]:
        scores = read_scores(run.folder, ObservedSummary)
        yield observed_table(scores, source=counted_text(scores.n, "session"), evidence=scores.evidence)

    def missing(self, run: OpenRun) -> Iterator[str]:
        scores = read_scores(run.folder, ObservedSummary)
        yield from (f"{counted_text(n, 'question')} without an answer: {error}" for error, n in scores.failed.items())
        if scores.unreadable:
            yield f"{counted_text(len(scores.unreadable), 'session')} could not be read"
