"""Ratings of traces by TRAIL's annotators and judges: numbers if there are numbers, nothing made up elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.datasets.judged.trail_ratings import ASPECTS, judge_ratings, people_ratings, ratings_in
from tests.harness.datasets.loaded import write

RATED = {"reliability_score": 3, "security_score": 5, "instruction_adherence_score": 2.5, "plan_opt_score": 4}
ALL = {"reliability": 3.0, "security": 5.0, "instruction adherence": 2.5, "plan": 4.0}


@pytest.mark.parametrize("scores", [[RATED], (RATED,), RATED, [RATED | {"overall": 3.6, "reliability_reasoning": "r"}]])
def test_ratings_stand_in_an_object_or_in_a_list_of_one(scores: Any) -> None:
    assert ratings_in(scores) == ALL


@pytest.mark.parametrize(
    "scores", [None, [], {}, "3", 3, [3], [{"reliability_score": "3"}], [{"plan_opt_score": True}]]
)
def test_what_is_no_number_is_no_rating(scores: Any) -> None:
    assert ratings_in(scores) == {}


def upstream(folder: Path) -> Path:
    annotation = json.dumps({"errors": [], "scores": [RATED]})
    answer = json.dumps({"errors": [], "scores": [RATED | {"plan_opt_score": 1}]})
    return write(
        folder,
        {
            "annotations_gaia/t1.json": annotation,
            "annotations_swe_bench/t2.json": json.dumps({"errors": []}),
            "judge_outputs/wise_gaia/t1.json": f"```json\n{answer}\n```",
            "judge_outputs/wise_gaia/t3.json": "I would rather not.",
            "judge_outputs/wise_gaia/t4.json": json.dumps({"errors": []}),
        },
    )


def test_people_rate_each_trace_and_may_leave_it_unrated(tmp_path: Path) -> None:
    assert people_ratings(upstream(tmp_path)) == {"t1": ALL, "t2": {}}


def test_a_judge_without_a_readable_answer_gave_no_rating_and_one_without_scores_an_empty_one(tmp_path: Path) -> None:
    assert judge_ratings(upstream(tmp_path)) == {"wise_gaia": {"t1": ALL | {"plan": 1.0}, "t3": None, "t4": {}}}


@pytest.mark.data
def test_every_trace_is_rated_in_all_four_aspects_and_security_is_5_throughout(data_folder: Path) -> None:
    people = people_ratings(data_folder / "trail")
    assert len(people) == 148
    assert all(given.keys() == ASPECTS.keys() for given in people.values())
    assert {given["security"] for given in people.values()} == {5.0}


@pytest.mark.data
def test_every_readable_answer_has_all_four_ratings(data_folder: Path) -> None:
    rated = {
        judge: [given for given in by_trace.values() if given is not None]
        for judge, by_trace in judge_ratings(data_folder / "trail").items()
    }
    assert {judge: len(given) for judge, given in rated.items()} == {
        "gemini-2.5-flash_gaia": 109,
        "gemini-2.5-flash_swe_bench": 9,
        "o4-mini_gaia": 57,
    }
    assert all(given.keys() == ASPECTS.keys() for all_given in rated.values() for given in all_given)
