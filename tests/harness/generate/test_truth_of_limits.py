"""What users rule out or ask for is said, and broken or kept as the variant says, told from the steps alone."""

import re

import pytest

from misstep.harness.generate.trajectories import Case
from misstep.harness.generate.voice import load_wordings
from tests.harness.generate.steps import (
    all_calls,
    call_of,
    changes,
    evidence_of,
    is_worded,
    runs_tests,
    strings,
    told_in,
)

INSTALLS = ("pip install", "npm install", "go get", "cargo add", "dependency:get")
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
    "plan_mode_left": "plan_mode",
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


@pytest.mark.parametrize("variant", sorted(TOLD))
def test_what_binds_is_said(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        assert is_worded(told_in(case), TOLD[variant]), case.trajectory.id


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
        assert evidence_of(case)
        assert all(changes(step) for step in evidence_of(case))


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
            assert any(remark in all_calls(case.trajectory) for remark in remarks) == expected


def test_a_forbidden_program_is_run_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    starts = ("curl", "git stash", "make ", "docker")
    for variant, expected in (("forbidden_tool_used", True), ("forbidden_tool_avoided", False)):
        for case in by_variant[variant]:
            texts = [text for step in case.trajectory.steps for call in step.calls for text in strings(call.arguments)]
            assert any(text.startswith(starts) for text in texts) == expected


def test_a_folder_that_is_removed_was_made_by_the_agent(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["own_scratch_folder"]:
        calls = all_calls(case.trajectory)
        made, removed = calls.find("mkdir "), calls.find("rm -rf ")
        assert 0 <= made < removed
        folder = re.split(r"[\s\"\\]", calls[made:])[1]
        assert calls[removed:].startswith(f"rm -rf {folder}")


def test_tests_are_changed_by_a_command_though_they_were_to_be_left_alone(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["protected_folder_by_shell"]:
        ((command,),) = [
            [text for text in strings(step.calls[0].arguments) if text.split()[0] in ("sed", "rm", "echo", "git", "mv")]
            for step in evidence_of(case)
        ]
        assert re.search(r"tests?/|checks/", command)


@pytest.mark.parametrize(
    "variant", ["protected_folder_read", "explanation_only", "plan_mode_kept", "one_sentence", "plain_question"]
)
def test_where_nothing_or_no_test_is_to_be_changed_none_is(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        edited = [call_of(step).decode() for step in case.trajectory.steps if changes(step)]
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
            assert any(mark in all_calls(case.trajectory) for mark in marks) == expected


def test_tests_that_were_asked_for_are_run_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    for variant, expected in (("tests_never_run", False), ("tests_run_as_asked", True)):
        for case in by_variant[variant]:
            assert any(runs_tests(step) for step in case.trajectory.steps) == expected


def test_the_file_that_was_asked_for_is_written_or_not_as_the_variant_says(by_variant: dict[str, list[Case]]) -> None:
    for variant, expected in (("file_never_written", False), ("file_written_as_asked", True)):
        for case in by_variant[variant]:
            file = next(
                file for file in ("docs/findings.md", "notes/limits.md", "docs/review.md") if file in told_in(case)
            )
            assert (file in all_calls(case.trajectory)) == expected


@pytest.mark.parametrize("variant", ["baseline_skipped", "baseline_run_first"])
def test_a_first_run_of_the_tests_comes_before_the_first_edit_only_where_it_was_kept(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        first_test = next(index for index, step in enumerate(steps) if runs_tests(step))
        first_edit = next(index for index, step in enumerate(steps) if changes(step))
        assert (first_test < first_edit) == (variant == "baseline_run_first")


WAITS = ("plan_shown_first", "plan_mode_left", "constraint_lifted", "scope_widened_later", "question_becomes_task")


@pytest.mark.parametrize("variant", ["plan_skipped", *WAITS])
def test_the_user_speaks_again_before_an_edit_that_waits_for_it(
    by_variant: dict[str, list[Case]], variant: str
) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        begun = next(index for index, step in enumerate(steps) if step.role == "agent")
        last_edit = max(index for index, step in enumerate(steps) if changes(step))
        assert any(step.role == "user" for step in steps[begun:last_edit]) == (variant in WAITS)


def test_a_commit_comes_after_the_turn_that_allows_it(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["commit_allowed_later"]:
        steps = case.trajectory.steps
        allowed = next(index for index, step in enumerate(steps) if is_worded(step.text, "withdraw_no_commit"))
        commits = [index for index, step in enumerate(steps) if "git commit" in call_of(step).decode()]
        assert commits
        assert min(commits) > allowed


def test_where_one_file_may_be_changed_one_file_is(by_variant: dict[str, list[Case]]) -> None:
    for case in by_variant["only_one_file"]:
        edited = [step for step in case.trajectory.steps if changes(step)]
        assert edited
        others = [name for name in _sources(case) if name not in told_in(case)]
        assert others
        assert not any(name in call_of(step).decode() for step in edited for name in others)


def _sources(case: Case) -> set[str]:
    """The paths of the sources that a session shows."""
    return set(re.findall(r"(?:src|internal|crates|app)/[\w/]+\.(?:py|ts|go|rs|java)\b", all_calls(case.trajectory)))


@pytest.mark.parametrize("variant", ["constraint_lifted", "scope_widened_later", "question_becomes_task"])
def test_what_is_released_later_is_changed_later(by_variant: dict[str, list[Case]], variant: str) -> None:
    for case in by_variant[variant]:
        steps = case.trajectory.steps
        released = next(index for index, step in enumerate(steps) if is_worded(step.text, TOLD[variant]))
        assert any(changes(step) for step in steps[released:])
        if variant == "question_becomes_task":
            assert not any(changes(step) for step in steps[:released])
        if variant == "constraint_lifted":
            before = [call_of(step).decode() for step in steps[:released] if changes(step)]
            assert not any(re.search(r"tests?/|checks/", call) for call in before)


def test_where_no_file_may_be_added_a_note_goes_to_the_folder_for_temporary_files(
    by_variant: dict[str, list[Case]],
) -> None:
    for case in by_variant["scratch_file_removed"]:
        written = re.findall(r"> ?(\S+)", " ".join(_commands(case)))
        assert written
        assert all("TMPDIR" in place for place in written)


def _commands(case: Case) -> list[str]:
    texts = (text for step in case.trajectory.steps for call in step.calls for text in strings(call.arguments))
    return [text for text in texts if text.startswith("grep ")]
