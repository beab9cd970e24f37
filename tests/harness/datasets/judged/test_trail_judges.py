"""Recorded answers of TRAIL's judges and their ratings: read where they are JSON, and nothing made up elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.datasets import recorded_verdicts
from misstep_harness.datasets.judged.trail_judges import (
    ASPECTS,
    NamedError,
    answers,
    judge_ratings,
    people_ratings,
    ratings_in,
    read_answer,
)
from misstep_harness.errors import InputError, UsageError
from tests.harness.datasets.loaded import write

DOCUMENT = json.dumps({"errors": [{"category": "Loops", "location": "s1", "impact": "LOW"}], "scores": []}, indent=1)
NAMED = (NamedError("Loops", "s1"),)


@pytest.mark.parametrize("text", [DOCUMENT, f"\n```json\n{DOCUMENT}\n```\n", f"```\n{DOCUMENT}```", f"[{DOCUMENT}]"])
def test_json_is_read_plain_in_a_fence_and_in_a_list(text: str) -> None:
    answer = read_answer("t", text)
    assert (answer.status, answer.errors) == ("answered", NAMED)


def test_a_fence_inside_a_text_of_the_answer_is_part_of_it() -> None:
    document = json.dumps({"errors": [{"category": "Loops", "location": "s1", "evidence": "```py\nx\n```"}]})
    assert read_answer("t", f"```json\n{document}\n```").errors == NAMED


@pytest.mark.parametrize(
    "text",
    [
        "FINAL ANSWER: 3",
        "",
        DOCUMENT[:-4],
        '{"errors": [{"category": "Loops", "location": "s1"} {"category": "Loops", "location": "s2"}]}',
        f"Here it is: {DOCUMENT}",
        '{"findings": []}',
        '{"errors": [{"category": 3, "location": "s1"}]}',
    ],
)
def test_what_is_not_the_asked_json_is_unreadable_and_no_error_is_fished_out_of_it(text: str) -> None:
    answer = read_answer("t", text)
    assert (answer.status, answer.errors) == ("unreadable", ())
    assert answer.reason


def test_where_the_program_wrote_that_there_was_no_output_the_judge_failed() -> None:
    assert read_answer("t", "Context window exceeded. No output generated.").status == "failed"


def upstream(folder: Path, **outputs: str) -> Path:
    marked = json.dumps({"errors": [{"category": "Slips", "location": "s1", "evidence": "e", "impact": "LOW"}]})
    looped = marked.replace("Slips", "Loops")
    files = {"annotations_gaia/t1.json": marked, "annotations_swe_bench/t2.json": looped}
    return write(folder, files | {f"judge_outputs/{judge}/t1.json": text for judge, text in outputs.items()})


def test_a_verdict_says_of_each_category_whether_the_judge_named_it(tmp_path: Path) -> None:
    verdicts = recorded_verdicts("trail", upstream(tmp_path, wise_gaia=DOCUMENT))["wise_gaia"]
    assert [(one.item, one.label, one.model) for one in verdicts] == [
        ("t1/Loops", "present", "wise"),
        ("t1/Slips", "absent", "wise"),
    ]


def test_the_rationale_is_what_the_judge_says_of_its_errors_of_the_category(tmp_path: Path) -> None:
    errors = [
        {"category": "Loops", "location": "s1", "description": "Reads the same page twice."},
        {"category": "Loops", "location": "s4", "description": ["no", "text"]},
        {"category": "Other", "location": "s9", "description": "Elsewhere."},
    ]
    verdicts = recorded_verdicts("trail", upstream(tmp_path, wise_gaia=json.dumps({"errors": errors})))["wise_gaia"]
    assert [one.rationale for one in verdicts] == ["span s1: Reads the same page twice.; span s4", ""]


def test_an_unread_answer_is_no_verdict_of_absent(tmp_path: Path) -> None:
    verdicts = recorded_verdicts("trail", upstream(tmp_path, wise_gaia="No output produced"))["wise_gaia"]
    assert {(one.label, one.status, one.error) for one in verdicts} == {(None, "failed", "No output produced")}


def test_a_folder_of_an_unknown_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"wise_elsewhere: .*an unknown source"):
        answers(upstream(tmp_path, wise_elsewhere=DOCUMENT))


def test_a_set_without_judges_is_named_with_those_that_have_some(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"mast has no recorded judges.*agent_as_a_judge, trail"):
        recorded_verdicts("mast", tmp_path)


@pytest.mark.data
def test_as_many_answers_can_be_read_as_were_counted_by_hand(data_folder: Path) -> None:
    counts = {
        judge: [sum(one.status == status for one in given) for status in ("answered", "unreadable", "failed")]
        for judge, given in answers(data_folder / "trail").items()
    }
    assert counts == {
        "gemini-2.5-flash_gaia": [109, 0, 8],
        "gemini-2.5-flash_swe_bench": [9, 2, 3],
        "o4-mini_gaia": [57, 1, 59],
    }


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


def rated(folder: Path) -> Path:
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


def test_people_may_leave_a_trace_unrated_and_a_judge_without_a_readable_answer_gave_no_rating(tmp_path: Path) -> None:
    assert people_ratings(rated(tmp_path)) == {"t1": ALL, "t2": {}}
    assert judge_ratings(rated(tmp_path)) == {"wise_gaia": {"t1": ALL | {"plan": 1.0}, "t3": None, "t4": {}}}


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
