"""The report of `misstep agreement` as one HTML page."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from msgspec import structs

from analysis.measures.agreement import QuestionReports
from analysis.measures.agreement.tables import agreement_tables, headline, kappa_rows, method_notes, question_table
from analysis.pages import Foot, page
from analysis.tables import Row, Table
from harness.progress import say

_PAIRS_DRAWN = 30


def report_page(found: QuestionReports, file: str, command: str) -> str:
    """One self-contained page: the finding, the coefficients as a figure, all tables, how they were made.

    Parameters
    ----------
    found
        The report of each question.
    file
        The file of labels.
    command
        The command that makes the page again.
    """
    name = Path(file).name
    first = next(iter(found.reports.values()))
    foot = Foot(command, inputs=(f"{name}: {len(first.raters):,} raters",), seed=first.seed)
    notes = (*method_notes(first), *found.notes, *(note for report in found.reports.values() for note in report.notes))
    if list(found.reports) == [""]:
        tables = agreement_tables(first, name)
        return page("Agreement of raters", headline(first), tables, _figures(kappa_rows(first)), notes, foot=foot)
    overview = question_table(found, name)
    tables = (overview, *_by_question(found, name))
    return page("Agreement of raters", overview.finding, tables, _figures(list(overview.rows)), notes, foot=foot)


def _by_question(found: QuestionReports, source: str) -> Iterator[Table]:
    """The tables of every question, each with the question in its title."""
    for number, (question, report) in enumerate(found.reports.items(), start=1):
        for table in agreement_tables(report, source):
            yield structs.replace(table, name=f"question_{number}_{table.name}", title=f"{question}: {table.title}")


def _figures(kappas: list[Row]) -> list[str]:
    """The coefficients with their intervals, where matplotlib is there to draw them and some can be drawn."""
    if not kappas:
        return []
    if find_spec("matplotlib") is None:
        say("misstep: the page has no figure; `pip install 'misstep[notebooks]'` installs the drawing library.")
        return []
    from analysis.plots import forest

    return [forest(kappas[:_PAIRS_DRAWN], "Agreement beyond chance, overall and by pair of raters")]
