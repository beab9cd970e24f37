"""The findings of `misstep audit` as one HTML page."""

from collections.abc import Sequence

from misstep_analysis.audit.findings import Finding, headline
from misstep_analysis.audit.overview import counted_by, findings_table
from misstep_analysis.pages import Foot, page
from misstep_analysis.pages.page import Section
from misstep_analysis.tables import WORST_FIRST

_NOTES = (
    "Each figure is recomputed from the figures that it depends on. It differs if no values inside the rounding of "
    "those give the printed digits, and it is impossible if no whole counts round to them.",
    "An underdetermined figure is not a finding: the source does not print what is needed to recompute it.",
)
_OPEN = ("impossible", "differs")
_LONG = 20
"""From how many rows on a table of sound or open figures is folded."""


def findings_page(findings: Sequence[Finding], command: str, files: Sequence[str]) -> str:
    """Return one self-contained page: how the checks ended, as a figure too, then each finding, the worst first."""
    statuses = {finding.status for finding in findings}
    tables = {status: findings_table(findings, status) for status in WORST_FIRST if status in statuses}
    folded = {status: table for status, table in tables.items() if status not in _OPEN and len(table.rows) > _LONG}
    return page(
        "Audit of printed figures",
        headline(findings),
        [table for status, table in tables.items() if status not in folded],
        _figures(findings),
        _NOTES,
        [Section(table.title, (table,), folded=True) for table in folded.values()],
        foot=Foot(command, inputs=tuple(f"{name}: printed figures" for name in files)),
    )


def _figures(findings: Sequence[Finding]) -> list[str]:
    from misstep_analysis.plots import can_draw, heat_map

    if not can_draw():
        return []
    sources = {finding.source for finding in findings}
    counts = counted_by(findings, by_check=len(sources) == 1)
    values = [[float(count) for count in ended.values()] for ended in counts.values()]
    title = "Results of the checks"
    return [heat_map(values, list(counts), WORST_FIRST, title, row_axis="check" if len(sources) == 1 else "source")]
