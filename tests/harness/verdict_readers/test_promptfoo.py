"""Results of promptfoo: assertions as judges, and graders that gave no verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.runs.judging.judge_import import written_verdicts
from misstep_harness.verdict_readers import Place, promptfoo
from misstep_harness.verdict_readers.written import WrittenVerdict
from tests.families.recordings import verdicts_of

DOCUMENT = json.loads(verdicts_of("promptfoo"))
RESULT = DOCUMENT["results"]["results"][0]


def verdicts(**fields: Any) -> dict[str, WrittenVerdict]:
    return {one.judge: one for one in promptfoo.verdicts(RESULT | fields, Place("results.jsonl", 1))}


def graded(*components: dict[str, Any]) -> dict[str, Any]:
    return {"gradingResult": {"pass": True, "componentResults": list(components)}}


def test_each_assertion_is_a_judge_and_a_grader_without_a_verdict_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "results").write_bytes(verdicts_of("promptfoo"))
    rows = {(one.item, one.judge): one for one in written_verdicts(tmp_path / "results").verdicts}
    assert {key: one.label for key, one in rows.items() if key[0] in ("a1", "a2")} == {
        ("a1", "contains"): "pass",
        ("a1", "done"): "pass",
        ("a2", "contains"): "pass",
        ("a2", "done"): "fail",
    }
    assert rows["a2", "done"].rationale == "it does not say so"
    assert rows["a2", "done"].names["case"] == "k2"
    for item in ("a3", "a4"):
        one = rows[item, "done"]
        assert (one.status, one.label, one.written_as) == ("unreadable", None, "fail")
    assert rows["a4", "done"].error == ("the grader gave no verdict: Could not extract JSON from llm-rubric response")


def test_a_test_that_ended_in_an_error_has_failed_for_each_of_its_assertions() -> None:
    result = verdicts(failureReason=2, error="API call error: 429", gradingResult=None)
    assert {judge: (one.status, one.error) for judge, one in result.items()} == dict.fromkeys(
        ("contains", "done"), ("failed", "the test ended in an error: API call error: 429")
    )


@pytest.mark.parametrize("passed", [True, False])
def test_a_grader_that_failed_gave_no_verdict_whatever_its_assertion_makes_of_it(passed: bool) -> None:
    one = {"pass": passed, "assertion": {"type": "not-llm-rubric"}, "metadata": {"graderError": True}}
    assert verdicts(**graded(one))["not-llm-rubric"].status == "unreadable"


@pytest.mark.parametrize("reason", ["No output was asked for.", "API error handling is missing.", ""])
def test_a_reason_of_a_grader_that_begins_alike_is_a_verdict(reason: str) -> None:
    one = {"pass": False, "score": 0, "reason": reason, "assertion": {"type": "llm-rubric"}}
    assert verdicts(**graded(one))["llm-rubric"].label == "fail"


@pytest.mark.parametrize(
    ("passed", "score", "certainty"),
    [(True, 0.9, 0.9), (False, 0.2, 0.8), (False, 0, 1.0), (True, 7, None), (True, None, None), (True, "0.5", 0.5)],
)
def test_a_score_is_the_certainty_of_its_own_label(passed: bool, score: Any, certainty: float | None) -> None:
    one = {"pass": passed, "score": score, "assertion": {"type": "llm-rubric"}}
    assert verdicts(**graded(one))["llm-rubric"].score == certainty


def test_assertions_of_one_name_are_numbered_and_a_test_without_any_is_a_judge_itself() -> None:
    one = {"pass": True, "assertion": {"type": "llm-rubric"}}
    assert verdicts(**graded(one, one | {"pass": False})).keys() == {"llm-rubric", "llm-rubric-2"}
    assert {judge: one.label for judge, one in verdicts(**graded()).items()} == {"test": "pass"}


def test_a_test_that_asserts_nothing_passes_and_is_no_verdict() -> None:
    assert not verdicts(gradingResult={"pass": True, "score": 1, "reason": "No assertions", "tokensUsed": {}})


@pytest.mark.parametrize(
    ("metadata", "judge"), [({"assertionSet": {"type": "assert-set", "metric": "all"}}, "all"), (None, "assert-set")]
)
def test_a_set_of_assertions_and_its_parts_are_called_alike_whether_or_not_the_test_ended_in_an_error(
    metadata, judge
) -> None:
    part = {"pass": True, "assertion": {"type": "contains"}}
    of_set = {"pass": True, "componentResults": [part], **({"metadata": metadata} if metadata else {})}
    case = {"assert": [{"type": "assert-set", "assert": [{"type": "contains"}]}]}
    case["assert"][0] |= {"metric": "all"} if metadata else {}
    passed, ended = verdicts(**graded(of_set, part)), verdicts(failureReason=2, testCase=case)
    assert passed.keys() == ended.keys() == {judge, "contains"}


def test_a_test_without_a_description_is_known_by_its_number_and_lines_stand_alone(tmp_path: Path) -> None:
    results = [RESULT | {"testIdx": number, "testCase": {}} for number in range(2)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in results))
    assert {one.item for one in written_verdicts(tmp_path / "results.jsonl").verdicts} == {"0", "1"}


def test_the_outputs_of_several_prompts_and_providers_are_attempts_at_a_test() -> None:
    results = [RESULT | {"promptIdx": 1, "testCase": {}, "testIdx": 4}, RESULT | {"testCase": {}, "testIdx": 4}]
    document = {"results": {"version": 3, "results": [*results, results[0] | {"failureReason": 2}]}}
    read = [(one.item, one.attempt) for one in promptfoo.verdicts(document, Place("results.json", 1))]
    assert dict.fromkeys(read) == {("4", 2): None, ("4", RESULT.get("promptIdx", 0) + 1): None}
