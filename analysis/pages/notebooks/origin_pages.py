"""The pages that figures link to: the source of the functions that made them, and their records."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from misstep.analysis.pages.foot import Foot, described
from misstep.analysis.pages.notebooks.origins import (
    data_sets_of,
    functions_of,
    papers_of,
    published_file_text,
    record_address,
)
from misstep.analysis.pages.rendering import render
from misstep.analysis.provenance import source_of
from misstep.analysis.published import load_paper, published_papers
from misstep.analysis.tables import Table


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
