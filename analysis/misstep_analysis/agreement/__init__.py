"""How far raters agree: the report, its intervals, a rater at a time, and its tables."""

from misstep_analysis.agreement.report import AgreementReport, Pair, QuestionReports, agreement_report

__all__ = ["AgreementReport", "Pair", "QuestionReports", "agreement_report"]
