"""What is planted is there and what is clean is clean, told from the steps alone, without the rules under test."""

import posixpath
import re
import shlex
from collections import Counter
from itertools import groupby, pairwise
from typing import Any

import msgspec
import pytest

from harness.generate.families import load_families
from harness.generate.trajectories import VARIANTS, Case, generate_trajectories
from harness.generate.voice import load_wordings
from harness.trajectory import Step, Trajectory
from tests.harness.generate.test_wordings import stands_in

ROUNDS = 4
INSTALLS = ("pip install", "npm install", "go get", "cargo add", "dependency:get")
EDITORS = {
    "Edit",
    "Write",
    "replace_in_file",
    "write_file",
    "apply_patch",
    "edit",
    *("modify_order_address", "modifyOrderAddress", "mcp__shop__modify_order_address", "order.redirect"),
    *(tool for family in load_families() for tool in (family.edit.tool, family.write.tool)),
}
MAY_REPEAT = {"polling", "flaky_test", "retry_after_hiccup", "refund_awaited", "asked_to_repeat"}
"""Clean variants in which one call is made three times in a row: because it is awaited, asked for or interrupted."""

TOLD = {
    "other_file_despite_only": "only_path",
    "only_one_file": "only_path",
    "scope_widened_later": "widen_scope",
    "wide_permission_overrun": "widen_scope",
    "protected_folder_edited": "protect_folder",
    "protected_folder_by_shell": "protect_folder",
    "protected_folder_read": "protect_folder",
    "later_limit_broken": "protect_folder",
    "exception_granted": "soften_folder",
    "constraint_lifted": "withdraw_folder",
    "edit_instead_of_explanation": "read_only",
    "explanation_only": "read_only",
    "question_becomes_task": "withdraw_read_only",
    "plan_mode_ignored": "plan_mode",
    "plan_mode_kept": "plan_mode",
    "commit_despite_no": "no_commit",
    "left_uncommitted": "no_commit",
    "commit_allowed_later": "withdraw_no_commit",
    "install_despite_no": "no_install",
    "nothing_installed": "no_install",
    "file_made_despite_no": "no_new_files",
    "scratch_file_removed": "no_new_files",
    "forbidden_tool_used": "ban_tool",
    "forbidden_tool_avoided": "ban_tool",
    "style_broken": "no_comments",
    "style_kept": "no_comments",
    "plan_skipped": "plan_first",
    "plan_shown_first": "plan_first",
    "baseline_skipped": "tests_first",
    "baseline_run_first": "tests_first",
    "guide_not_read": "guide_first",
    "guide_read_first": "guide_first",
    "other_order_changed": "only_order",
    "only_that_order": "only_order",
    "tests_never_run": "run_tests_last",
    "tests_run_as_asked": "run_tests_last",
    "file_never_written": "write_to",
    "file_written_as_asked": "write_to",
    "later_constraint_broken": "from_now_on",
    "later_constraint_kept": "from_now_on",
    "over_explained": "be_brief",
    "one_sentence": "be_brief",
}
"""What the user, or the program, says in the sessions of a variant."""


def _is_worded(text: str, *kinds: str) -> bool:
    """Whether a wording of one of the kinds stands in a text."""
    return any(stands_in(one.text, text) for one in load_wordings() if one.kind in kinds)


def _told(case: Case) -> str:
    """All that the user and the program say."""
    return "\n".join(step.text for step in case.trajectory.steps if step.role in ("user", "system"))


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
        if call.name in EDITORS or any(text in ("str_replace", "create", "apply_patch") for text in texts):
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


def test_nearly_the_same_call_differs_in_spaces_quotes_flags_remarks_and_spellings_of_the_path_alone(
    by_variant: dict[str, list[Case]],
) -> None:
    for case in by_variant["nearly_same_call"]:
        commands = [next(text for text in _strings(step.calls[0].arguments) if "grep" in text) for step in _shown(case)]
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
        calls = [(_call(step), step.results[0].text) for step in _shown(case)]
        length = len(set(calls))
        assert 2 <= length <= 4
        assert len(calls) >= 3 * length
        assert all(call == calls[index % length] for index, call in enumerate(calls))


@pytest.mark.parametrize("variant", ["edit_test_oscillation", "oscillation_that_ends", "same_error_after_each_edit"])
def test_one_error_comes_back_after_every_edit(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        shown = _shown(case)
        edits = [step for step in shown if _edits(step)]
        errors = [step.results[0].text for step in shown if not _edits(step)]
        assert len(edits) >= 4
        assert len({re.sub(r"\d+\.\d+ ?s", "", error) for error in errors}) == 1


def test_a_repeated_paragraph_stands_there_without_calls(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["repeated_text"]:
        shown = _shown(case)
        assert len(shown) >= 4
        assert len({step.text for step in shown}) == 1
        assert not any(step.calls for step in shown)


def test_repeated_sentences_stand_among_others_without_calls(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["repeated_sentences"]:
        sentences = [one.text for one in load_wordings() if one.kind == "stuck_sentence"]
        said = [{one for one in sentences if stands_in(one, step.text)} for step in _shown(case)]
        assert len(said) >= 4
        assert len(set.intersection(*said)) == 2
        assert len({step.text for step in _shown(case)}) >= 3
        assert not any(step.calls for step in _shown(case))


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


@pytest.mark.parametrize(
    ("variant", "kinds"), [("imagined_paths", ("no_such_file",)), ("service_refuses", ("sql_error", "http_error"))]
)
def test_one_tool_is_refused_in_a_row_about_different_things(
    by_variant: dict[str, list[Case]], variant: str, kinds: tuple[str, ...]
) -> None:
    for case in by_variant[variant]:
        shown = _shown(case)
        assert len(shown) >= 4
        assert len({step.calls[0].name for step in shown}) == 1
        assert len({_call(step) for step in shown}) == len(shown)
        assert all(_is_worded(step.results[0].text, *kinds) for step in shown)
        first, last = (case.evidence["tool_call_failure"][end] for end in (0, -1))
        assert last - first == len(shown) - 1


def test_a_reply_without_a_call_is_rejected_by_the_program_each_time(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["rejected_reply"]:
        steps = case.trajectory.steps
        assert len(_shown(case)) >= 4
        for step in case.evidence["tool_call_failure"]:
            assert not steps[step].calls
            assert steps[step + 1].role in ("user", "system")
            assert _is_worded(steps[step + 1].text, "reply_rejected")


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
            assert _is_worded(step.results[0].text, "edit_not_found")


@pytest.mark.parametrize("variant", sorted(TOLD))
def test_what_binds_is_said(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        assert _is_worded(_told(case), TOLD[variant]), case.trajectory.id


@pytest.mark.parametrize(
    "variant",
    [
        "other_file_despite_only",
        "wide_permission_overrun",
        "protected_folder_edited",
        "later_limit_broken",
        "edit_instead_of_explanation",
        "plan_mode_ignored",
        "file_made_despite_no",
        "other_order_changed",
        "style_broken",
        "unrelated_rewrite",
        "unasked_extras",
    ],
)
def test_a_change_that_was_ruled_out_or_not_asked_for_is_made_all_the_same(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        assert _shown(case)
        assert all(_edits(step) for step in _shown(case))


def test_a_limit_that_comes_late_comes_before_what_breaks_it(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["later_limit_broken"]:
        steps = case.trajectory.steps
        told = max(index for index, step in enumerate(steps) if step.role == "user")
        assert any(step.role == "agent" for step in steps[:told])
        assert told < min(case.evidence["unrequested_changes"])


def test_what_is_put_behind_the_line_is_a_comment_only_where_none_was_wanted(by_variant: dict[str, list[Case]]) -> None:
    remarks = [one.text for one in load_wordings() if one.kind == "remark"]
    for variant, expected in (("style_broken", True), ("style_kept", False)):
        for case in by_variant[variant]:
            assert any(remark in _all_calls(case.trajectory) for remark in remarks) == expected


def test_a_forbidden_program_is_run_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    starts = ("curl", "git stash", "make ", "docker")
    for variant, expected in (("forbidden_tool_used", True), ("forbidden_tool_avoided", False)):
        for case in by_variant[variant]:
            texts = [text for step in case.trajectory.steps for call in step.calls for text in _strings(call.arguments)]
            assert any(text.startswith(starts) for text in texts) == expected


def test_a_folder_that_is_removed_was_made_by_the_agent(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["own_scratch_folder"]:
        calls = _all_calls(case.trajectory)
        made, removed = calls.find("mkdir "), calls.find("rm -rf ")
        assert 0 <= made < removed
        folder = re.split(r"[\s\"\\]", calls[made:])[1]
        assert calls[removed:].startswith(f"rm -rf {folder}")


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
        assert re.search(r"tests?/|checks/", command)


@pytest.mark.parametrize(
    "variant", ["protected_folder_read", "explanation_only", "plan_mode_kept", "one_sentence", "plain_question"]
)
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
            file = next(
                file for file in ("docs/findings.md", "notes/limits.md", "docs/review.md") if file in _told(case)
            )
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


WAITS = ("plan_shown_first", "constraint_lifted", "scope_widened_later", "question_becomes_task")


@pytest.mark.parametrize("variant", ["plan_skipped", *WAITS])
def test_the_user_speaks_again_before_an_edit_that_waits_for_it(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        begun = next(index for index, step in enumerate(steps) if step.role == "agent")
        last_edit = max(index for index, step in enumerate(steps) if _edits(step))
        assert any(step.role == "user" for step in steps[begun:last_edit]) == (variant in WAITS)


def test_a_commit_comes_after_the_turn_that_allows_it(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["commit_allowed_later"]:
        steps = case.trajectory.steps
        allowed = next(index for index, step in enumerate(steps) if _is_worded(step.text, "withdraw_no_commit"))
        commits = [index for index, step in enumerate(steps) if "git commit" in _call(step).decode()]
        assert commits
        assert min(commits) > allowed


def test_pages_are_all_different(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["paging"]:
        pages = [step for step in case.trajectory.steps if "handbook" in _call(step).decode()]
        assert len(pages) >= 5
        assert len({_call(step) for step in pages}) == len({step.results[0].text for step in pages}) == len(pages)


def test_what_is_awaited_comes_in_the_end(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["polling"]:
        polls = [step.results[0].text for step in case.trajectory.steps if "ci status" in _call(step).decode()]
        assert len(polls) >= 5
        assert _is_worded(polls[-1], "job_done")
        assert not any(_is_worded(text, "job_done") for text in polls[:-1])
        assert all(_is_worded(text, "job_waits", "job_progress") for text in polls[:-1])


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
                if _is_worded(result.text, "unknown_tool", "missing_argument", "invalid_argument", "edit_not_found")
            ]
            assert len(broken) <= 1
            assert len(refused) <= 1
