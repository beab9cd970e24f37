"""An agent that works, slips as it was planted, and heeds guidance as its seed says."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from misstep_harness.agent.actions import Action
from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.policies.wayward import Slip, WaywardCommand, WaywardPolicy
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.intervention import INTERVENTION
from misstep_harness.live_session import Heeds
from misstep_harness.trajectory import Step
from tests.harness.agent.folders import NoModel

OPENING = [Step("system", "You are an agent."), Step("user", "Mend it.")]
TASK = Task("t", "Mend it.")


def _command(name: str) -> WaywardCommand:
    return WaywardCommand(Action(name))


WORK = [_command(f"work {number}") for number in range(6)]


def _slip(category: str = "infinite_loop", onset: int = 2, lasts: int | None = None) -> Slip:
    return Slip(
        (category,), onset, lasts, lambda done: _command(f"{category} {done}"), lambda done: [_command(f"undo {done}")]
    )


def _guidance(category: str) -> Step:
    return Step("system", "…", extra={INTERVENTION: 1, "about": category})


def _run(
    slips: Sequence[Slip], said: Mapping[int, Step] = {}, heeds: Heeds = "follows", most: int = 30
) -> tuple[list[str], WaywardPolicy]:
    """The names of the commands, `said` behind those of its numbers, and the policy."""
    policy = WaywardPolicy(
        WORK, slips, heeds=heeds, understands=lambda step: [step.extra["about"]], relapse_after=2, look=_command("look")
    )
    steps, names = list(OPENING), []
    for number in range(most):
        action = asyncio.run(policy.act(TASK, steps, NoModel()))
        names.append(action.name)
        steps.append(Step("agent", ""))
        if action.name == "exit":
            break
        if number in said:
            steps.append(said[number])
    return names, policy


def test_without_a_slip_the_work_is_done_in_order() -> None:
    names, policy = _run([])
    assert names == [f"work {number}" for number in range(6)] + ["exit"]
    assert policy.episodes == ()


@pytest.mark.parametrize(
    ("lasts", "names", "episode"),
    [
        (3, [*(f"infinite_loop {n}" for n in range(3)), *(f"work {n}" for n in range(2, 6)), "exit"], (4, 6, "itself")),
        (None, [f"infinite_loop {n}" for n in range(10)], (4, 13, "session")),
    ],
)
def test_a_slip_lasts_from_its_onset_as_long_as_it_was_planted(lasts, names, episode) -> None:
    run, policy = _run([_slip(lasts=lasts)], most=12)
    assert run == ["work 0", "work 1", *names]
    assert [(one.onset, one.last, one.ended, one.would_last) for one in policy.episodes] == [(*episode, lasts)]


def test_two_slips_at_once_take_turns() -> None:
    names, policy = _run([_slip(lasts=2), _slip("tool_call_failure", lasts=2)])
    assert names[2:6] == ["infinite_loop 0", "tool_call_failure 0", "infinite_loop 1", "tool_call_failure 1"]
    assert [episode.category for episode in policy.episodes] == ["infinite_loop", "tool_call_failure"]


LOOP = _guidance("infinite_loop")


@pytest.mark.parametrize(
    ("lasts", "guidance", "heeds", "names", "ended"),
    [
        (None, {4: LOOP}, "follows", ["undo 3", "work 2", "work 3"], ["guidance"]),
        (5, {4: _guidance("other")}, "follows", ["look", "infinite_loop 3", "infinite_loop 4"], ["itself"]),
        (None, {4: LOOP, 7: LOOP, 10: LOOP}, "ignores", [*(f"infinite_loop {n}" for n in range(3, 9)), "exit"],
         ["session"]),
        (None, {4: LOOP, 9: LOOP}, "half", ["work 2", "work 3", *(f"infinite_loop {n}" for n in range(3, 6)), "undo 6"],
         ["guidance"] * 2),
        *((None, {4: Step("user", "Stop that.")}, heeds, [], ["engineer"]) for heeds in ("follows", "half", "ignores")),
    ],
)  # fmt: skip
def test_guidance_is_heeded_as_the_agent_is_made(lasts, guidance, heeds, names, ended) -> None:
    run, policy = _run([_slip(lasts=lasts)], guidance, heeds)
    assert run[5 : 5 + len(names)] == names
    assert [(one.ended, one.relapse) for one in policy.episodes] == [(end, at == 1) for at, end in enumerate(ended)]


def test_a_relapse_has_only_the_rest_of_its_duration_left() -> None:
    _, policy = _run([_slip(lasts=5)], {4: LOOP}, "half")
    assert [(one.would_last, one.ended) for one in policy.episodes] == [(5, "guidance"), (2, "itself")]


def test_an_edit_is_written_as_the_command_that_is_being_carried_out_means_it() -> None:
    edit = WaywardCommand(Action("edit", {"file_path": "a.py", "instructions": "two"}), ("one = 1", "one = 2"))
    policy = WaywardPolicy([edit])
    asyncio.run(policy.act(TASK, OPENING, NoModel()))
    text = asyncio.run(policy.patch(PatchRequest("a.py", "one = 1\n", "two"), NoModel()))
    assert text.splitlines() == ["a.py", "<<<<<<< SEARCH", "one = 1", "=======", "one = 2", ">>>>>>> REPLACE"]


def test_without_work_there_is_nothing_to_do() -> None:
    with pytest.raises(AgentStopped):
        WaywardPolicy([])
