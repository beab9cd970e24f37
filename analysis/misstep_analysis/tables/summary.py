"""Tables in short: counts of compared figures, a figure in a few words, the inputs of a figure, and frames in sight.

A frame whose index and columns are named as the fields of a row (`group`, `value`) is checked against the tables that
its notebook shows.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from misstep_analysis.tables import WORST_FIRST, Evidence, Row, Status, Table
from misstep_analysis.tables.text import aligned
from misstep_analysis.tables.wording import count_text, interval_text, value_text


class InputFigure(Struct, frozen=True):
    """One row of a table, with its inputs."""

    paper: str
    table: str
    row: int
    group: str
    quantity: str
    evidence: str
    source: str
    inputs: tuple[str, ...]
    seed: int
    function: str


def figures_of(tables: Iterable[Table], papers: Collection[str], seed: int) -> tuple[InputFigure, ...]:
    """Return every row of every table with the names of its inputs; `papers` have available figures."""
    figures = []
    for table in tables:
        for place, row in enumerate(table.rows):
            words = row.group, row.quantity, row.evidence, row.source
            inputs = inputs_behind(row, table, papers)
            figures.append(InputFigure(table.paper, table.name, place, *words, inputs, seed, table.made_by))
    return tuple(figures)


def inputs_behind(row: Row, table: Table, papers: Collection[str]) -> tuple[str, ...]:
    """Return the names of a row's inputs; `papers` are those with available printed figures."""
    return (
        *(f"published/{name}" for name in papers_behind(row, table, papers)),
        *(f"datasets/{name}" for name in data_sets_behind(row, table)),
        *(f"generated/{name}" for name in [generator_behind(row, table)] if name),
    )


def papers_behind(row: Row, table: Table, papers: Collection[str]) -> tuple[str, ...]:
    """Return the papers of a row's printed figures: of its figures, else its own, else its table's."""
    if row.evidence == "real" or row.datasets:
        return ()
    named = tuple(dict.fromkeys(figure.partition("/")[0] for figure in row.figures)) or row.papers or (table.paper,)
    return tuple(name for name in named if name in papers)


def data_sets_behind(row: Row, table: Table) -> tuple[str, ...]:
    """Return the data sets that a row is measured on: its own, else all of its table's."""
    return row.datasets or (tuple(dict.fromkeys(table.datasets)) if row.evidence == "real" else ())


def generator_behind(row: Row, table: Table) -> str:
    """Return the function that generated a row's cases, by module and name; empty if there is none."""
    return (table.generator or table.made_by) if row.evidence == "generated" else ""


_FIGURES = 4


class TableInBrief(Struct, frozen=True):
    """A table in brief: `undefined` are its figures without a value, each with the reason."""

    finding: str
    evidence: Evidence | None
    figures: tuple[Row, ...]
    undefined: tuple[str, ...]


def in_brief(table: Table) -> TableInBrief:
    """Return the finding of a table with a few figures: those with an interval, else those with a value."""
    sure = [row for row in table.rows if row.low is not None or row.high is not None]
    known = sure or [row for row in table.rows if row.value is not None]
    undefined = (f"{_name(row)}: {row.reason}" for row in table.rows if row.value is None and row.reason)
    evidence = next((row.evidence for row in table.rows), None)
    return TableInBrief(table.finding, evidence, tuple(known[:_FIGURES]), tuple(undefined))


def figure_lines(rows: Sequence[Row]) -> list[str]:
    """Return figures as aligned lines: name, value, interval, n."""
    return aligned([(f"  {_name(row)}", value_text(row), _interval(row), count_text(row.n)) for row in rows])


def _name(row: Row) -> str:
    return ": ".join(filter(None, (row.group, row.quantity)))


def _interval(row: Row) -> str:
    interval = interval_text(row)
    return f"[{interval}]" if interval else ""


FRAME_TYPE = "application/vnd.misstep.frame+json"
"""The media type of a data frame's lines in a notebook's output."""

_FIGURES_of_in_sight = ("value", "low", "high", "n")


def frame_bundle(frame: Any) -> dict[str, Any]:
    """Return the lines of a frame of figures as an output of their own; nothing of any other frame."""
    names, figures = list(frame.index.names), [name for name in _FIGURES_of_in_sight if name in frame.columns]
    if not figures or not set(names) <= set(Row.__struct_fields__):
        return {}
    lines = frame[figures].reset_index().to_dict("records")
    return {FRAME_TYPE: [{str(name): _plain(value) for name, value in line.items()} for line in lines]}


def lines_without_a_row(outputs: Iterable[Mapping[str, Any]], tables: Iterable[Table]) -> list[dict[str, Any]]:
    """Return the lines of all frames of figures that no computed row of a table has."""
    rows = [row for table in tables for row in table.rows if row.evidence != "published"]
    lines = (line for output in outputs for line in output.get("data", {}).get(FRAME_TYPE, ()))
    return [line for line in lines if not any(_is_of(line, row) for row in rows)]


def _plain(value: Any) -> str | float | None:
    if isinstance(value, str):
        return value
    return None if value is None or math.isnan(value) else float(value)


def _is_of(line: Mapping[str, Any], row: Row) -> bool:
    return all(
        _is_shown(value, getattr(row, name), name) if name in _FIGURES_of_in_sight else value == getattr(row, name)
        for name, value in line.items()
    )


def _is_shown(value: float | None, shown: float | str | None, name: str) -> bool:
    """Return whether a row shows a number; where the frame has none, the row may, but for the value itself."""
    is_number = isinstance(shown, int | float)
    if value is None:
        return name != "value" or not is_number
    return is_number and math.isclose(value, float(shown or 0), rel_tol=1e-9)


class _Counted(Struct, frozen=True):
    """The printed figures of some rows by status, and how many figures the rows show.

    A printed figure counts once, by its worst status; `repeated` says whether any is in several rows.
    """

    statuses: tuple[Status, ...]
    figures: int
    repeated: bool


def counted(rows: Sequence[Row]) -> _Counted:
    """Return the figures of some rows; a row that names no printed figure is one by itself."""
    alone = [row.status for row in rows if row.status is not None and not row.figures]
    # A printed figure and its recomputed one are one figure each in whatever table.
    figures = len({(name, row.evidence) for row in rows for name in row.figures}) + sum(not row.figures for row in rows)
    statuses = (*_worst(rows).values(), *alone)
    repeated = figures < len(rows) or len(statuses) < sum(row.status is not None for row in rows)
    return _Counted(statuses, figures, repeated)


def counted_by_paper(rows: Sequence[Row]) -> dict[str, Counter[Status]]:
    """Return slug of a paper → how many of its printed figures have which status, each counted as in `counted`.

    A rate that is stated elsewhere, which no paper prints, is under an empty slug.
    """
    papers: dict[str, Counter[Status]] = {}
    for name, status in _worst(rows).items():
        papers.setdefault(name.partition("/")[0], Counter())[status] += 1
    for row in rows:
        if row.status is not None and not row.figures:
            papers.setdefault("", Counter())[row.status] += 1
    return papers


def _worst(rows: Iterable[Row]) -> dict[str, Status]:
    worst: dict[str, Status] = {}
    for row in rows:
        if row.status is not None:
            for name in row.figures:
                worst[name] = min(worst.get(name, row.status), row.status, key=WORST_FIRST.index)
    return worst


def measured_rows(table: Table, dataset: str) -> list[Row]:
    """Return the figures of a table that are measured on one data set alone, those with an interval first."""
    rows = [
        row
        for row in table.rows
        if row.evidence == "real" and isinstance(row.value, int | float) and data_sets_behind(row, table) == (dataset,)
    ]
    return sorted(rows, key=lambda row: row.low is None)


def row_text(row: Row) -> str:
    """Return a figure in a few words; a heading that only names the data set it is measured on is left out."""
    known = [interval_text(row), f"n {count_text(row.n)}" if row.n is not None else ""]
    beside = ", ".join(part for part in known if part)
    heading = "" if row.group in row.datasets else row.group
    named = ", ".join(part for part in (heading, row.quantity) if part)
    return f"{named} {value_text(row)}{f' ({beside})' if beside else ''}"
