"""A page: title, the finding as the first sentence, figures, tables, notes, and the foot."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep_analysis.pages.foot import Foot, described
from misstep_analysis.pages.origins import Origins
from misstep_analysis.pages.rendering import markup, render
from misstep_analysis.tables import Evidence, Table
from misstep_analysis.tables.grid import grid, methods


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
