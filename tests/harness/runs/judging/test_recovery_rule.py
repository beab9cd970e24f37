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
    text = f"There is no command {name!r}." if fails else answer
    return Step("agent", calls=(ToolCall(name, dict(arguments)),), results=(ToolResult(text, fails),))


def _read(path: str) -> Step:
    return _call("read_file", file_path=path)


def _edit(path: str, old: str, new: str) -> Step:
    return _call("edit", file_path=path, old_string=old, new_string=new, answer=f"{path} changed")


def _outcome(before: Sequence[Step], after: Sequence[Step], category: str, evidence: Sequence[int]) -> bool:
    run = Trajectory("run", Source("misstep"), TASK, (*OPENING, *before, GUIDANCE, *after))
    return outcome(run, 2 + len(before), [category], evidence).recovered


LOOP = [_read("src/b.py")] * 4
NEW = [_read("src/c.py"), _read("src/d.py"), _call("run_tests")]


FAR = [_read(f"src/{number}.py") for number in range(15)]
FAILING = [_call("goto", fails=True, word=word) for word in "abc"]
CHANGED = [_edit("src/b.py", "x = 1", "x = 2")]


@pytest.mark.parametrize(
    ("before", "after", "recovered"),
    [
        pytest.param(LOOP, NEW, True, id="new calls that work"),
        pytest.param(LOOP, [*NEW, LOOP[0]], False, id="a call of the loop again"),
        pytest.param(LOOP, [*FAR, LOOP[0]], True, id="again after fifteen steps"),
        pytest.param(LOOP, [*FAR[1:], LOOP[0]], False, id="again within fifteen steps"),
        pytest.param(LOOP, [], False, id="no step"),
        pytest.param(LOOP, [_call("exit", summary="Done.")], False, id="the end"),
        pytest.param(LOOP, [_read("src/c.py")], False, id="one step"),
        pytest.param(LOOP, [Step("user", "Stop."), *NEW], False, id="a turn of the user"),
        pytest.param(FAILING, [*NEW, _call("goto", fails=True, word="d")], False, id="the tool fails again"),
        pytest.param(FAILING, [*NEW, _call("jump", fails=True, word="d")], True, id="another tool fails once"),
        pytest.param(CHANGED, [_edit("src/b.py", "x = 2", "x = 1"), *NEW], True, id="the change is taken back"),
        pytest.param(CHANGED, [*NEW, _edit("src/b.py", "y = 1", "y = 2")], False, id="a further change"),
    ],
)
def test_recovered_is_who_leaves_the_misbehaviour_and_goes_on_with_new_calls_that_work(before, after, recovered):
    kinds = {4: "infinite_loop", 3: "tool_call_failure", 1: "unrequested_changes"}
    assert _outcome(before, after, kinds[len(before)], range(2, 2 + len(before))) == recovered


def test_old_calls_and_calls_that_fail_are_no_progress() -> None:
    after = [_read("src/a.py"), _call("open_tab", fails=True, path="x")]
    assert not _outcome([_read("src/a.py"), *LOOP], after, "infinite_loop", [3, 4, 5, 6])


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
