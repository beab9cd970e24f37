"""Runs of `misstep classify`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.runs.finished import read_scores
from misstep_analysis.runs.kind import Content, ExportedTable, RunResults, StarterNotebook, table_of
from misstep_analysis.sessions.costs import cost_table
from misstep_analysis.sessions.documents import classified_page
from misstep_analysis.sessions.findings import Findings, left_out, shares
from misstep_analysis.sessions.prevalence import prevalence_table
from misstep_analysis.sessions.sources_kind import session_table
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Table, of_evidence
from misstep_analysis.tables.wording import counted_text
from misstep_harness.journal.classified import PLACED_RECORDS, PlacedVerdict
from misstep_harness.journal.inputs import FILE_RECORDS, FileState
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import FILES, VERDICT_RECORDS, VERDICTS


class ClassifiedRuns(RunResults[OpenRun]):
    """Runs of `misstep classify`."""

    command = "classify"
    records = VERDICT_RECORDS
    notebook = StarterNotebook("verdicts", ("classify",), "judge", "Sessions")
    by_category: ClassVar[bool] = True

    def page(self, runs: Sequence[OpenRun], command: str) -> str:
        return classified_page(runs[0])

    def content(self, run: OpenRun) -> Content:
        verdicts = list(run.read(VERDICT_RECORDS))
        return Content([BenchmarkItem(name) for name in dict.fromkeys(one.item for one in verdicts)], verdicts)

    def tables(self, run: OpenRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        verdicts = table_of(
            "verdicts",
            VERDICTS,
            PlacedVerdict,
            run.reader(PLACED_RECORDS),
            key=("item", "judge"),
            without=("by", "calls"),
        )
        files = table_of("files", FILES, FileState, run.reader(FILE_RECORDS), key=("file",))
        return (verdicts, session_table(run), *([files] if (run.folder / FILES).is_file() else []))

    def figures(self, run: OpenRun) -> Iterator[Table]:
        scores = read_scores(run.folder, Findings)
        patterns = {pattern.labels: pattern.count for pattern in scores.patterns}
        source = counted_text(scores.n, "session")
        shares = prevalence_table(tuple(scores.categories), patterns, source=source, paper=self.command, every=True)
        yield of_evidence(shares, scores.evidence)
        if scores.costs is not None:  # by project they would say folders of this machine
            yield of_evidence(cost_table(scores.costs, source=source), scores.evidence)

    def limited(self, run: OpenRun) -> Mapping[str, Estimate]:
        return shares(read_scores(run.folder, Findings))

    def missing(self, run: OpenRun) -> Iterator[str]:
        return left_out(read_scores(run.folder, Findings))
