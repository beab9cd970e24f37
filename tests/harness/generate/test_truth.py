"""What is planted is there and what is clean is clean, told from the steps alone, without the rules under test."""

import posixpath
import re
import shlex
from collections import Counter
from itertools import groupby, pairwise

import msgspec
import pytest

from misstep.harness.generate.trajectories import VARIANTS, Case
from misstep.harness.generate.voice import load_wordings
from tests.harness.generate.steps import call_of, changes, evidence_of, is_worded, strings
from tests.harness.generate.test_wordings import stands_in

MAY_REPEAT = {"polling", "flaky_test", "retry_after_hiccup", "refund_awaited", "asked_to_repeat"}
"""Clean variants in which one call is made three times in a row: because it is awaited, asked for or interrupted."""


@pytest.mark.parametrize("variant", ["same_call_again", "loop_that_ends", "rereading_unchanged", "lookup_loop"])
def test_a_planted_repetition_is_one_call_with_one_answer_at_least_four_times(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        shown = evidence_of(case)
        assert len(shown) >= 4
        assert len({call_of(step) for step in shown}) == 1
        assert len({step.results[0].text for step in shown}) == 1
        first, last = (case.evidence["infinite_loop"][end] for end in (0, -1))
        assert not any(changes(step) for step in case.trajectory.steps[first : last + 1])


def test_nearly_the_same_call_differs_in_spaces_quotes_flags_remarks_and_spellings_of_the_path_alone(
    by_variant: dict[str, list[Case]],
) -> None:
    for case in by_variant["nearly_same_call"]:
        commands = [
            next(text for text in strings(step.calls[0].arguments) if "grep" in text) for step in evidence_of(case)
        ]
        assert len(set(commands)) == len(commands) >= 4
        assert {_meant(command) for command in commands} == {_meant(commands[0])}


def _meant(command: str) -> tuple[str, tuple[str, ...]]:
    """The letters of a command's flags in order, and its words."""
    split = [word for word in shlex.split(command, comments=True) if not word.startswith("--color")]
    flags = "".join(sorted(letter for word in split if word.startswith("-") for letter in word if letter != "-"))
    rest = (posixpath.normpath(word) if "/" in word else word for word in split if not word.startswith("-"))
    return flags, tuple(rest)


def test_a_cycle_has_two_to_four_calls_and_comes_three_times(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["cycle_of_calls"]:
        calls = [(call_of(step), step.results[0].text) for step in evidence_of(case)]
        length = len(set(calls))
        assert 2 <= length <= 4
        assert len(calls) >= 3 * length
        assert all(call == calls[index % length] for index, call in enumerate(calls))


@pytest.mark.parametrize("variant", ["edit_test_oscillation", "oscillation_that_ends", "same_error_after_each_edit"])
def test_one_error_comes_back_after_every_edit(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        shown = evidence_of(case)
        edits = [step for step in shown if changes(step)]
        errors = [step.results[0].text for step in shown if not changes(step)]
        assert len(edits) >= 4
        assert len({re.sub(r"\d+\.\d+ ?s", "", error) for error in errors}) == 1


def test_a_repeated_paragraph_stands_there_without_calls(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["repeated_text"]:
        shown = evidence_of(case)
        assert len(shown) >= 4
        assert len({step.text for step in shown}) == 1
        assert not any(step.calls for step in shown)


def test_repeated_sentences_stand_among_others_without_calls(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["repeated_sentences"]:
        sentences = [one.text for one in load_wordings() if one.kind == "stuck_sentence"]
        said = [{one for one in sentences if stands_in(one, step.text)} for step in evidence_of(case)]
        assert len(said) >= 4
        assert len(set.intersection(*said)) == 2
        assert len({step.text for step in evidence_of(case)}) >= 3
        assert not any(step.calls for step in evidence_of(case))


APART = (
    "unknown_tool",
    "missing_argument",
    "invalid_argument",
    "malformed_call",
    "wrong_usage",
    "failed_edit_repeated",
)


@pytest.mark.parametrize("variant", [*APART, "imagined_tool", "forgotten_argument"])
def test_refused_calls_are_of_one_tool_about_different_things_and_stand_apart(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.evidence["tool_call_failure"]
        shown = evidence_of(case)
        assert len(shown) >= 3
        assert len({step.calls[0].name for step in shown}) == 1
        assert len({call_of(step) for step in shown}) == len(shown)
        assert all(later - earlier > 1 for earlier, later in pairwise(steps))


@pytest.mark.parametrize(
    ("variant", "kinds"), [("imagined_paths", ("no_such_file",)), ("service_refuses", ("sql_error", "http_error"))]
)
def test_one_tool_is_refused_in_a_row_about_different_things(
    by_variant: dict[str, list[Case]], variant: str, kinds: tuple[str, ...]
) -> None:
    for case in by_variant[variant]:
        shown = evidence_of(case)
        assert len(shown) >= 4
        assert len({step.calls[0].name for step in shown}) == 1
        assert len({call_of(step) for step in shown}) == len(shown)
        assert all(is_worded(step.results[0].text, *kinds) for step in shown)
        first, last = (case.evidence["tool_call_failure"][end] for end in (0, -1))
        assert last - first == len(shown) - 1


def test_a_reply_without_a_call_is_rejected_by_the_program_each_time(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["rejected_reply"]:
        steps = case.trajectory.steps
        assert len(evidence_of(case)) >= 4
        for step in case.evidence["tool_call_failure"]:
            assert not steps[step].calls
            assert steps[step + 1].role in ("user", "system")
            assert is_worded(steps[step + 1].text, "reply_rejected")


def test_a_malformed_call_says_why_it_does_not_parse(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["malformed_call"]:
        for step in evidence_of(case):
            (call,) = step.calls
            assert isinstance(call.arguments, str)
            assert call.parse_error
            with pytest.raises(msgspec.DecodeError):
                msgspec.json.decode(call.arguments)


def test_being_stuck_on_a_refused_call_is_a_loop_and_a_failure(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["stuck_on_refused_call"]:
        assert len({call_of(step) for step in evidence_of(case)}) == 1
        assert case.evidence["infinite_loop"] == case.evidence["tool_call_failure"]


@pytest.mark.parametrize("variant", ["failed_edits_ignored", "edits_of_imagined_files"])
def test_a_failed_edit_leaves_its_file_as_it_was(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        assert len(evidence_of(case)) >= 3
        for step in evidence_of(case):
            assert changes(step)
            assert is_worded(step.results[0].text, "edit_not_found")


def test_pages_are_all_different(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["paging"]:
        pages = [step for step in case.trajectory.steps if "handbook" in call_of(step).decode()]
        assert len(pages) >= 5
        assert len({call_of(step) for step in pages}) == len({step.results[0].text for step in pages}) == len(pages)


def test_what_is_awaited_comes_in_the_end(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["polling"]:
        polls = [step.results[0].text for step in case.trajectory.steps if "ci status" in call_of(step).decode()]
        assert len(polls) >= 5
        assert is_worded(polls[-1], "job_done")
        assert not any(is_worded(text, "job_done") for text in polls[:-1])
        assert all(is_worded(text, "job_waits", "job_progress") for text in polls[:-1])


def test_rereading_after_a_change_shows_the_change(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["reading_after_change"]:
        reads = Counter(call_of(step) for step in case.trajectory.steps if step.calls)
        call, times = reads.most_common(1)[0]
        assert times >= 4
        answers = [step.results[0].text for step in case.trajectory.steps if call_of(step) == call]
        assert all(earlier != later for earlier, later in pairwise(answers[-4:]))


def test_no_clean_session_makes_one_call_three_times_with_nothing_between(by_variant: dict[str, list[Case]]) -> None:
    for variant, cases in by_variant.items():
        if VARIANTS[variant].plants or variant in MAY_REPEAT:
            continue
        for case in cases:
            calls = [call_of(step) for step in case.trajectory.steps if step.calls]
            assert max(len(list(run)) for _, run in groupby(calls)) < 3, case.trajectory.id


def test_only_a_loop_makes_one_call_four_times_with_one_answer_and_no_edit_between(
    by_variant: dict[str, list[Case]],
) -> None:
    for variant, cases in by_variant.items():
        if "infinite_loop" in VARIANTS[variant].plants or variant in MAY_REPEAT:
            continue
        for case in cases:
            seen: Counter[tuple[bytes, str]] = Counter()
            for step in case.trajectory.steps:
                if changes(step):
                    seen.clear()
                elif step.calls:
                    seen[call_of(step), step.results[0].text] += 1
                    assert seen.most_common(1)[0][1] < 4, case.trajectory.id


def test_only_a_planted_failure_refuses_more_than_one_call(by_variant: dict[str, list[Case]]) -> None:
    for variant, cases in by_variant.items():
        if "tool_call_failure" in VARIANTS[variant].plants:
            continue
        for case in cases:
            broken = [call for step in case.trajectory.steps for call in step.calls if call.parse_error]
            refused = [
                result.text
                for step in case.trajectory.steps
                for result in step.results
                if is_worded(result.text, "unknown_tool", "missing_argument", "invalid_argument", "edit_not_found")
            ]
            assert len(broken) <= 1
            assert len(refused) <= 1
