"""The kinds of runs: what reports, frames, exports and notebooks make of the runs of each command.

`KINDS` is the registry, command → its kind; an entry point in the group `misstep.runs` adds one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Generic, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec import inspect as types

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.pages import Foot, page
from misstep_analysis.pages.form_text import docstring_sections, meanings
from misstep_analysis.runs.finished import named_inputs
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Table
from misstep_harness.catalogue import data_sets, located
from misstep_harness.errors import UsageError
from misstep_harness.forms import toml_form
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.opened import OpenRun, manifest_of
from misstep_harness.journal.records import Manifest, Records, encode
from misstep_harness.path_names import is_address
from misstep_harness.registry import Registry
from misstep_harness.repair.records import RepairAttempt
from misstep_harness.verdict import Verdict

Values = dict[str, Any]
"""A row: column → value; `None` if there is none."""


Rows = Callable[[], Iterator[Any]]


class Column(Struct, frozen=True):
    """A column: its name, the Python type of its values, and its meaning in a sentence."""

    name: str
    type: Any
    meaning: str = ""


class ExportedTable(Struct, frozen=True):
    """A table of an export."""

    name: str
    about: str
    file: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Values]]


def columns_of(kind: type[Struct], without: Sequence[str] = ()) -> tuple[Column, ...]:
    """Return a column for each field of a record, but for some."""
    texts = meanings(kind)
    fields = msgspec.structs.fields(kind)
    return tuple(Column(one.name, one.type, texts.get(one.name, "")) for one in fields if one.name not in without)


def table_of(
    name: str,
    file: str,
    kind: type[Struct],
    records: Callable[[], Iterable[Any]],
    *,
    key: tuple[str, ...],
    without: Sequence[str] = (),
    first: Column | None = None,
) -> ExportedTable:
    """Return the table of records of one kind: a row a record, a column a field."""
    columns = (*([first] if first else []), *columns_of(kind, without))

    plain = [(column.name, json_text if is_json(column.type) else _plain) for column in columns]

    def rows() -> Iterator[Values]:
        for record in records():
            yield {name: convert(getattr(record, name)) for name, convert in plain}

    about = " ".join(docstring_sections(kind)[""].split("\n\n")[0].split())
    return ExportedTable(name, about, file, key, columns, rows)


_PLAIN = (str, int, float, NoneType)


def _plain(value: Any) -> Any:
    return value if isinstance(value, _PLAIN) else msgspec.to_builtins(value)


def json_text(value: Any) -> str | None:
    """Return a value as JSON text, which a table holds of objects of any keys."""
    return None if value is None else encode(value).decode()


def is_json(kind: Any) -> bool:
    """Return whether a column of a type has JSON text."""
    return isinstance(known(types.type_info(kind)), types.DictType | types.AnyType | types.UnionType)


def known(kind: types.Type) -> types.Type:
    """Return the type of the values that there are: a union with null without its null."""
    if not isinstance(kind, types.UnionType):
        return kind
    some = [one for one in kind.types if not isinstance(one, types.NoneType)]
    return some[0] if len(some) == 1 else kind


def type_name(kind: Any) -> str:
    """Return a column's type in a word or two, as Parquet and `datasets` name it."""
    return _name(types.type_info(kind))


def _name(kind: types.Type) -> str:
    kind = known(kind)
    if isinstance(kind, types.VarTupleType | types.ListType):
        return f"list of {_name(kind.item_type)}"
    return _NAMES.get(type(kind), "string")


_NAMES: dict[type[types.Type], str] = {
    types.BoolType: "bool",
    types.IntType: "int64",
    types.FloatType: "float64",
    types.StructType: "struct",
}


BENCHMARK = "benchmark.toml"

UNKNOWN, OTHER = "unknown", "other"
"""The Hugging Face hub's names for a licence that is not known, and for one that it has no name for."""

OWN = "as Misstep's own"
_HUB_NAMES = {
    "Apache-2.0": "apache-2.0",
    "BSD-2-Clause": "bsd-2-clause",
    "BSD-3-Clause": "bsd-3-clause",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "CC-BY-NC-4.0": "cc-by-nc-4.0",
    "CC0-1.0": "cc0-1.0",
    "GPL-3.0": "gpl-3.0",
    "MIT": "mit",
    OWN: "mit",
}
"""A licence as benchmarks and the registry of data sets write it → its name on the hub
(https://huggingface.co/docs/hub/repositories-licenses)."""


_FORM = "See `misstep help benchmark-file`."


class Source(Struct, frozen=True):
    """One thing that a run was made on: its name, its licence as it is written there, and its origin."""

    name: str
    licence: str = ""
    origin: tuple[str, ...] = ()


class _Described(Struct, frozen=True):
    """The licence that a folder's `benchmark.toml` states."""

    name: str = ""
    licence: str = ""
    origin: list[str] | str = []


GENERATED = Source("cases generated by Misstep", OWN)


def sources_named(manifest: Manifest, data: Path | None = None) -> tuple[Source, ...]:
    """Return the files, folders and addresses that a command line named, each once."""
    return tuple(
        dict.fromkeys(
            Source(name) if is_address(name) else source_at(Path(name), data) for name in named_inputs(manifest)
        )
    )


def source_at(place: Path, data: Path | None) -> Source:
    """Return the source at a place: a public set, or that of the nearest description."""
    place = place.resolve()
    for name in sorted(data_sets().keys() & set(place.parts)):
        folder = located(name, data)
        if folder is not None and place.is_relative_to(folder.resolve()):
            return _public(name)
    for folder in (place, place.parent):
        if (folder / BENCHMARK).is_file():
            described = toml_form((folder / BENCHMARK).read_bytes(), _Described, folder / BENCHMARK, _FORM)
            if not described.licence and described.name in data_sets():
                return _public(described.name)
            origin = (described.origin,) if isinstance(described.origin, str) else tuple(described.origin)
            return Source(described.name or folder.name, described.licence, tuple(filter(None, origin)))
    return Source(place.name)


def _public(name: str) -> Source:
    described = data_sets()[name]
    places = tuple(f"{one.repository} at {one.commit}" for one in described.sources.values())
    return Source(name, described.licence, places)


def hub_licence(sources: Sequence[Source]) -> str:
    """Return the hub's name of the licence of all sources: `other` if it has none, `unknown` if one is not known."""
    licences = {source.licence for source in sources}
    if not licences or "" in licences:
        return UNKNOWN
    names = {_HUB_NAMES.get(licence, OTHER) for licence in licences}
    return names.pop() if len(names) == 1 else OTHER


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


KINDS: Registry[type[RunResults[Any]]] = Registry(
    "misstep.runs",
    {
        "classify": "misstep_analysis.sessions.kind:ClassifiedRuns",
        "judge run": "misstep_analysis.judging.kind:JudgedRuns",
        "triage --curate": "misstep_analysis.triage.curated_kind:CuratedRuns",
        "observe": "misstep_analysis.observer.kind:ObservedRuns",
        "repair run": "misstep_analysis.repair.kind:RepairRuns",
        "reflect run": "misstep_analysis.reflexive.kind:ReflexiveRuns",
        "experiment run": "misstep_analysis.observer.experiments.kind:ExperimentRuns",
    },
)


def kind_of(manifest: Manifest, folder: Path | str) -> RunResults[Any]:
    """Return the kind of a run; a run of a command that no kind knows is a `UsageError`."""
    if manifest.command not in KINDS.names():
        known = ", ".join(f"`{name}`" for name in KINDS.names())
        raise UsageError(f"{folder} is a run of `misstep {manifest.command}`", f"Name a run of one of {known}.")
    return KINDS.load(manifest.command)()


def kind_in(folder: Path, advice: str = "Name the folder of a run.") -> tuple[RunResults[Any], OpenRun]:
    """Open the run in a folder, as far as runs of all kinds are opened alike, and return it with its kind."""
    run = OpenRun(folder, manifest_of(folder, advice))
    return kind_of(run.manifest, folder), run
