"""Define a kind of run: what is made of the finished runs of one command; what a kind leaves is refused in a line."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.pages import Foot, page
from misstep_analysis.runs.kinds.columns import ExportedTable, table_of
from misstep_analysis.runs.kinds.sources import Source, sources_named
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Table
from misstep_harness.errors import UsageError
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import Records
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.verdict import Verdict

Run = TypeVar("Run", bound=OpenRun)


class Choice(Struct, frozen=True):
    """The parts of a run that are asked for."""

    benchmark: str = ""
    data: Path | None = None
    gold: bool = False


class Content(Struct, frozen=True):
    """The contents of a run for data frames; see `misstep_analysis.frames.RunFrames`."""

    items: Sequence[BenchmarkItem] = ()
    verdicts: Sequence[Verdict] = ()
    gold: Sequence[GoldLabel] = ()
    attempts: Sequence[RepairAttempt] = ()
    observed: Sequence[ObservedRun] = ()
    tables: Sequence[ExportedTable] = ()


class StarterNotebook(Struct, frozen=True):
    """The first cells of the starter notebook of a kind."""

    opening: str
    questions: Sequence[str]
    who: str
    title: str


class RunResults(Generic[Run]):
    """The products of the runs of one command."""

    command: ClassVar[str]
    records: ClassVar[Records[Any]]
    notebook: ClassVar[StarterNotebook] = StarterNotebook("tables", (), "", "A run")
    shown_alone: ClassVar[bool] = True
    """Whether a page shows one run only."""
    by_category: ClassVar[bool] = False
    """Whether an item has a verdict for each category, so that two runs are compared category by category."""

    def open(self, run: OpenRun, choice: Choice) -> Run:
        """Read what the kind needs of the records of a run; a kind that needs none leaves this."""
        return cast(Run, run)

    def page(self, runs: Sequence[Run], command: str) -> str:
        """Return the page of some runs; `command` makes it again. By default it has the figures of one run."""
        figures = list(self.figures(runs[0]))
        return page(f"misstep {self.command}", figures[0].finding, figures, foot=Foot(command))

    def content(self, run: Run) -> Content:
        """Return the contents of the run for data frames; by default its tables."""
        return Content(tables=self.tables(run, gold=True))

    def tables(self, run: Run, *, gold: bool) -> tuple[ExportedTable, ...]:
        """Return the tables of records for an export, the main one first; by default one of all records."""
        name, records = Path(self.records.file).stem, self.records
        return (table_of(name, records.file, records.type, run.reader(records), key=()),)

    def figures(self, run: Run) -> Iterable[Table]:
        """Return the tables of figures that a page shows, and an export has as `scores`."""
        return ()

    def limited(self, run: Run) -> Mapping[str, Estimate]:
        """Return the figures of a finished run that a limit can be set on, by name."""
        raise self._lacks("figure that a limit can be set on")

    def missing(self, run: Run) -> Iterable[str]:
        """Return a sentence on each thing that has no answer or could not be read."""
        return ()

    def sources(self, run: Run, data: Path | None) -> tuple[Source, ...]:
        """Return the sources of the run's data; by default those that its command line names."""
        return sources_named(run.manifest, data)

    def questions(self, run: OpenRun, records: Sequence[Any]) -> Sequence[str]:
        """Return the questions of the starter notebook, as its file of cells names them."""
        return self.notebook.questions

    def has(self, method: str) -> bool:
        """Say whether the kind overrides a method."""
        return getattr(type(self), method) is not getattr(RunResults, method)

    def _lacks(self, thing: str) -> UsageError:
        return UsageError(f"a run of `misstep {self.command}` has no {thing}", "Name another run.")
