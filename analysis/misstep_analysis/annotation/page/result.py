"""The result of an annotation study, as one HTML page and for a terminal: agreement, then disagreements."""

from importlib.util import find_spec

from misstep_analysis.agreement.tables import confusion_tables, kappa_rows, method_notes
from misstep_analysis.annotation.annotated import AnnotatedStudy
from misstep_analysis.annotation.disagreement import Disagreement
from misstep_analysis.annotation.disagreement_tables import agreement_finding, annotation_tables, disputes_table
from misstep_analysis.pages.foot import Foot
from misstep_analysis.pages.page import Section, page
from misstep_analysis.tables import Table
from misstep_analysis.tables.text import table_text

BLIND = (
    "Agreement is measured on blind labels of the independent phase alone: nobody could see another's labels or what a "
    "judge said. Reconciliation changes none of them."
)


def result_page(
    study: AnnotatedStudy, report: Disagreement, source: str, foot: Foot, remarks: tuple[str, ...] = ()
) -> str:
    """Return the page of a study's result."""
    tables = list(annotation_tables(report, source))
    sections = [Section("Confusions", tuple(confusion_tables(report.report)), folded=True)]
    if disputes := disputes_table(study, source).rows:
        sections.append(Section("Cases in dispute", (disputes_table(study, source),), folded=len(disputes) > 60))
    notes = (*remarks, BLIND, *method_notes(report.report))
    return page(
        "Annotation study",
        agreement_finding(report),
        tables,
        _figures(report),
        notes,
        [section for section in sections if section.tables],
        foot=foot,
    )


def result_text(study: AnnotatedStudy, report: Disagreement, source: str) -> str:
    """Return the same for a terminal."""
    shown: list[Table] = [*annotation_tables(report, source)]
    if report.disputed or report.reconciled.n:
        shown.append(disputes_table(study, source))
    return "\n".join(map(table_text, shown))


def _figures(report: Disagreement) -> list[str]:
    rows = kappa_rows(report.report)
    if not rows or find_spec("matplotlib") is None:
        return []
    from misstep_analysis.plots import forest

    return [forest(rows, "Agreement beyond chance, overall and by pair of raters")]
