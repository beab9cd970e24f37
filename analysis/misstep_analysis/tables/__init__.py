"""Tables: rows of figures, each with its evidence, its n and its interval.

A table is computed in one place (a function of `analysis.papers` or of a command): notebook, page, CSV and JSON are
renderings of the same rows.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, ParamSpec

from msgspec import Struct, structs

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import Significance

if TYPE_CHECKING:
    from pandas import DataFrame

Evidence = Literal["published", "recomputed", "generated", "real"]
Status = Literal["reproduced", "differs", "impossible", "underdetermined"]
WORST_FIRST: tuple[Status, ...] = ("impossible", "differs", "underdetermined", "reproduced")
FAILED = WORST_FIRST[:2]

STATUS_WORDS: dict[Status, tuple[str, str]] = {
    "impossible": ("is impossible", "are impossible"),
    "differs": ("differs", "differ"),
    "underdetermined": ("is underdetermined", "are underdetermined"),
    "reproduced": ("is reproduced", "are reproduced"),
}
"""Status → the words for one figure or check, and for several."""

Unit = Literal["share", "count", "coefficient", "p", "difference", "usd", "seconds", "number", "text"]


class Row(Struct, frozen=True, omit_defaults=True):
    """One figure.

    `quantity` names it within the table (rows of one quantity are shown side by side); `group` is the heading above it;
    `printed` is the string in the paper; `source` is the table and row of the paper, or
    the data set with its version, or the seed and n of generated cases; `status` compares published with
    recomputed and `reason` is its one sentence, or says why a value is missing; `figures` are the printed figures that
    it is or is compared with, as paper/id of `data/published`; `example` is the run and the step, as
    data set/id#step, that it is an example of; `datasets` are the data sets that it is measured on, and `papers`
    those whose printed figures it is made of, if these are not its table's.
    """

    quantity: str
    value: float | int | str | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    evidence: Evidence = "real"
    source: str = ""
    status: Status | None = None
    reason: str = ""
    unit: Unit = "number"
    printed: str | None = None
    method: str = ""
    group: str = ""
    figures: tuple[str, ...] = ()
    example: str = ""
    datasets: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()


class Table(Struct, frozen=True):
    """Rows under one finding.

    `name` is a slug, unique within its `paper` (the folder it is exported to); `finding` is the first sentence, with
    its interval; `notes` are methods and warnings; `datasets` are names in
    `data/datasets.toml`. `made_by` is the function that made it, by module and name (`made_by_this` notes it), and
    `generator` the one that made its generated cases, if that is another. `drawn` are the rows of its figure if these
    are not all: they are in no file of the table.
    """

    name: str
    paper: str
    title: str
    finding: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    made_by: str = ""
    generator: str = ""
    drawn: tuple[Row, ...] = ()

    def to_frame(self) -> "DataFrame":
        """Return the rows as a pandas frame, a column a field of `Row`."""
        import pandas as pd  # takes a second

        return pd.DataFrame([structs.asdict(row) for row in self.rows], columns=list(Row.__struct_fields__))


class TableHead(Struct, frozen=True):
    """The fields of `Table` that do not depend on its figures."""

    name: str
    paper: str
    title: str
    notes: tuple[str, ...] = ()
    generator: str = ""

    def table(
        self,
        finding: str,
        rows: Iterable[Row],
        notes: Iterable[str] = (),
        *,
        title: str = "",
        datasets: Iterable[str] = (),
        drawn: Iterable[Row] = (),
    ) -> Table:
        """Return the table of some rows: `notes` come after those of the head, and data sets are named once."""
        texts = self.name, self.paper, title or self.title, finding
        named, every_note = tuple(dict.fromkeys(datasets)), (*self.notes, *notes)
        return Table(*texts, tuple(rows), every_note, named, generator=self.generator, drawn=tuple(drawn))


def estimate_row(
    quantity: str,
    estimate: Estimate,
    unit: Unit,
    group: str = "",
    source: str = "",
    evidence: Evidence = "real",
    papers: tuple[str, ...] = (),
) -> Row:
    """Return an estimate as a row; an undefined one has a reason."""
    value, low, high, n, method, reason = structs.astuple(estimate)
    return Row(quantity, value, low, high, n, evidence, source, None, reason, unit, None, method, group, papers=papers)


Figure = Estimate | Significance | float | str | None


def rows_of(
    figures: Iterable[tuple[str, Figure, Unit]],
    group: str = "",
    source: str = "",
    evidence: Evidence = "real",
    *,
    n: int | None = None,
) -> list[Row]:
    """Return a row for each quantity, figure and unit; `n` is that of plain values."""
    rows = []
    for quantity, figure, unit in figures:
        if isinstance(figure, Significance):
            figure = Estimate(figure.p_value, n=figure.n, method=figure.test, reason=figure.reason)
        if isinstance(figure, Estimate):
            rows.append(estimate_row(quantity, figure, unit, group, source, evidence))
        else:
            rows.append(Row(quantity, figure, n=n, evidence=evidence, source=source, unit=unit, group=group))
    return rows


Fields = tuple[tuple[str, str, Unit], ...]
"""Declared rows: the name of each, the field of a result that it shows (`a.b` of a field of it), and its unit."""


def rows_from(
    result: object, fields: Fields, group: str = "", source: str = "", evidence: Evidence = "real"
) -> list[Row]:
    """Return a row for each declared field of a result, as `rows_of`."""
    figures = ((quantity, attrgetter(field)(result), unit) for quantity, field, unit in fields)
    return rows_of(figures, group, source, evidence)


def rows_in(
    unit: Unit,
    figures: Mapping[str, Figure],
    group: str = "",
    source: str = "",
    evidence: Evidence = "real",
    *,
    n: int | None = None,
) -> list[Row]:
    """Return a row for each quantity, all in one unit, as `rows_of`."""
    return rows_of(((quantity, figure, unit) for quantity, figure in figures.items()), group, source, evidence, n=n)


def measured_on(dataset: str, rows: Iterable[Row]) -> list[Row]:
    """Return rows of a table of several data sets that are measured on one of them."""
    return [structs.replace(row, datasets=(dataset,)) for row in rows]


def of_evidence(table: "Table", evidence: Evidence) -> "Table":
    """Return a table whose measured figures are of another kind of evidence, such as those of generated cases."""
    rows, drawn = (
        tuple(structs.replace(row, evidence=evidence) if row.evidence == "real" else row for row in part)
        for part in (table.rows, table.drawn)
    )
    if rows or evidence == "real":
        return structs.replace(table, rows=rows, drawn=drawn)
    return structs.replace(table, notes=(*table.notes, f"The items are {evidence}."))


Arguments = ParamSpec("Arguments")


def made_by_this(function: Callable[Arguments, Table]) -> Callable[Arguments, Table]:
    """Note on the table that a function returns that this function made it.

    If several such functions call each other, the outermost one is noted.
    """

    @wraps(function)
    def making(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Table:
        table = function(*args, **kwargs)
        return structs.replace(table, made_by=f"{function.__module__}.{function.__qualname__}")

    return making
