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

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from misstep.analysis.tables import Table
from misstep.analysis.tables.figures import FigureRow, figures_of
from misstep.harness.errors import UsageError
from misstep.harness.journal.records import SCORES, Manifest
from misstep.studies.finished_runs import command_line
from misstep.studies.kinds import kind_in
from misstep.studies.kinds.columns import ExportedTable, table_of
from misstep.studies.kinds.kind import Choice
from misstep.studies.kinds.sources import Source

_GOLD = ("gold", "episodes")


class RunExport(Struct, frozen=True):
    """A finished run as an export has it.

    - `figures`: The tables of its figures, the main one first; empty if there is nothing to compute.
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
        """Return the name of the run's folder."""
        return self.folder.resolve().name

    def table(self, name: str) -> ExportedTable | None:
        """Return one of its tables; `None` where it has none of that name."""
        return next((table for table in self.tables if table.name == name), None)


def open_export(folder: Path, choice: Choice) -> RunExport:
    """Open the finished run in a folder for its export."""
    kind, manifest = kind_in(folder)
    if not manifest.finished:
        raise UsageError(f"the run {folder} is not finished", f"Continue it: {command_line(manifest)}")
    run = kind.open(folder, choice)
    tables, figures = kind.tables(run, gold=choice.gold), tuple(kind.figures(run))
    gold = tuple(table.name for table in tables if table.name in _GOLD)
    return RunExport(folder, manifest, (*tables, _score_table(figures)), figures, kind.sources(run, choice.data), gold)


def _score_table(figures: Sequence[Table]) -> ExportedTable:
    """Return the figures of a run, a row each, as its own page has them."""
    return table_of("scores", SCORES, FigureRow, lambda: figures_of(figures), key=("table", "group", "quantity"))
