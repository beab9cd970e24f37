"""The inputs of a table's rows: the records passed with them, never guessed from their words."""

from collections.abc import Collection, Iterable

from msgspec import Struct

from misstep_analysis.tables import Row, Table


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
