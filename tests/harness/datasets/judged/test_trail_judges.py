"""Recorded answers of TRAIL's judges: read where they are JSON, unreadable or failed where they are not."""

import json
from pathlib import Path

import pytest

from misstep.harness.datasets.judged.recorded import recorded_verdicts
from misstep.harness.datasets.judged.trail_judges import NamedError, answers, read_answer
from misstep.harness.errors import InputError, UsageError
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
