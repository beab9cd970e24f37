"""The ratings from 1 to 5 that TRAIL's annotators and judges give a trace, beside the errors that they mark.

The last part of an annotation and of a judge's answer alike:

    {"errors": [...], "scores": [{"reliability_score": 3, "security_score": 5, "instruction_adherence_score": 2,
     "plan_opt_score": 4, "overall": 3.5, "reliability_reasoning": "…"}]}

People also gave values between whole ones. `overall` is the mean of the four and is not read; nor are the reasons. A
judge's answer is read by `trail_judges`: of one that is not readable there is no rating, and one may lack an aspect.
"""

from pathlib import Path

from msgspec import Struct

from misstep.harness.datasets.judged.trail import SOURCES
from misstep.harness.datasets.judged.trail_judges import JudgeAnswer, answers
from misstep.harness.datasets.upstream import files_in, json_file

ASPECTS = {
    "reliability": "reliability_score",
    "security": "security_score",
    "instruction adherence": "instruction_adherence_score",
    "plan": "plan_opt_score",
}
"""An aspect → the field that has its rating."""

Ratings = dict[str, float]
"""Aspect → rating."""


class _Rated(Struct, frozen=True):
    scores: tuple[dict[str, object], ...] = ()


def people_ratings(folder: Path) -> dict[str, Ratings]:
    """Return what people gave each trace; an aspect that they did not rate is left out."""
    return {
        path.name.removesuffix(".json"): ratings_in(json_file(path, _Rated).scores)
        for source in SOURCES
        for path in files_in(folder / f"annotations_{source}", "*.json")
    }


def judge_ratings(folder: Path) -> dict[str, dict[str, Ratings | None]]:
    """Judge → trace → what the judge gave it, `None` where it gave no answer."""
    return {judge: {answer.trace: _of_answer(answer) for answer in given} for judge, given in answers(folder).items()}


def ratings_in(scores: object) -> Ratings:
    """The ratings in what stands under `scores`: an object or a list of one; whatever is not a number is no rating."""
    first = scores[0] if isinstance(scores, list | tuple) and scores else scores
    if not isinstance(first, dict):
        return {}
    found = {aspect: first.get(field) for aspect, field in ASPECTS.items()}
    return {
        aspect: float(value)
        for aspect, value in found.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _of_answer(answer: JudgeAnswer) -> Ratings | None:
    return ratings_in(answer.scores) if answer.status == "answered" else None
