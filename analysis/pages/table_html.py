"""A table as an HTML fragment: caption, scoped headers, badges, every figure with its interval and its n."""

from misstep.analysis.pages.notebooks.origins import Origins
from misstep.analysis.pages.rendering import render
from misstep.analysis.tables import Evidence, Table
from misstep.analysis.tables.grid import grid, methods

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
