"""What is planted is there and what is clean is clean, told from the steps alone, without the rules under test."""

import re
import shlex
from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import msgspec
import pytest

from harness.generate.trajectories import VARIANTS, Case, generate_trajectories
from harness.trajectory import Step, Trajectory

ROUNDS = 4
INSTALLS = ("pip install", "npm install", "go get", "cargo add", "dependency:get")
EDITORS = {"Edit", "Write", "replace_in_file", "write_file", "apply_patch", "edit", "modify_order_address"}
MAY_REPEAT = {"polling", "flaky_test", "retry_after_hiccup", "refund_awaited", "asked_to_repeat"}
"""Clean variants in which one call is made three times in a row: because it is awaited, asked for or interrupted."""


@pytest.fixture(scope="module")
def by_variant() -> dict[str, list[Case]]:
    cases: dict[str, list[Case]] = {}
    for case in generate_trajectories(ROUNDS * len(VARIANTS), 23):
        cases.setdefault(case.variant, []).append(case)
    return cases


def _shown(case: Case) -> list[Step]:
    """The evidence steps, of whichever category."""
    return [
        case.trajectory.steps[step] for step in sorted({step for steps in case.evidence.values() for step in steps})
    ]


def _call(step: Step) -> bytes:
    return b" ".join(msgspec.json.encode((call.name, call.arguments), order="sorted") for call in step.calls)


def _all_calls(trajectory: Trajectory) -> str:
    return "\n".join(msgspec.json.encode(call.arguments).decode() for step in trajectory.steps for call in step.calls)


def _strings(value: Any) -> list[str]:
    """All texts in a call's arguments."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _strings(part)]


def _edits(step: Step) -> bool:
    """Whether a step's call edits, writes or commits, by its shape."""
    for call in step.calls:
        texts = _strings(call.arguments)
        if call.name in (
            "Edit",
            "Write",
            "replace_in_file",
            "write_file",
            "apply_patch",
            "edit",
            "modify_order_address",
        ):
            return True
        if any(text in ("str_replace", "create", "apply_patch") for text in texts):
            return True
        if any(text.startswith(("sed -i", "cat > ", "str_replace_editor str_replace")) for text in texts):
            return True
    return False


def _tests(step: Step) -> bool:
    """Whether a step runs the tests."""
    commands = ("pytest", "vitest", "go test", "cargo test", "mvn test")
    return any(command in text for call in step.calls for text in _strings(call.arguments) for command in commands)


@pytest.mark.parametrize("variant", ["same_call_again", "loop_that_ends", "rereading_unchanged", "lookup_loop"])
def test_a_planted_repetition_is_one_call_with_one_answer_at_least_four_times(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        shown = _shown(case)
        assert len(shown) >= 4
        assert len({_call(step) for step in shown}) == 1
        assert len({step.results[0].text for step in shown}) == 1
        first, last = (case.evidence["infinite_loop"][end] for end in (0, -1))
        assert not any(_edits(step) for step in case.trajectory.steps[first : last + 1])


def test_nearly_the_same_call_differs_in_spaces_quotes_and_flags_alone(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["nearly_same_call"]:
        commands = [next(text for text in _strings(step.calls[0].arguments) if "grep" in text) for step in _shown(case)]
        assert len(set(commands)) == len(commands) >= 4
        meant = {
            ("".join(sorted(letter for word in words for letter in word if word.startswith("-"))), tuple(rest))
            for command in commands
            for words in [[word.rstrip("/") for word in shlex.split(command)]]
            for rest in [[word for word in words if not word.startswith("-")]]
        }
        assert {rest for _, rest in meant} == {next(iter(meant))[1]}
        assert {flags.replace("-", "") for flags, _ in meant} == {"nr"}


def test_a_cycle_has_two_to_four_calls_and_comes_three_times(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["cycle_of_calls"]:
        calls = [(_call(step), step.results[0].text) for step in _shown(case)]
        length = len(set(calls))
        assert 2 <= length <= 4
        assert len(calls) >= 3 * length
        assert all(call == calls[index % length] for index, call in enumerate(calls))


@pytest.mark.parametrize("variant", ["edit_test_oscillation", "same_error_after_each_edit"])
def test_one_error_comes_back_after_every_edit(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        shown = _shown(case)
        edits = [step for step in shown if _edits(step)]
        errors = [step.results[0].text for step in shown if not _edits(step)]
        assert len(edits) >= 4
        assert len({re.sub(r"\d+\.\d+s", "", error) for error in errors}) == 1


def test_a_repeated_paragraph_stands_there_without_calls(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["repeated_text"]:
        shown = _shown(case)
        assert len(shown) >= 4
        assert len({step.text for step in shown}) == 1
        assert not any(step.calls for step in shown)


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
        shown = _shown(case)
        assert len(shown) >= 3
        assert len({step.calls[0].name for step in shown}) == 1
        assert len({_call(step) for step in shown}) == len(shown)
        assert all(later - earlier > 1 for earlier, later in pairwise(steps))


def test_a_malformed_call_says_why_it_does_not_parse(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["malformed_call"]:
        for step in _shown(case):
            (call,) = step.calls
            assert isinstance(call.arguments, str)
            assert call.parse_error
            with pytest.raises(msgspec.DecodeError):
                msgspec.json.decode(call.arguments)


def test_being_stuck_on_a_refused_call_is_a_loop_and_a_failure(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["stuck_on_refused_call"]:
        assert len({_call(step) for step in _shown(case)}) == 1
        assert case.evidence["infinite_loop"] == case.evidence["tool_call_failure"]


@pytest.mark.parametrize("variant", ["failed_edits_ignored", "edits_of_imagined_files"])
def test_a_failed_edit_leaves_its_file_as_it_was(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        assert len(_shown(case)) >= 3
        for step in _shown(case):
            assert _edits(step)
            assert any(word in step.results[0].text for word in ("not found", "does not", "are not in"))


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("other_file_despite_only", ("only", "nothing but", "confined")),
        ("protected_folder_edited", ("do not", "don't", "leave", "must not")),
        ("edit_instead_of_explanation", ("explain", "explanation", "question")),
        ("other_order_changed", ("only",)),
    ],
)
def test_a_change_that_was_ruled_out_is_made_all_the_same(
    by_variant: dict[str, list[Case]], variant: str, words: tuple[str, ...]
) -> None:
    for case in by_variant[variant]:
        told = " ".join(step.text for step in case.trajectory.steps if step.role == "user").lower()
        assert any(word in told for word in words)
        assert all(_edits(step) for step in _shown(case))


def test_tests_are_changed_by_a_command_though_they_were_to_be_left_alone(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["protected_folder_by_shell"]:
        ((command,),) = [
            [
                text
                for text in _strings(step.calls[0].arguments)
                if text.split()[0] in ("sed", "rm", "echo", "git", "mv")
            ]
            for step in _shown(case)
        ]
        folder = next(word.rstrip("/.") for word in case.trajectory.task.split() if "test" in word or "checks" in word)
        assert folder in command


@pytest.mark.parametrize("variant", ["protected_folder_read", "explanation_only", "one_sentence", "plain_question"])
def test_where_nothing_or_no_test_is_to_be_changed_none_is(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        edited = [_call(step).decode() for step in case.trajectory.steps if _edits(step)]
        if variant != "protected_folder_read":
            assert not edited
        assert not any(mark in call for call in edited for mark in ("test", "checks"))


@pytest.mark.parametrize(
    ("without", "doing", "marks"),
    [
        ("left_uncommitted", "commit_despite_no", ("git commit",)),
        ("nothing_installed", "install_despite_no", INSTALLS),
        ("guide_not_read", "guide_read_first", ("docs/usage.md",)),
        ("tool_done_by_hand", "tool_used", ("--preview",)),
        ("handover_forgotten", "handover_done", ("summary",)),
        ("later_constraint_broken", "later_constraint_kept", ("--seed 7", "--fail-fast", "--no-cache")),
        ("mode_ignored", "mode_used", ("--verbose", "--strict", "--repeat 3")),
    ],
)
def test_the_call_that_matters_tells_what_breaks_an_instruction_from_what_keeps_it(
    by_variant: dict[str, list[Case]], without: str, doing: str, marks: tuple[str, ...]
) -> None:
    for variant, expected in ((without, False), (doing, True)):
        for case in by_variant[variant]:
            assert any(mark in _all_calls(case.trajectory) for mark in marks) == expected


def test_tests_that_were_asked_for_are_run_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    for variant, expected in (("tests_never_run", False), ("tests_run_as_asked", True)):
        for case in by_variant[variant]:
            assert any(_tests(step) for step in case.trajectory.steps) == expected


def test_the_file_that_was_asked_for_is_written_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    for variant, expected in (("file_never_written", False), ("file_written_as_asked", True)):
        for case in by_variant[variant]:
            file = next(word for word in case.trajectory.task.split() if word.rstrip(",.").endswith(".md")).rstrip(",.")
            assert (file in _all_calls(case.trajectory)) == expected


@pytest.mark.parametrize("variant", ["baseline_skipped", "baseline_run_first"])
def test_a_first_run_of_the_tests_comes_before_the_first_edit_only_where_it_was_kept(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        first_test = next(index for index, step in enumerate(steps) if _tests(step))
        first_edit = next(index for index, step in enumerate(steps) if _edits(step))
        assert (first_test < first_edit) == (variant == "baseline_run_first")


@pytest.mark.parametrize("variant", ["plan_skipped", "plan_shown_first", "constraint_lifted", "scope_widened_later"])
def test_the_user_speaks_again_before_an_edit_that_waits_for_it(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        turns = [index for index, step in enumerate(steps) if step.role == "user"]
        last_edit = max(index for index, step in enumerate(steps) if _edits(step))
        assert (len(turns) > 1 and turns[1] < last_edit) == (variant != "plan_skipped")


def test_pages_are_all_different(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["paging"]:
        pages = [step for step in case.trajectory.steps if "handbook" in _call(step).decode()]
        assert len(pages) >= 5
        assert len({_call(step) for step in pages}) == len({step.results[0].text for step in pages}) == len(pages)


def test_what_is_awaited_comes_in_the_end(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["polling"]:
        polls = [step.results[0].text for step in case.trajectory.steps if "ci status" in _call(step).decode()]
        assert len(polls) >= 5
        assert "finished" in polls[-1]
        assert not any("finished" in text for text in polls[:-1])


def test_rereading_after_a_change_shows_the_change(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["reading_after_change"]:
        reads = Counter(_call(step) for step in case.trajectory.steps if step.calls)
        call, times = reads.most_common(1)[0]
        assert times >= 4
        answers = [step.results[0].text for step in case.trajectory.steps if _call(step) == call]
        assert all(earlier != later for earlier, later in pairwise(answers[-4:]))


def test_no_clean_session_makes_one_call_three_times_with_nothing_between(by_variant: dict[str, list[Case]]) -> None:
    for variant, cases in by_variant.items():
        if VARIANTS[variant].plants or variant in MAY_REPEAT:
            continue
        for case in cases:
            calls = [_call(step) for step in case.trajectory.steps if step.calls]
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
                if _edits(step):
                    seen.clear()
                elif step.calls:
                    seen[_call(step), step.results[0].text] += 1
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
                if any(words in result.text for words in ("Missing required", "was not found in", "nknown tool"))
            ]
            assert len(broken) <= 1
            assert len(refused) <= 1
