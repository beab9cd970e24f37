"""Runs of `misstep judge run` and `misstep triage`: verdicts of a judge on the items of a benchmark."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from misstep_analysis.gold import GoldLabel, item_ids, read_gold
from misstep_analysis.judging.judged_runs import JUDGED, JudgedRun, judged_run
from misstep_analysis.judging.sample import majority
from misstep_analysis.runs.kind import (
    Choice,
    Content,
    ExportedTable,
    RunResults,
    Source,
    StarterNotebook,
    source_at,
    table_of,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import VERDICT_RECORDS, VERDICTS
from misstep_harness.triage.records import TriageVerdict
from misstep_harness.verdict import PairVerdict, Verdict


class JudgedRuns(RunResults[JudgedRun]):
    """Runs of judges."""

    command = JUDGED
    records = VERDICT_RECORDS
    shown_alone: ClassVar[bool] = False
    notebook = StarterNotebook("verdicts", ("judge",), "judge", "Sessions")

    def open(self, run: OpenRun, choice: Choice) -> JudgedRun:
        return judged_run(run, choice.benchmark, choice.data)

    def page(self, runs: Sequence[JudgedRun], command: str) -> str:
        from misstep_analysis.judging.report.report import report_html

        return report_html(runs, command=command)

    def content(self, run: JudgedRun) -> Content:
        return Content(run.items, run.verdicts, run.gold)

    def tables(self, run: JudgedRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        kind = TriageVerdict if run.is_triage else PairVerdict if run.question.kind == "pair" else Verdict
        verdicts = table_of("verdicts", VERDICTS, kind, lambda: iter(run.verdicts), key=("item",))
        labels = table_of("gold", "gold.csv", GoldLabel, lambda: iter(run.gold), key=("item", "rater"))
        return (verdicts, labels) if gold else (verdicts,)

    def figures(self, run: JudgedRun) -> Iterable[Table]:
        from misstep_analysis.judging.report.assessment import assessed
        from misstep_analysis.judging.report.report import tables_of_run

        return tables_of_run(run, assessed(run))

    def limited(self, run: JudgedRun) -> Mapping[str, Estimate]:
        from misstep_analysis.judging.report.scored import kept_figures, scored

        scored(run.folder, run.benchmark)
        return kept_figures(run.folder)

    def missing(self, run: JudgedRun) -> Iterator[str]:
        ends = Counter(one.status for one in run.verdicts if one.label is None)
        yield from (f"{counted_text(n, 'item')} {status}: no label" for status, n in ends.items())
        labelled = majority(run.gold).label_of
        if without := sum(one.item not in labelled for one in run.verdicts):
            yield f"{counted_text(without, 'item')} without a gold label: no score counts them"

    def sources(self, run: JudgedRun, data: Path | None) -> tuple[Source, ...]:
        return (source_at(run.benchmark, data),)

    def questions(self, run: OpenRun, records: Sequence[Verdict]) -> Sequence[str]:
        benchmark, items = Path(run.manifest.folder), {verdict.item for verdict in records}
        if (benchmark / "items.jsonl").exists() and not any(
            label.item in items for label in read_gold(benchmark, item_ids(benchmark))
        ):
            return ("unlabelled",)
        scores = [verdict.score for verdict in records if verdict.score is not None]
        are_shares = bool(scores) and all(0 <= score <= 1 for score in scores)
        return ("judge", *(["scores"] if are_shares else []), "wrong")
