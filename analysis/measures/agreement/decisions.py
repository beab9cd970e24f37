"""What comes after agreement: a CSV of the consensus, and one of the items to adjudicate, the most disputed first."""

from collections import Counter
from collections.abc import Iterator

from misstep.analysis.measures.agreement.report import AgreementReport, QuestionReports, RaterDisagreement
from misstep.analysis.tables.files import csv_of

Line = list[str | int]


def consensus_csv(questions: QuestionReports) -> str:
    """Return the label that most raters gave each item, empty where several lead; these are then in the last column."""
    lines: list[Line] = [
        [*name, one.item, one.label or "", "yes" if one.tied else "no", "; ".join(one.candidates)]
        for name, report in _named(questions)
        for one in report.consensus
    ]
    return csv_of([*_question(questions), "item", "label", "tied", "candidates"], lines)


def adjudication_csv(questions: QuestionReports) -> str:
    """Return the items that raters disagree on with everybody's label, and an empty column for the decision.

    The item with the smallest share of ratings for its leading label comes first, of equal ones the first in the file.
    """
    raters = list(dict.fromkeys(rater for report in questions.reports.values() for rater in report.raters))
    lines: list[Line] = [
        [*name, item.item, *(item.labels.get(rater, "") for rater in raters), ""]
        for name, report in _named(questions)
        for item in sorted(report.disagreements, key=_certainty)
    ]
    return csv_of([*_question(questions), "item", *raters, _decision(raters)], lines)


def _named(questions: QuestionReports) -> Iterator[tuple[list[str], AgreementReport]]:
    for name, report in questions.reports.items():
        yield ([name] if _question(questions) else []), report


def _question(questions: QuestionReports) -> list[str]:
    return [] if list(questions.reports) == [""] else ["question"]


def _certainty(item: RaterDisagreement) -> float:
    votes = Counter(item.labels.values())
    return max(votes.values()) / len(item.labels)


def _decision(raters: list[str]) -> str:
    """Return a name for the column of decisions that no rater has."""
    name = "decision"
    while name in raters:
        name += "_"
    return name
