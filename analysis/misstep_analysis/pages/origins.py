"""The origin of a table's figures, as addresses and pages: the function that made it, and the record of each figure.

A run writes a page for each: `code/<module>.html` is the module's source, `records/<paper>.html` the file of the
figures that a paper prints, `records/<data set>.html` a public set with its files, and
`runs/<data set>/<id>-<digest>.html` a run that is an example, step by step.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec import Struct

from misstep_analysis.pages.page import Foot, Origins, described, render
from misstep_analysis.provenance import line_of, source_of
from misstep_analysis.published import load_paper, published_papers
from misstep_analysis.tables import Row, Table
from misstep_analysis.tables.summary import data_sets_behind, generator_behind, papers_behind
from misstep_harness.places import data_folder

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80
_ID = re.compile(r'\s*id\s*=\s*"([^"]*)"')


def origins(table: Table) -> Origins:
    """Return the addresses of a table's function and records."""
    papers = published_papers()
    return Origins(
        table.made_by,
        code_address(table.made_by),
        tuple((name, record_address(name)) for name in (*papers_of(table, papers), *data_sets_of(table))),
        {row: address for row in table.rows if (address := _row_address(row, table, papers))},
    )


def papers_of(table: Table, papers: Sequence[str]) -> tuple[str, ...]:
    """Return the papers whose printed figures are in any row of a table."""
    return _each_once(name for row in table.rows for name in papers_behind(row, table, papers))


def data_sets_of(table: Table) -> tuple[str, ...]:
    """Return the data sets that any row of a table is measured on."""
    return _each_once(name for row in table.rows for name in data_sets_behind(row, table))


def functions_of(table: Table) -> tuple[str, ...]:
    """Return the functions of this project that made a table or its generated cases."""
    named = (table.made_by, *(generator_behind(row, table) for row in table.rows))
    return _each_once(name for name in named if code_address(name))


def code_address(function: str) -> str:
    """Return the address of a function's source; empty if it is not one of this project's."""
    line = line_of(function)
    return "" if line is None else f"code/{function.rpartition('.')[0]}.html#L{line}"


def record_address(name: str) -> str:
    """Return the address of the record of a paper or a data set."""
    return f"records/{name}.html"


def example_address(example: str) -> str:
    """Return the page of a run that is an example, `data set/id#step`, and on it the place of the step."""
    run, _, step = example.rpartition("#")
    dataset, _, id_ = run.partition("/")
    # Ids hold any characters and may differ in what a file's name cannot show: the digest tells them apart.
    digest = hashlib.sha256(run.encode()).hexdigest()[:12]
    name = _NO_FILE_NAME.sub("-", id_).strip("-.")[:_LONGEST_NAME]
    return f"runs/{_NO_FILE_NAME.sub('-', dataset)}/{name}-{digest}.html#step-{step}"


def published_file_text(paper: str) -> str:
    """Return the file of a paper's printed figures, as it is."""
    return (data_folder() / "published" / f"{paper}.toml").read_text(encoding="utf-8")


def _row_address(row: Row, table: Table, papers: Sequence[str]) -> str:
    if row.example:
        return example_address(row.example)
    generator = generator_behind(row, table)
    if generator:
        return code_address(generator)
    behind = papers_behind(row, table, papers)
    if behind:
        line = _line_of(row.figures)
        return record_address(behind[0]) + (f"#L{line}" if line else "")
    measured = data_sets_behind(row, table)
    return record_address(measured[0]) if len(measured) == 1 else ""


def _line_of(figures: Sequence[str]) -> int | None:
    """Return the line in which the file of a paper names the figure of a row; `None` where it has none or several."""
    if len(figures) != 1:
        return None
    paper, _, id_ = figures[0].partition("/")
    return _lines_of_ids(paper).get(id_)


@cache
def _lines_of_ids(paper: str) -> dict[str, int]:
    lines = published_file_text(paper).splitlines()
    return {match[1]: number for number, line in enumerate(lines, 1) if (match := _ID.match(line))}


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


class Upstream(Struct, frozen=True):
    """A public repository at a pinned commit; a file's path follows `address`."""

    name: str
    repository: str
    commit: str
    address: str


class RecordFile(Struct, frozen=True):
    """One file of a data set with its origin; `rule` says how a derived one is made."""

    file: str
    bytes: int
    sha256: str
    source: str = ""
    upstream_path: str = ""
    rule: str = ""


class DataSetRecord(Struct, frozen=True):
    """A public data set.

    `version` is its name with its commits, `list_sha256` that of the list of its files; `verified` says whether the
    available files are these, `None` if the set is not available.
    """

    name: str
    title: str
    licence: str
    citation: str
    left_out: str
    upstream: tuple[Upstream, ...]
    files: tuple[RecordFile, ...]
    version: str = ""
    list_sha256: str = ""
    verified: bool | None = None


def origin_pages(tables: Iterable[Table], records: Mapping[str, DataSetRecord], foot: Foot) -> dict[str, str]:
    """Return every page and file that tables link to, address beside the page of the table → content."""
    shown = list(tables)
    known = published_papers()
    papers = dict.fromkeys(name for table in shown for name in papers_of(table, known))
    sets = dict.fromkeys(name for table in shown for name in data_sets_of(table))
    modules = dict.fromkeys(name.rpartition(".")[0] for table in shown for name in functions_of(table))
    pages = {f"code/{module}.html": module_page(module, foot) for module in modules}
    for paper in papers:
        pages[record_address(paper)] = published_page(paper, foot)
        pages[f"records/{paper}.toml"] = published_file_text(paper)
    return pages | {record_address(name): data_set_page(records[name], foot) for name in sets}


def module_page(module: str, foot: Foot) -> str:
    """Return the source of one of this project's modules, with an anchor `L<line>` at each line."""
    return _source_page(module, f"The source code of {module} at the time of this run.", source_of(module), "", foot)


def published_page(paper: str, foot: Foot) -> str:
    """Return the file of a paper's printed figures, with an anchor `L<line>` at each line."""
    entry = load_paper(paper)
    finding = f"{len(entry.figure):,} figures as “{entry.title}” prints them, each with its place."
    return _source_page(f"Printed figures: {paper}", finding, published_file_text(paper), f"{paper}.toml", foot)


def data_set_page(record: DataSetRecord, foot: Foot) -> str:
    """Return the page of a public data set: its origin and its files."""
    return render("data_set.html.jinja", title=record.name, record=record, foot=described(foot))


def _source_page(title: str, finding: str, text: str, file: str, foot: Foot) -> str:
    lines = text.splitlines()
    return render("source.html.jinja", title=title, finding=finding, lines=lines, file=file, foot=described(foot))
