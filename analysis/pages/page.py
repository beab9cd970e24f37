"""A page: title, the finding as the first sentence, figures, tables, notes, and the foot."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from misstep.analysis.pages.foot import Foot, described
from misstep.analysis.pages.rendering import markup, render
from misstep.analysis.pages.table_html import table_html, table_id
from misstep.analysis.tables import Table


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
