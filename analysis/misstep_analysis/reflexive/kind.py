"""Runs of `misstep reflect run`: the log of a reflexive loop and its items."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct, structs

from misstep_analysis.reflexive.runs import REFLECTED, ReflexiveRun, reflexive_run, remarks_of
from misstep_analysis.runs.kind import (
    GENERATED,
    Choice,
    Column,
    Content,
    ExportedTable,
    RunResults,
    Source,
    StarterNotebook,
    Values,
    json_text,
    table_of,
)
from misstep_analysis.tables import Table
from misstep_harness.journal.opened import OpenRun
from misstep_harness.reflexive.records import LOOP_RECORDS, LoopEvent


class _Item(Struct, frozen=True):
    """One item that the loop worked on, with its end where it has one."""

    id: str
    category: str
    end: str | None
    reason: str | None
    attempts: int
    seconds: float
    solved: bool


class ReflexiveRuns(RunResults[ReflexiveRun]):
    """Runs of the reflexive loop."""

    command = REFLECTED
    records = LOOP_RECORDS
    shown_alone: ClassVar[bool] = False
    notebook = StarterNotebook("events", ("reflect",), "skill", "The reflexive loop")

    def open(self, run: OpenRun, choice: Choice) -> ReflexiveRun:
        return reflexive_run(run)

    def page(self, runs: Sequence[ReflexiveRun], command: str) -> str:
        from misstep_analysis.reflexive.report import reflections_html

        return reflections_html(runs, command)

    def content(self, run: ReflexiveRun) -> Content:
        return Content(tables=_tables(run, unfinished=True))

    def tables(self, run: ReflexiveRun, *, gold: bool) -> tuple[ExportedTable, ...]:
        return _tables(run)

    def figures(self, run: ReflexiveRun) -> Iterable[Table]:
        from misstep_analysis.reflexive.report import reflection_tables

        return reflection_tables([run])

    def missing(self, run: ReflexiveRun) -> Iterable[str]:
        return remarks_of(run)

    def sources(self, run: ReflexiveRun, data: Path | None) -> tuple[Source, ...]:
        settings = run.manifest.settings
        if settings.get("evidence") != "real":
            return (GENERATED,)
        return (Source(str(settings.get("cases") or settings.get("skill", "the items of the loop"))),)


def _tables(run: ReflexiveRun, *, unfinished: bool = False) -> tuple[ExportedTable, ...]:
    ends = [(one.ending.end, one.ending.reason) if one.ending else (None, None) for one in run.work.items]
    items = [
        _Item(one.item.id, one.item.category, end, reason, len(one.attempts), one.seconds, one.solved)
        for one, (end, reason) in zip(run.work.items, ends, strict=True)
    ]
    file, events = LOOP_RECORDS.file, run.reader(LOOP_RECORDS, unfinished=unfinished)
    log = table_of("events", file, LoopEvent, events, key=("number",), without=("happened",))
    name = Column("event", str, "The name of what happened.")
    fields = Column("happened", dict[str, Any], "What happened, as JSON text.")

    def rows() -> Iterator[Values]:
        for row, record in zip(log.rows(), events(), strict=True):
            tag = record.happened.__struct_config__.tag
            yield row | {"event": tag, "happened": json_text(record.happened)}

    return (
        table_of("items", file, _Item, lambda: iter(items), key=("id",)),
        structs.replace(log, columns=(*log.columns, name, fields), rows=rows),
    )
