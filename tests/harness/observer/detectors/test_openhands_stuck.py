"""OpenHands' stuck detector finds its four documented patterns at their documented numbers, and nothing one short."""

import asyncio

import pytest

from misstep.harness.observer.detectors.openhands_stuck import OpenHandsStuck
from misstep.harness.trajectory import Step
from tests.harness.agent.folders import NoModel
from tests.harness.classifiers.building import bash, run, says, user

_ERROR = bash("make", "no rule", 2)


def _found(*steps: Step) -> tuple[int, ...]:
    feedback = asyncio.run(OpenHandsStuck().detect(run(user("Build it."), *steps), NoModel()))
    return feedback.misbehaviours[0].steps if feedback.found else ()


@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ((bash("ls", "a.py", 0),), 4),
        ((_ERROR,), 3),
        ((says("Let me see."),), 3),
        ((bash("ls", "a.py", 0), bash("pwd", "/", 0)), 3),
    ],
    ids=["same observation", "same error", "monologue", "alternating"],
)
def test_a_pattern_is_found_at_its_documented_number_and_not_one_before(unit: tuple[Step, ...], times: int) -> None:
    whole = unit * times
    assert _found(*whole) == tuple(range(1, len(whole) + 1))
    assert _found(*whole[1:]) == ()


def test_only_what_came_after_the_users_last_message_counts() -> None:
    assert _found(_ERROR, _ERROR, user("Try again."), _ERROR) == ()


def test_the_pattern_has_to_stand_at_the_end() -> None:
    assert _found(_ERROR, _ERROR, _ERROR, bash("ls", "a.py", 0)) == ()


def test_what_the_system_says_is_no_message_of_the_agent() -> None:
    assert _found(*[Step("system", "Time passes.")] * 4) == ()


def test_an_answer_that_differs_is_no_repetition() -> None:
    assert _found(*[bash("git log", f"{number} commits", 0) for number in range(6)]) == ()
