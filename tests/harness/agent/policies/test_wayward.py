"""An agent that misbehaves as its plan says."""

import asyncio

import pytest

from harness.agent.loop import AgentStopped, run_agent
from harness.agent.policies.wayward import Act, WaywardPatcher, WaywardPolicy
from harness.agent.protocols import PatchRequest, Task
from harness.trajectory import Trajectory
from tests.harness.agent.folders import NoModel, environment

FILES = {"a.py": "one = 1\n", "b.py": "two = 2\n"}


def _run(*plan: Act, seed: int = 0) -> Trajectory:
    place = environment(FILES, "one => 1", "two => 2")
    return asyncio.run(run_agent(Task("c", "t"), WaywardPolicy(plan, list(FILES), seed), place, NoModel()))


def _calls(run: Trajectory) -> list[tuple[str, str]]:
    return [(call.name, str(call.arguments)) for step in run.steps for call in step.calls]


def test_a_plan_is_carried_out_and_the_run_exits() -> None:
    run = _run(Act("work", 2), Act("repeat", 4))
    calls = _calls(run)
    assert len(set(calls[:2])) == 2
    assert len(set(calls[2:6])) == 1
    assert calls[-1][0] == "exit"
    assert run.extra["ended"] == "exit"


@pytest.mark.parametrize("seed", range(6))
def test_failing_acts_fail_each_time_in_one_way(seed: int) -> None:
    run = _run(Act("fail", 3), seed=seed)
    assert [result.is_error for step in run.steps[:-1] for result in step.results] == [True] * 3
    assert len(set(_calls(run)[:3])) == 1


def test_giving_up_ends_the_run() -> None:
    assert len(_calls(_run(Act("give_up"), Act("work", 3)))) == 1


def test_the_same_seed_gives_the_same_run() -> None:
    plan = (Act("repeat", 2), Act("fail", 2), Act("repeat", 2))
    assert _calls(_run(*plan, seed=3)) == _calls(_run(*plan, seed=3))
    assert len({str(_calls(_run(*plan, seed=seed))) for seed in range(8)}) > 1


def test_without_a_file_there_is_nothing_to_do() -> None:
    with pytest.raises(AgentStopped):
        WaywardPolicy([Act("work")], [])


def test_an_overstepping_edit_is_in_the_search_replace_form() -> None:
    text = asyncio.run(WaywardPatcher().patch(PatchRequest("a.py", "one = 1\ntwo", "tidy"), NoModel()))
    assert text.splitlines()[:3] == ["a.py", "<<<<<<< SEARCH", "one = 1"]
