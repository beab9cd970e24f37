"""A page and its parts: templates, tables, the foot, and the outputs of a notebook's cell.

`show` gives a table as HTML, as text and as its rows (`TABLE_TYPE`), so that whoever runs the notebook collects the
tables that it shows. `show_figure` gives a figure as inline SVG (`FIGURE_TYPE`) with its title and its table, so that
its page can link there.
"""

import platform
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from html import unescape
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from misstep_analysis.plots.drawing import Picture, standalone
from misstep_analysis.tables import Evidence, Row, Table
from misstep_analysis.tables.text import grid, methods, table_text
from misstep_harness.errors import InputError
from misstep_harness.escaping import printable
from misstep_harness.path_names import HERE, HOME, SERVER, private_places, without_places
from misstep_harness.places import data_folder

_TEMPLATES = "templates"


def render(template: str, **values: Any) -> str:
    """Return a template of this package with its values, everything escaped that is not `Markup`."""
    return _environment().get_template(template).render(**values)


def markup(text: str) -> Markup:
    """Return text that is markup already: only what this package made, with all text from outside escaped."""
    return Markup(text)  # noqa: S704 (the one door; see above)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("misstep_analysis.pages", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["zip"] = partial(zip, strict=True)
    environment.globals["style"] = markup(asset("style.css"))
    environment.globals["script"] = markup(asset("sort.js"))
    return environment


def _shown(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def asset(name: str) -> str:
    """Return a style or script of this package."""
    return (files("misstep_analysis.pages") / _TEMPLATES / name).read_text(encoding="utf-8").strip()


_VERSIONS_SHOWN = ("numpy", "scipy", "pandas", "statsmodels", "matplotlib")
_REGISTRY = "datasets.toml"
_COMMIT_DIGITS = 12


class Dataset(Struct, frozen=True):
    """A data set as a foot names it; `version` is its upstream repositories with the commit of each."""

    name: str
    title: str
    version: str
    licence: str


def datasets(names: Iterable[str]) -> tuple[Dataset, ...]:
    """Return the data sets of these names, in alphabetical order, as the registry describes them."""
    wanted = sorted(set(names))
    if not wanted:
        return ()
    with (data_folder() / _REGISTRY).open("rb") as stream:
        registry: dict[str, Mapping[str, Any]] = tomllib.load(stream)["sets"]
    unknown = [name for name in wanted if name not in registry]
    if unknown:
        raise InputError(
            f"no data set {', '.join(unknown)}",
            "A table's datasets are names in this file.",
            file=f"data/{_REGISTRY}",
        )
    return tuple(_dataset(name, registry[name]) for name in wanted)


class Foot(Struct, frozen=True):
    """Where a page comes from.

    `command` makes it again; `datasets` are names in `data/datasets.toml`; `inputs` are a user's own files, each as
    one sentence; `seed` is given if anything was drawn.
    """

    command: str
    datasets: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    seed: int | None = None


def described(foot: Foot) -> dict[str, Any]:
    """Return the values of the foot's template, without the server that was asked, the home and the present folder."""
    named = private_places(foot.command.split())
    places = {place: name for place, name in named.items() if name in (SERVER, HERE, HOME)}
    return {
        "command": without_places(foot.command, places),
        "datasets": datasets(foot.datasets),
        "inputs": tuple(without_places(str(file), places) for file in foot.inputs),
        "seed": foot.seed,
        "versions": versions(),
    }


@cache
def versions() -> tuple[tuple[str, str], ...]:
    """Return name and version of each package that computed figures."""
    return (
        ("misstep", version("misstep")),
        ("Python", platform.python_version()),
        *((name, number) for name in _VERSIONS_SHOWN if (number := _installed(name))),
    )


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _dataset(name: str, entry: Mapping[str, Any]) -> Dataset:
    sources = entry["sources"].values()
    commits = [f"{source['repository']} at {source['commit'][:_COMMIT_DIGITS]}" for source in sources]
    return Dataset(name, entry["title"], "; ".join(commits), entry["licence"])


TABLE_TYPE = "application/vnd.misstep.table+json"
FIGURE_TYPE = "application/vnd.misstep.figure+json"
"""The media type that marks an output as a figure of `analysis.plots`."""

_SVG_TITLE = re.compile(r"<title[^<>]*+>([^<]*+)</title>", re.DOTALL)


class ShownDrawing(Struct, frozen=True):
    """A figure in a notebook's output; `table` is paper and name of its table, if it has one; then its files."""

    svg: str
    caption: str
    title: str
    table: tuple[str, str] | None = None
    png: bytes = b""


class DrawnFrom(Struct, frozen=True):
    """The table of a figure, as its page names it: a few words, then a link."""

    words: str
    title: str
    address: str


class Shown:
    """An output of a notebook cell: the same thing in several media types."""

    def __init__(self, bundle: dict[str, Any]) -> None:
        self._bundle = bundle

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:  # noqa: ARG002
        return self._bundle

    def __repr__(self) -> str:
        return str(self._bundle["text/plain"])


def show(table: Table) -> Shown:
    """Return a table for the last line of a notebook's cell."""
    from misstep_analysis.tables.files import check_names, document

    check_names(table)
    return Shown(
        {
            "text/html": table_html(table),
            "text/plain": table_text(table),
            TABLE_TYPE: document(table),
        }
    )


def show_figure(svg: str, caption: str = "", table: Table | None = None) -> Shown:
    """Return a figure of `analysis.plots` for the last line of a notebook's cell, with a caption below it."""
    match = _SVG_TITLE.search(svg)
    drawing = ShownDrawing(
        str(svg),
        caption,
        unescape(match[1]) if match else "",
        None if table is None else (table.paper, table.name),
        svg.png() if isinstance(svg, Picture) else b"",
    )
    return Shown(
        {
            "text/html": figure_html(svg, caption),
            "text/plain": caption or "(a figure)",
            FIGURE_TYPE: msgspec.to_builtins(drawing),
        }
    )


def figure_html(
    svg: str, caption: str, source: DrawnFrom | None = None, files: tuple[tuple[str, str], ...] = ()
) -> str:
    """Return a figure of `analysis.plots` as an HTML fragment; `files` are links to it: (label, relative address)."""
    return render("figure.html.jinja", svg=markup(svg), caption=caption, source=source, files=files)


def drawing_files(drawing: ShownDrawing) -> dict[str, bytes]:
    """Return a figure as files: the ending of each name → what is in it."""
    return {"svg": standalone(drawing.svg).encode(), **({"png": drawing.png} if drawing.png else {})}


class Origins(Struct, frozen=True):
    """Addresses beside the page: of the table's function, of its records by name, of the record of each row."""

    function: str = ""
    code: str = ""
    records: tuple[tuple[str, str], ...] = ()
    rows: dict[Row, str] = {}


class Section(Struct, frozen=True):
    """Tables below the others under a heading of their own; `folded` ones are opened by a click."""

    title: str
    tables: tuple[Table, ...]
    folded: bool = False


def page(
    title: str,
    finding: str,
    tables: Iterable[Table] = (),
    figures: Iterable[str] = (),
    notes: Iterable[str] = (),
    sections: Sequence[Section] = (),
    *,
    foot: Foot,
) -> str:
    """Return one self-contained HTML page."""
    tables = tuple(tables)
    contents = [(table_id(table), table.title) for table in tables] if sections else []
    return render(
        "page.html.jinja",
        title=title,
        finding=finding,
        tables=[markup(table_html(table, with_finding=table.finding != finding)) for table in tables],
        figures=[markup(figure) for figure in figures],
        notes=tuple(notes),
        contents=contents,
        sections=[(section, [markup(table_html(table)) for table in section.tables]) for section in sections],
        foot=described(foot),
    )


EVIDENCE: dict[Evidence, str] = {
    "published": "printed in the paper",
    "recomputed": "recomputed from counts in the same paper",
    "real": "measured on real data: a public data set or your own",
    "generated": "measured on generated cases with known truth",
}
"""Kind of evidence → its meaning, in the words of a badge's tooltip."""

_MOST_SIDE_BY_SIDE = 3
"""With more columns, an interval is below its figure, not beside it."""


def table_html(
    table: Table,
    *,
    with_finding: bool = True,
    files: tuple[tuple[str, str], ...] = (),
    origins: Origins | None = None,
) -> str:
    """Return a table as an HTML fragment."""
    layout = grid(table, matrices=True)
    lines = layout.lines()
    return render(
        "table.html.jinja",
        table=table,
        id=table_id(table),
        grid=layout,
        with_finding=with_finding,
        files=files,
        origins=origins or Origins(),
        methods=methods(table),
        meanings=EVIDENCE,
        sortable=len(lines) > 3 and len(layout.sections) == 1 and all(line.span == 1 for line in lines),
        is_wide=len(layout.columns) > _MOST_SIDE_BY_SIDE,
    )


def table_id(table: Table) -> str:
    """Return the id of a table on its page, for links to it."""
    return f"table-{table.paper}-{table.name}"
