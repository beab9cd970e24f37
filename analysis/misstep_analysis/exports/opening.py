"""Open a finished run for its export: its tables, its figures and what it was made on.

All runs have `scores`, the figures of the run's own page. Labels that a judge must not see are in no table unless they
are asked for, and then in one of their own: `gold`, or `episodes` of an experiment.
"""

from pathlib import Path

from misstep_analysis.runs.finished import require_finished
from misstep_analysis.runs.kind import Choice, ExportedTable, Source, kind_in, table_of
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import FigureRow, figures_of
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import SCORES

_GOLD = ("gold", "episodes")


class RunExport(OpenRun, frozen=True):
    """A finished run as an export has it; `gold` names the tables with labels that a judge must not see."""

    tables: tuple[ExportedTable, ...]
    figures: tuple[Table, ...]
    sources: tuple[Source, ...]
    gold: tuple[str, ...] = ()

    def table(self, name: str) -> ExportedTable | None:
        """Return one of its tables; `None` where it has none of that name."""
        return next((table for table in self.tables if table.name == name), None)


def open_export(folder: Path, choice: Choice) -> RunExport:
    """Open the finished run in a folder for its export."""
    kind, opened = kind_in(folder)
    require_finished(opened)
    run = kind.open(opened, choice)
    tables, figures = kind.tables(run, gold=choice.gold), tuple(kind.figures(run))
    gold = tuple(table.name for table in tables if table.name in _GOLD)
    key = ("table", "group", "quantity")
    scores = table_of("scores", SCORES, FigureRow, lambda: figures_of(figures), key=key)
    return RunExport(folder, opened.manifest, (*tables, scores), figures, kind.sources(run, choice.data), gold)
