"""The report of `misstep agreement` as one HTML page."""

from importlib.util import find_spec
from pathlib import Path

from analysis.measures.agreement import AgreementReport
from analysis.measures.agreement_tables import agreement_tables, headline, kappa_rows, method_notes
from analysis.pages import Foot, page
from analysis.tables import Row
from harness.progress import say

_PAIRS_DRAWN = 30


def report_page(report: AgreementReport, file: Path, command: str) -> str:
    """One self-contained page: the finding, the coefficients as a figure, all tables, how they were made.

    Parameters
    ----------
    report
        What was found.
    file
        The file of labels.
    command
        The command that makes the page again.
    """
    return page(
        "Agreement of raters",
        headline(report),
        agreement_tables(report, file.name),
        _figures(kappa_rows(report)),
        method_notes(report),
        foot=Foot(command, inputs=(f"{file.name}: {len(report.raters):,} raters",), seed=report.seed),
    )


def _figures(kappas: list[Row]) -> list[str]:
    """The coefficients with their intervals, where matplotlib is there to draw them and some can be drawn."""
    if not kappas:
        return []
    if find_spec("matplotlib") is None:
        say("misstep: the page has no figure; `pip install 'misstep[notebooks]'` installs the drawing library.")
        return []
    from analysis.plots import forest

    return [forest(kappas[:_PAIRS_DRAWN], "Agreement beyond chance, overall and by pair of raters")]
