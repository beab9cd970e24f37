"""What a judge is worth: its scores, and beyond them what kinds of error it makes and whom it could stand in for."""

from typing import Any

import msgspec
from msgspec import Struct

from analysis.judging.score_tables import scores_table
from analysis.judging.scores import Scores
from analysis.tables import Table


class Assessment(Struct, frozen=True):
    """All results of one run of a judge."""

    scores: Scores


def assessment_tables(assessment: Assessment, source: str) -> list[Table]:
    """The results as tables, the scores first; `source` is what they were measured on."""
    return [scores_table(assessment.scores, source)]


def assessment_document(assessment: Assessment) -> dict[str, Any]:
    """The results in the shape of `scores.json`: the scores, and each further result under its own name."""
    document: dict[str, Any] = msgspec.to_builtins(assessment)
    scores: dict[str, Any] = document.pop("scores")
    return scores | document
