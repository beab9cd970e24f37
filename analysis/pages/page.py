"""A page: title, the finding as the first sentence, figures, tables, how it was made, and where it comes from."""

from collections.abc import Iterable

from analysis.pages.foot import Foot, described
from analysis.pages.rendering import markup, render
from analysis.pages.table_html import table_html
from analysis.tables import Table


def page(
    title: str,
    finding: str,
    tables: Iterable[Table] = (),
    figures: Iterable[str] = (),
    notes: Iterable[str] = (),
    *,
    foot: Foot,
) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    title
        Its heading.
    finding
        Its first sentence: what was found, with the interval.
    tables
        The tables, in order; a table whose finding is the page's is shown without it.
    figures
        Inline SVG from `analysis.plots`, shown before the tables.
    notes
        How it was made and what to beware of, a paragraph each.
    foot
        Where the page comes from.
    """
    return render(
        "page.html.jinja",
        title=title,
        finding=finding,
        tables=[markup(table_html(table, with_finding=table.finding != finding)) for table in tables],
        figures=[markup(figure) for figure in figures],
        notes=tuple(notes),
        foot=described(foot),
    )
