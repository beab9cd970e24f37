"""Recovery by rule: recovered only where the misbehaviour does not come back and a new call works."""

import asyncio
from collections.abc import Sequence

import pytest

from misstep.harness.errors import InputError
from misstep.harness.items import Item
from misstep.harness.no_model import NO_MODEL
from misstep.harness.records.intervention import INTERVENTION
from misstep.harness.runs.judging.known_judges import known_judge
from misstep.harness.runs.judging.recovery_rule import NOT_RECOVERED, RECOVERED, outcome
from misstep.harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

TASK = "Set the limit in src/a.py to 5. Only edit src/a.py."
OPENING = (Step("system", "You are an agent."), Step("user", TASK))
GUIDANCE = Step("system", "Stop that.", extra={INTERVENTION: 0})


def _call(name: str, *, fails: bool = False, answer: str = "1 line", **arguments: str) -> Step:
    said = f"There is no command {name!r}." if fails else answer
    return Step("agent", calls=(ToolCall(name, dict(arguments)),), results=(ToolResult(said, fails),))


def _read(path: str) -> Step:
    return _call("read_file", file_path=path)


def _edit(path: str, old: str, new: str) -> Step:
    return _call("edit", file_path=path, old_string=old, new_string=new, answer=f"{path} changed")


def _outcome(before: Sequence[Step], after: Sequence[Step], category: str, evidence: Sequence[int]) -> bool:
    run = Trajectory("run", Source("misstep"), TASK, (*OPENING, *before, GUIDANCE, *after))
    return outcome(run, 2 + len(before), [category], evidence).recovered


LOOP = [_read("src/b.py")] * 4
NEW = [_read("src/c.py"), _read("src/d.py"), _call("run_tests")]


def test_an_agent_that_goes_on_to_new_calls_that_work_has_recovered() -> None:
    assert _outcome(LOOP, NEW, "infinite_loop", [2, 3, 4, 5])


def test_a_call_of_the_loop_that_is_made_again_is_no_recovery() -> None:
    assert not _outcome(LOOP, [*NEW, _read("src/b.py")], "infinite_loop", [2, 3, 4, 5])


def test_what_lies_further_than_fifteen_steps_behind_is_not_looked_at() -> None:
    after = [_read(f"src/{number}.py") for number in range(15)]
    assert _outcome(LOOP, [*after, _read("src/b.py")], "infinite_loop", [2, 3, 4, 5])
    assert not _outcome(LOOP, [*after[1:], _read("src/b.py")], "infinite_loop", [2, 3, 4, 5])


@pytest.mark.parametrize("after", [[], [_call("exit", summary="Done.")], [_read("src/c.py")]])
def test_without_enough_steps_there_is_no_recovery(after: list[Step]) -> None:
    assert not _outcome(LOOP, after, "infinite_loop", [2, 3, 4, 5])


def test_old_calls_and_calls_that_fail_are_no_progress() -> None:
    after = [_read("src/a.py"), _call("open_tab", fails=True, path="x")]
    assert not _outcome([_read("src/a.py"), *LOOP], after, "infinite_loop", [3, 4, 5, 6])


def test_a_tool_that_fails_again_is_no_recovery_and_one_failure_of_another_is_one() -> None:
    failing = [_call("goto", fails=True, word=word) for word in "abc"]
    assert not _outcome(failing, [*NEW, _call("goto", fails=True, word="d")], "tool_call_failure", [2, 3, 4])
    assert _outcome(failing, [*NEW, _call("jump", fails=True, word="d")], "tool_call_failure", [2, 3, 4])


def test_a_further_change_that_was_ruled_out_is_no_recovery_and_taking_one_back_is_none() -> None:
    made = [_edit("src/b.py", "x = 1", "x = 2")]
    assert _outcome(made, [_edit("src/b.py", "x = 2", "x = 1"), *NEW], "unrequested_changes", [2])
    assert not _outcome(made, [*NEW, _edit("src/b.py", "y = 1", "y = 2")], "unrequested_changes", [2])


def test_what_an_agent_does_after_a_turn_of_the_user_says_nothing() -> None:
    assert not _outcome(LOOP, [Step("user", "Stop."), *NEW], "infinite_loop", [2, 3, 4, 5])


def test_without_categories_the_rules_say_what_the_intervention_was_about() -> None:
    run = Trajectory("run", Source("misstep"), TASK, (*OPENING, *LOOP, GUIDANCE, *NEW, _read("src/b.py")))
    item = Item("run", "recovery", "runs.jsonl", step=6)
    verdict = asyncio.run(known_judge("recovery@rule").judge(item, run, NO_MODEL))
    assert (verdict.label, verdict.steps) == (NOT_RECOVERED, (10,))
    kept = Trajectory("run", Source("misstep"), TASK, (*OPENING, *LOOP, GUIDANCE, *NEW))
    assert asyncio.run(known_judge("recovery@rule").judge(item, kept, NO_MODEL)).label == RECOVERED


def test_an_item_without_the_step_of_an_intervention_is_not_asked_about() -> None:
    judge = known_judge("recovery@rule")
    item = Item("run", "recovery", "runs.jsonl")
    assert judge.skip_reason(item)
    with pytest.raises(InputError, match="no run with an intervention"):
        asyncio.run(judge.judge(item, Trajectory("run", Source("misstep")), NO_MODEL))
