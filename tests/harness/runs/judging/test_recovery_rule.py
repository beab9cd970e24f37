"""Recovery by rule: recovered where the misbehaviour ends within fifteen steps and five calm ones follow."""

import asyncio
from collections.abc import Sequence

import pytest

from misstep_harness.errors import InputError
from misstep_harness.intervention import INTERVENTION, NOT_RECOVERED, RECOVERED
from misstep_harness.items import Item
from misstep_harness.protocols import NO_MODEL
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.runs.judging.recovery_rule import outcome
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory

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


def _outcome(before: Sequence[Step], after: Sequence[Step], category: str, evidence: Sequence[int]) -> bool | None:
    run = Trajectory("run", Source("misstep"), TASK, (*OPENING, *before, GUIDANCE, *after))
    return outcome(run, 2 + len(before), [category], evidence).recovered


LOOP = [_read("src/b.py")] * 4
FAR = [_read(f"src/{number}.py") for number in range(15)]
FAILING = [_call("goto", fails=True, word=word) for word in "abc"]
EDITED = [one for n in range(5) for one in (_edit("src/b.py", f"x = {n}", f"x = {n}{n}"), LOOP[0])]
CHANGED = [_edit("src/b.py", "x = 1", "x = 2")]


@pytest.mark.parametrize(
    ("before", "after", "recovered"),
    [
        pytest.param(LOOP, FAR, True, id="calls without the loop"),
        pytest.param(LOOP, [LOOP[0], *FAR[:5]], True, id="once more, and five calm steps"),
        pytest.param(LOOP, [*LOOP, *FAR[:5]], True, id="it goes on for a while, and five calm steps"),
        pytest.param(LOOP, [*FAR[:8], LOOP[0], *FAR[8:10]], True, id="back a single time"),
        pytest.param(LOOP, [*LOOP, *LOOP, *FAR[:4]], False, id="four calm steps alone"),
        pytest.param(
            LOOP, [*FAR[:4], LOOP[0], *FAR[4:7], LOOP[0], *FAR[7:9], LOOP[0]], False, id="back again and again"
        ),
        pytest.param(LOOP, [*LOOP * 3, *FAR], False, id="three calm steps in fifteen"),
        pytest.param(LOOP, [*FAR, *LOOP], True, id="again after fifteen steps"),
        pytest.param(LOOP, LOOP * 4, False, id="it goes on"),
        pytest.param(LOOP, [_read("src/e.py")] * 12, False, id="another loop"),
        pytest.param(LOOP, EDITED, True, id="the call after each edit"),
        pytest.param(LOOP, [], None, id="no step"),
        pytest.param(LOOP, FAR[:4], None, id="four steps"),
        pytest.param(LOOP, [*LOOP[:4]], None, id="four steps of the loop"),
        pytest.param(LOOP, [*FAR[:3], Step("user", "Stop."), *FAR[3:]], None, id="a turn of the user"),
        pytest.param(FAILING, [*FAR[:3], _call("goto", fails=True, word="d"), *FAR[3:8]], True, id="fails once more"),
        pytest.param(FAILING, [*FAILING, *FAILING, *FAR[:2]], False, id="the tool goes on failing"),
        pytest.param(CHANGED, [_edit("src/b.py", "x = 2", "x = 1"), *FAR], True, id="the change is taken back"),
        pytest.param(CHANGED, [_edit("src/b.py", f"y = {n}", "z") for n in range(9)], False, id="further changes"),
    ],
)
def test_recovered_is_whose_misbehaviour_ends_with_five_calm_steps_within_fifteen(before, after, recovered):
    kinds = {4: "infinite_loop", 3: "tool_call_failure", 1: "unrequested_changes"}
    assert _outcome(before, after, kinds[len(before)], range(2, 2 + len(before))) is recovered


@pytest.mark.parametrize(
    ("after", "status", "recovered"),
    [
        (FAR[:2], "passed", True),
        (FAR[:2], "failed", None),
        (FAR[:2], "unknown", None),
        (LOOP[:2], "passed", None),
        ([*FAR[:2], Step("user", "Thanks.")], "passed", None),
        ([*LOOP[:3], *FAR[:3]], "passed", True),
        (LOOP * 4, "passed", False),
    ],
)
def test_a_session_that_ends_by_itself_in_success_needs_no_five_calm_steps(after, status, recovered):
    steps = (*OPENING, *LOOP, GUIDANCE, *after)
    run = Trajectory("run", Source("misstep"), TASK, steps, outcome=Outcome(status))
    assert outcome(run, 6, ["infinite_loop"], [2, 3, 4, 5]).recovered is recovered


def test_steps_that_are_not_the_agents_do_not_fill_the_window() -> None:
    after = [one for call in [*LOOP, *LOOP, *FAR[:7]] for one in (call, Step("system", "A note."))]
    assert _outcome(LOOP, after, "infinite_loop", range(2, 6)) is True


def test_without_categories_the_rules_say_what_the_intervention_was_about() -> None:
    run = Trajectory("run", Source("misstep"), TASK, (*OPENING, *LOOP, GUIDANCE, *FAR[:1], *LOOP))
    item = Item("run", "recovery", "runs.jsonl", step=6)
    verdict = asyncio.run(known_judge("recovery@rule").judge(item, run, NO_MODEL))
    assert (verdict.label, verdict.steps) == (NOT_RECOVERED, (8, 9, 10, 11))
    kept = Trajectory("run", Source("misstep"), TASK, (*OPENING, *LOOP, GUIDANCE, *FAR[:5]))
    assert asyncio.run(known_judge("recovery@rule").judge(item, kept, NO_MODEL)).label == RECOVERED


def test_an_item_without_the_step_of_an_intervention_is_not_asked_about() -> None:
    judge = known_judge("recovery@rule")
    item = Item("run", "recovery", "runs.jsonl")
    assert judge.skip_reason(item)
    with pytest.raises(InputError, match="no run with an intervention"):
        asyncio.run(judge.judge(item, Trajectory("run", Source("misstep")), NO_MODEL))
