"""The report of `misstep agreement` as one HTML page."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from misstep_analysis.agreement import AgreementReport, QuestionReports
from misstep_analysis.agreement.rater_tables import rater_tables, raters_table, width_table
from misstep_analysis.agreement.tables import (
    category_table,
    confusion_tables,
    disagreement_tables,
    headline,
    kappa_rows,
    method_notes,
    overall_table,
    pair_table,
    question_table,
)
from misstep_analysis.pages import Foot, Section, page
from misstep_analysis.tables import Row, Table

_PAIRS_DRAWN = 30
_RATERS_SHOWN = 50
_OPEN = 3
"""How many tables or sections of a kind are open; more are opened by a click."""
_ITEMS_OPEN = 20


def report_page(reports: QuestionReports, file: str, command: str) -> str:
    """Return one self-contained page: the finding, the coefficients as a figure, all tables, the methods."""
    name = Path(file).name
    first = next(iter(reports.reports.values()))
    foot = Foot(command, inputs=(f"{name}: {len(first.raters):,} raters",), seed=first.seed)
    notes = (
        *method_notes(first),
        *reports.notes,
        *(note for report in reports.reports.values() for note in report.notes),
    )
    if list(reports.reports) == [""]:
        figures, sections = _figures(kappa_rows(first)), (*_sections(first),)
        return page("Agreement of raters", headline(first), _tables(first, name), figures, notes, sections, foot=foot)
    overview = question_table(reports, name)
    figures, sections = _figures(list(overview.rows)), (*_questions(reports, name),)
    return page("Agreement of raters", overview.finding, [overview], figures, notes, sections, foot=foot)


def _tables(report: AgreementReport, source: str) -> Iterator[Table]:
    yield overall_table(report, source)
    if report.items_for_width is not None:
        yield width_table(report, report.items_for_width)
    if len(report.by_rater) > 2:
        yield raters_table(report)
    yield pair_table(report)
    yield category_table(report)


def _sections(report: AgreementReport, prefix: str = "") -> Iterator[Section]:
    if confusions := (*confusion_tables(report),):
        yield Section(f"{prefix}Confusions", confusions, folded=len(confusions) > _OPEN)
    if items := (*disagreement_tables(report),):
        yield Section(f"{prefix}Items in dispute", items, folded=len(report.disagreements) > _ITEMS_OPEN)
    for number, rater in enumerate(report.by_rater[:_RATERS_SHOWN], start=1):
        tables = (*rater_tables(report, rater, number),)
        yield Section(f"{prefix}{rater.rater}", tables, folded=len(report.by_rater) > _OPEN)


def _questions(reports: QuestionReports, source: str) -> Iterator[Section]:
    for number, (question, report) in enumerate(reports.reports.items(), start=1):
        whole = Section(question, (*_tables(report, source),), folded=len(reports.reports) > _OPEN)
        for section in (whole, *_sections(report, f"{question}: ")):
            tables = [structs.replace(table, name=f"question_{number}_{table.name}") for table in section.tables]
            yield structs.replace(section, tables=(*tables,), folded=section.folded or section is not whole)


def _figures(kappas: list[Row]) -> list[str]:
    from misstep_analysis.plots import can_draw, forest

    if not kappas or not can_draw():
        return []
    return [forest(kappas[:_PAIRS_DRAWN], "Agreement beyond chance, overall and by pair of raters")]
