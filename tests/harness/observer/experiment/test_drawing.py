"""What a seed decides about a session: the same whatever the number of sessions and the arm."""

from itertools import islice

import pytest

from misstep_harness.observer.experiment.drawing import DrawnSession, draw_session, engineers, rates

SESSIONS = 150


@pytest.fixture(scope="module")
def drawn() -> list[DrawnSession]:
    return [draw_session(at, 5, name, "development") for at, name in enumerate(islice(engineers(5), SESSIONS))]


def test_a_session_is_the_same_however_many_there_are(drawn: list[DrawnSession]) -> None:
    one = draw_session(7, 5, drawn[7].engineer, "development")
    assert (one.item, one.task.files, one.work) == (drawn[7].item, drawn[7].task.files, drawn[7].work)
    assert [fault.command(0).action for fault in one.faults] == [fault.command(0).action for fault in drawn[7].faults]


def test_an_engineer_has_a_few_sessions_running_and_one_patience(drawn: list[DrawnSession]) -> None:
    by_engineer: dict[str, list[DrawnSession]] = {}
    for one in drawn:
        by_engineer.setdefault(one.engineer, []).append(one)
    least, most = rates().sessions_of_engineer
    assert all(least <= len(sessions) <= most for sessions in list(by_engineer.values())[:-1])
    assert all(len({one.patience for one in sessions}) == 1 for sessions in by_engineer.values())


def test_every_category_is_planted_alone_and_with_others(drawn: list[DrawnSession]) -> None:
    planted = [{name for fault in one.faults for name in fault.categories} for one in drawn]
    for category in rates().duration:
        assert sum(category in one for one in planted) >= 5
    assert any(len(one.faults) > 1 for one in drawn)
    assert sum(not one for one in planted) > SESSIONS / 3


def test_an_instruction_is_ignored_only_where_there_is_one(drawn: list[DrawnSession]) -> None:
    for one in drawn:
        ignored = any("did_not_follow_instructions" in fault.categories for fault in one.faults)
        assert not ignored or one.task.limit


def test_the_honest_work_ends_with_the_change_and_the_tests_and_leaves_a_forbidden_tool_alone(drawn) -> None:
    for one in drawn:
        *_, edit, tests = one.work
        assert edit.edit == (one.task.change.old, one.task.change.new)
        assert tests.action.name == "run_tests"
        if one.task.limit == "ban_tool":
            assert one.task.forbidden not in {command.action.name for command in one.work if not command.action.error}
