"""The report of `misstep pass` as one HTML page, and as text for a terminal."""

from collections.abc import Sequence
from importlib.util import find_spec

from misstep_analysis.pages import Foot, page, table_text
from misstep_analysis.pages.display import figure_html
from misstep_analysis.passing.scores import PassReport, pass_tables
from misstep_analysis.tables import Table

_MOST_DRAWN = 40


def passes_text(report: PassReport) -> str:
    """Return the tables for a terminal."""
    return "\n".join(table_text(table) for table in pass_tables(report))


def passes_page(report: PassReport, inputs: Sequence[str], command: str) -> str:
    """Return one self-contained page: the finding, the chances of k attempts as a figure too, flicker, comparisons."""
    tables = pass_tables(report)
    return page(
        "Repeated attempts",
        tables[0].finding,
        tables,
        _figures(tables[0]),
        report.notes,
        foot=Foot(command, inputs=tuple(inputs), seed=report.seed),
    )


def _figures(table: Table) -> list[str]:
    if not 0 < len(table.drawn) <= _MOST_DRAWN or find_spec("matplotlib") is None:
        return []
    from misstep_analysis.plots import forest

    drawing = forest(table.drawn, "pass@k and pass^k of each system")
    return [figure_html(drawing, "Each chance with its 95% interval over tasks.")]
