"""Figures from whole counts as text for a terminal."""

from misstep.analysis.measures.agreement import QuestionReports
from misstep.analysis.measures.counted import CountedReport
from misstep.analysis.measures.counted.tables import counted_tables
from misstep.analysis.pages import table_text
from misstep.analysis.pages.agreement_text import reports_text


def counted_text(report: CountedReport) -> str:
    """Return the tables of everything that was counted, and the report on agreement."""
    texts = [table_text(table) for table in counted_tables(report)]
    if report.agreement:
        texts.append(reports_text(QuestionReports(report.agreement, [])) + "\n")
    return "\n".join(texts)
