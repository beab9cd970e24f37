"""An agent that works, slips as it was planted, and heeds guidance as its seed says."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from misstep.harness.agent.actions import Action
from misstep.harness.agent.loop import AgentStopped
from misstep.harness.agent.policies.wayward import Slip, WaywardCommand, WaywardPolicy
from misstep.harness.agent.protocols import PatchRequest, Task
from misstep.harness.records.intervention import INTERVENTION
from misstep.harness.records.live_session import Heeds
from misstep.harness.trajectory import Step
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


def test_a_slip_begins_at_its_onset_and_ends_by_itself_after_its_duration() -> None:
    names, policy = _run([_slip(lasts=3)])
    assert names[:6] == ["work 0", "work 1", "infinite_loop 0", "infinite_loop 1", "infinite_loop 2", "work 2"]
    (episode,) = policy.episodes
    assert (episode.onset, episode.last, episode.ended, episode.would_last) == (4, 6, "itself", 3)


def test_a_slip_without_end_lasts_until_the_session_is_over() -> None:
    names, policy = _run([_slip()], most=12)
    assert names[-1] == "infinite_loop 9"
    (episode,) = policy.episodes
    assert (episode.onset, episode.last, episode.ended, episode.would_last) == (4, 13, "session", None)


def test_two_slips_at_once_take_turns() -> None:
    names, policy = _run([_slip(lasts=2), _slip("tool_call_failure", lasts=2)])
    assert names[2:6] == ["infinite_loop 0", "tool_call_failure 0", "infinite_loop 1", "tool_call_failure 1"]
    assert [episode.category for episode in policy.episodes] == ["infinite_loop", "tool_call_failure"]


def test_an_agent_that_follows_stops_takes_back_what_it_did_and_goes_on_with_its_work() -> None:
    names, policy = _run([_slip()], {4: _guidance("infinite_loop")})
    assert names[4:8] == ["infinite_loop 2", "undo 3", "work 2", "work 3"]
    assert policy.episodes[0].ended == "guidance"


def test_guidance_about_another_category_stops_nothing_and_costs_a_look() -> None:
    names, policy = _run([_slip(lasts=5)], {4: _guidance("tool_call_failure")})
    assert names[5:8] == ["look", "infinite_loop 3", "infinite_loop 4"]
    assert policy.episodes[0].ended == "itself"


def test_an_agent_that_ignores_guidance_goes_on_and_gives_up_when_it_has_been_told_three_times() -> None:
    told = {number: _guidance("infinite_loop") for number in (4, 7, 10)}
    names, policy = _run([_slip()], told, "ignores")
    assert names[5:11] == [f"infinite_loop {number}" for number in range(3, 9)]
    assert names[11:] == ["exit"]
    assert policy.episodes[0].ended == "session"


def test_an_agent_that_heeds_by_half_falls_back_once_and_stops_at_the_second_word() -> None:
    names, policy = _run([_slip()], {4: _guidance("infinite_loop"), 9: _guidance("infinite_loop")}, "half")
    assert names[5:8] == ["work 2", "work 3", "infinite_loop 3"]
    assert names[10:12] == ["undo 6", "work 4"]
    assert [(one.ended, one.relapse) for one in policy.episodes] == [("guidance", False), ("guidance", True)]


def test_what_falls_back_has_only_the_rest_of_its_duration_left() -> None:
    _, policy = _run([_slip(lasts=5)], {4: _guidance("infinite_loop")}, "half")
    assert [(one.would_last, one.ended) for one in policy.episodes] == [(5, "guidance"), (2, "itself")]


@pytest.mark.parametrize("heeds", ["follows", "half", "ignores"])
def test_a_turn_of_the_user_ends_every_misbehaviour(heeds: Heeds) -> None:
    _, policy = _run([_slip()], {4: Step("user", "Stop that.")}, heeds)
    assert [one.ended for one in policy.episodes] == ["engineer"]


def test_an_edit_is_written_as_the_command_that_is_being_carried_out_means_it() -> None:
    edit = WaywardCommand(Action("edit", {"file_path": "a.py", "instructions": "two"}), ("one = 1", "one = 2"))
    policy = WaywardPolicy([edit])
    asyncio.run(policy.act(TASK, OPENING, NoModel()))
    text = asyncio.run(policy.patch(PatchRequest("a.py", "one = 1\n", "two"), NoModel()))
    assert text.splitlines() == ["a.py", "<<<<<<< SEARCH", "one = 1", "=======", "one = 2", ">>>>>>> REPLACE"]


def test_without_work_there_is_nothing_to_do() -> None:
    with pytest.raises(AgentStopped):
        WaywardPolicy([])
