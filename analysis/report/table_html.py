"""A table as an HTML fragment: caption, scoped headers, badges, every figure with its interval and its n."""

from analysis.report.grid import Grid, grid, methods
from analysis.report.rendering import render
from analysis.tables import Evidence, Table

EVIDENCE: dict[Evidence, str] = {
    "published": "printed in the paper",
    "recomputed": "worked out again from counts that the same paper prints",
    "real": "measured on real data: a public set, or your own",
    "generated": "measured on cases generated with known truth",
}
"""Kind of evidence → what it means, in the words of a badge's tooltip."""


def table_html(table: Table, *, with_finding: bool = True, files: tuple[tuple[str, str], ...] = ()) -> str:
    """A table as an HTML fragment.

    Parameters
    ----------
    table
        The table.
    with_finding
        Whether the finding stands above it: not where it is the page's first sentence already.
    files
        Links to the table as a file: (label, relative address).
    """
    layout = grid(table)
    return render(
        "table.html.jinja",
        table=table,
        grid=layout,
        with_finding=with_finding,
        files=files,
        methods=methods(table),
        meanings=EVIDENCE,
        sortable=_sortable(layout),
    )


def _sortable(layout: Grid) -> bool:
    lines = layout.lines()
    return len(lines) > 3 and len(layout.sections) == 1 and all(line.span == 1 for line in lines)
