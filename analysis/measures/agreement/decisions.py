"""What comes after agreement: a CSV of the consensus, and one of the items to adjudicate, the most disputed first."""

from collections import Counter
from collections.abc import Iterator

from misstep.analysis.measures.agreement.report import AgreementReport, QuestionReports, RaterDisagreement
from misstep.analysis.tables.files import csv_of

Line = list[str | int]


def consensus_csv(found: QuestionReports) -> str:
    """Return the label that most raters gave each item, empty where several lead; these are then in the last column."""
    lines: list[Line] = [
        [*name, one.item, one.label or "", "yes" if one.tied else "no", "; ".join(one.candidates)]
        for name, report in _named(found)
        for one in report.consensus
    ]
    return csv_of([*_question(found), "item", "label", "tied", "candidates"], lines)


def adjudication_csv(found: QuestionReports) -> str:
    """Return the items that raters disagree on with everybody's label, and an empty column for the decision.

    The item with the smallest share of ratings for its leading label comes first, of equal ones the first in the file.
    """
    raters = list(dict.fromkeys(rater for report in found.reports.values() for rater in report.raters))
    lines: list[Line] = [
        [*name, item.item, *(item.labels.get(rater, "") for rater in raters), ""]
        for name, report in _named(found)
        for item in sorted(report.disagreements, key=_certainty)
    ]
    return csv_of([*_question(found), "item", *raters, _decision(raters)], lines)


def _named(found: QuestionReports) -> Iterator[tuple[list[str], AgreementReport]]:
    """Return each report with its question, which is nothing if there is one without a name."""
    for name, report in found.reports.items():
        yield ([name] if _question(found) else []), report


def _question(found: QuestionReports) -> list[str]:
    return [] if list(found.reports) == [""] else ["question"]


def _certainty(item: RaterDisagreement) -> float:
    given = Counter(item.labels.values())
    return max(given.values()) / len(item.labels)


def _decision(raters: list[str]) -> str:
    """Return a name for the column of decisions that no rater has."""
    name = "decision"
    while name in raters:
        name += "_"
    return name
