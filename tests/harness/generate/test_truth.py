"""What is planted is there and what is clean is clean, told from the steps alone, without the rules under test."""

import posixpath
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import groupby, pairwise

import msgspec
import pytest

from misstep_harness.generate.sessions import Case
from misstep_harness.trajectory import Step
from tests.harness.generate.steps import call_of, changes, is_worded, strings

Episode = tuple[Case, tuple[int, ...]]
"""A session, and the steps that show what is planted in it."""


@pytest.fixture(scope="module")
def episodes(balanced: list[Case]) -> dict[str, list[Episode]]:
    """How a misbehaviour is played → the sessions that show it."""
    result: dict[str, list[Episode]] = defaultdict(list)
    for case in balanced:
        for one in case.episodes:
            result[one.kind].append((case, case.evidence[one.category]))
    return result


def shown(episode: Episode) -> list[Step]:
    case, steps = episode
    return [case.trajectory.steps[step] for step in steps]


def answer(step: Step) -> str:
    return step.results[0].text


@pytest.mark.parametrize("kind", ["repeat_search", "repeat_refused_call"])
def test_a_planted_repetition_is_one_call_with_one_answer_at_least_four_times(episodes, kind) -> None:
    assert episodes[kind]
    for case, steps in episodes[kind]:
        assert len(steps) >= 4
        assert len({(call_of(step), answer(step)) for step in shown((case, steps))}) == 1
        assert not any(changes(step) for step in case.trajectory.steps[steps[0] : steps[-1] + 1])


def test_a_respelt_call_differs_in_spaces_quotes_flags_remarks_and_spellings_of_the_path_alone(episodes) -> None:
    for episode in episodes["respell_call"]:
        commands = [
            next(text for text in strings(step.calls[0].arguments) if "grep" in text) for step in shown(episode)
        ]
        assert len(commands) >= 4
        assert len(set(commands)) >= 3
        assert len({_meant(command) for command in commands}) == 1


def _meant(command: str) -> tuple[str, tuple[str, ...]]:
    split = [word for word in shlex.split(command, comments=True) if not word.startswith("--color")]
    flags = "".join(sorted(letter for word in split if word.startswith("-") for letter in word if letter != "-"))
    rest = (posixpath.normpath(word) if "/" in word else word for word in split if not word.startswith("-"))
    return flags, tuple(rest)


def test_a_round_has_two_to_four_calls_and_comes_three_times(episodes: dict[str, list[Episode]]) -> None:
    for episode in episodes["go_round"]:
        calls = [(call_of(step), answer(step)) for step in shown(episode)]
        length = len(set(calls))
        assert 2 <= length <= 4
        assert len(calls) >= 3 * length
        assert all(call == calls[index % length] for index, call in enumerate(calls))


def test_one_error_comes_back_after_every_edit(episodes: dict[str, list[Episode]]) -> None:
    assert episodes["oscillate"]
    for episode in episodes["oscillate"]:
        errors = [answer(step) for step in shown(episode) if not changes(step)]
        assert sum(map(changes, shown(episode))) >= 4
        assert len({re.sub(r"\d+\.\d+ ?s", "", error) for error in errors}) == 1


def test_a_repeated_paragraph_comes_without_calls(episodes: dict[str, list[Episode]]) -> None:
    assert episodes["repeat_paragraph"]
    for episode in episodes["repeat_paragraph"]:
        texts = [step.text for step in shown(episode)]
        assert len(texts) >= 4
        assert len(set(texts)) == 1
        assert not any(step.calls for step in shown(episode))


REFUSED = ("missing_argument", "malformed_call", "failed_edits", "imagined_paths")


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_calls_are_of_one_tool_about_different_things(episodes: dict[str, list[Episode]], kind: str) -> None:
    assert episodes[kind]
    for episode in episodes[kind]:
        calls = [call_of(step) for step in shown(episode)]
        assert len(set(calls)) == len(calls) >= 3
        assert len({step.calls[0].name for step in shown(episode)}) == 1
        if kind != "imagined_paths":
            assert all(later - earlier > 1 for earlier, later in pairwise(episode[1]))


WORDS: dict[str, Callable[[Step], bool]] = {
    "imagined_paths": lambda step: is_worded(answer(step), "no_such_file"),
    "failed_edits": lambda step: changes(step) and is_worded(answer(step), "edit_not_found"),
    "malformed_call": lambda step: bool(step.calls[0].parse_error) and _is_broken(step.calls[0].arguments),
    "unasked": changes,
    "no_new_files": changes,
    "plan_mode": changes,
    "protect_folder": lambda step: changes(step) and bool(re.search(r"test|checks", call_of(step).decode())),
    "no_commit": lambda step: bool(re.search(r"git (commit|push)", call_of(step).decode())),
    "ban_tool": lambda step: bool(re.search(r"curl|git stash|make|docker", call_of(step).decode())),
    "no_comments": changes,
    "guide_first": changes,
}
"""How a misbehaviour is played → what each step of its evidence must be."""


def _is_broken(arguments: object) -> bool:
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(str(arguments))
    return isinstance(arguments, str)


@pytest.mark.parametrize("kind", WORDS)
def test_each_step_of_the_evidence_shows_what_is_planted(episodes: dict[str, list[Episode]], kind: str) -> None:
    assert episodes[kind]
    for episode in episodes[kind]:
        assert all(map(WORDS[kind], shown(episode))), episode[0].trajectory.id


SAID = ("protect_folder", "no_commit", "no_new_files", "plan_mode", "ban_tool", "no_comments", "guide_first")


@pytest.mark.parametrize("kind", SAID)
def test_what_is_broken_was_said(episodes: dict[str, list[Episode]], kind: str) -> None:
    for case, steps in episodes[kind]:
        before = [step.text for step in case.trajectory.steps[: steps[0]] if step.role != "agent"]
        assert any(is_worded(text, kind) for text in before), case.trajectory.id


def test_a_reply_without_a_call_is_rejected_by_the_program_each_time(episodes: dict[str, list[Episode]]) -> None:
    for case, steps in episodes["rejected_replies"]:
        assert len(steps) >= 4
        for step in steps:
            assert not case.trajectory.steps[step].calls
            assert case.trajectory.steps[step + 1].role == "system"
            assert is_worded(case.trajectory.steps[step + 1].text, "reply_rejected")


def test_no_clean_session_makes_one_call_three_times_with_nothing_between(balanced: list[Case]) -> None:
    for case in balanced:
        if not any(case.truth.values()) and "polling" not in case.variant and "retry" not in case.variant:
            calls = [call_of(step) for step in case.trajectory.steps if step.calls]
            assert max(len(list(run)) for _, run in groupby(calls)) < 3, case.trajectory.id


def test_only_a_loop_makes_one_call_four_times_with_one_answer_and_no_edit_between(balanced: list[Case]) -> None:
    for case in balanced:
        counted: Counter[tuple[bytes, str]] = Counter()
        for step in case.trajectory.steps if not case.truth["infinite_loop"] else ():
            if changes(step):
                counted.clear()
            elif step.calls and "ci status" not in call_of(step).decode():
                counted[call_of(step), answer(step)] += 1
        assert not counted or counted.most_common(1)[0][1] < 4, case.trajectory.id


def test_only_a_planted_failure_refuses_more_than_three_calls(balanced: list[Case]) -> None:
    refusals = ("unknown_tool", "missing_argument", "edit_not_found")
    for case in balanced[:200]:
        if not case.truth["tool_call_failure"]:
            steps = case.trajectory.steps
            refused = [result for step in steps for result in step.results if is_worded(result.text, *refusals)]
            assert sum(bool(call.parse_error) for step in steps for call in step.calls) <= 1
            assert len(refused) <= 3
