"""The ReAct loop: one command at a time, until exit or a limit; the whole run is a trajectory."""

import asyncio
from collections.abc import Sequence

import msgspec

from misstep_harness.agent.actions import Action, read_command
from misstep_harness.agent.loop import AgentLimits, AgentStopped, history_of, run_agent
from misstep_harness.agent.protocols import Task
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step, Tokens, Trajectory
from misstep_harness.workspace.suite.report import SuiteReport
from tests.harness.agent.folders import NoModel, environment

TASK = Task("case-1", "1 failure:\n1) test_total\nassert 1 == 2")
FILES = {"a.py": "one = 1\n"}


class Scripted:
    """Enters the given commands, and stops behind the last."""

    name = "scripted"

    def __init__(self, *commands: str) -> None:
        self.commands = list(commands)
        self.seen: list[int] = []

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        self.seen.append(len(steps))
        if not self.commands:
            raise AgentStopped("nothing more to do")
        return msgspec.structs.replace(read_command(self.commands.pop(0)), thought="I look.")


def _run(*commands: str, iterations: int = 40, reports: Sequence[SuiteReport] | None = None) -> Trajectory:
    place = environment(FILES, "one => two", reports=reports)
    return asyncio.run(run_agent(TASK, Scripted(*commands), place, NoModel(), AgentLimits(iterations)))


def test_a_run_is_a_trajectory_of_prompts_commands_and_observations() -> None:
    run = _run("read_file file_path='a.py'", "edit file_path='a.py' instructions='rename'", "exit summary='renamed'")
    assert [step.role for step in run.steps] == ["system", "user", "agent", "agent", "agent"]
    assert TASK.text in run.steps[1].text
    done = [step for step in run.steps if step.calls]
    assert [(step.calls[0].name, step.results[0].is_error) for step in done] == [
        ("read_file", False),
        ("edit", False),
        ("exit", False),
    ]
    assert run.steps[2].text == "I look."
    assert run.extra["ended"] == "exit"
    assert run.outcome.status == "unknown"


def test_a_malformed_command_is_explained_and_is_a_failed_tool_call() -> None:
    run = _run("read_file 'a.py'", "exit summary=''")
    call, result = run.steps[2].calls[0], run.steps[2].results[0]
    assert call.parse_error
    assert call.arguments == "read_file 'a.py'"
    assert result.is_error
    assert "keyword argument" in result.text
    assert run.extra["ended"] == "exit"


def test_a_run_ends_with_its_number_of_commands_or_the_reason_of_a_policy_that_cannot_go_on() -> None:
    run = _run(*["read_file file_path='a.py'"] * 9, iterations=4)
    assert (run.extra["ended"], sum(step.role == "agent" for step in run.steps)) == ("iterations", 4)
    run = _run("read_file file_path='a.py'")
    assert (run.extra["ended"], run.extra["stopped"]) == ("stopped", "nothing more to do")


def test_the_seconds_are_limited_even_where_a_policy_never_answers() -> None:
    class Stalled(Scripted):
        async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:
            if self.commands:
                return await super().act(task, steps, ask)
            await asyncio.Event().wait()
            raise AssertionError

    place = environment(FILES)
    run = asyncio.run(run_agent(TASK, Stalled("run_tests"), place, NoModel(), AgentLimits(seconds=0.05)))
    assert run.extra["ended"] == "seconds"
    assert [call.name for step in run.steps for call in step.calls] == ["run_tests"]


def test_tests_are_offered_only_where_the_setting_has_them() -> None:
    without = _run("run_tests", "exit summary=''")
    assert "run_tests" not in without.steps[0].text
    assert "There is no command 'run_tests'" in without.steps[2].results[0].text
    having = _run("run_tests", "exit summary=''", reports=[SuiteReport(passed=True, ran=1)])
    assert "run_tests" in having.steps[0].text
    assert having.steps[2].results[0].text == "All tests passed"


def test_the_patching_sub_agent_is_given_the_run_in_short() -> None:
    run = _run("read_file file_path='a.py'", "search_code code_str='nowhere'", "exit summary='x'")
    assert history_of(list(run.steps[:-1])).splitlines() == [
        "Thought: I look.",
        "Command: read_file file_path='a.py'",
        "Observation: 1 one = 1",
        "Thought: I look.",
        "Command: search_code code_str='nowhere'",
        "Observation: 'nowhere' is nowhere in the code.",
    ]
    steps = [Step("system"), Step("user"), Step("agent", "I look."), Step("system", "Stop.")]
    assert history_of(steps) == "Thought: I look.", "it does not hear what a watcher says"


class Nagging:
    """Says something behind every second command."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.ended_with = 0

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        self.seen.append(len(steps))
        return Step("system", "Stop.") if len(self.seen) % 2 == 0 else None

    async def end(self, steps: Sequence[Step]) -> None:
        self.ended_with = len(steps)


def test_what_a_watcher_says_stands_behind_the_command_and_is_no_iteration() -> None:
    watcher = Nagging()
    policy = Scripted(*["read_file file_path='a.py'"] * 4)
    place = environment(FILES)
    run = asyncio.run(run_agent(TASK, policy, place, NoModel(), AgentLimits(4), watcher=watcher))
    assert [step.role for step in run.steps[2:]] == ["agent", "agent", "system", "agent", "agent", "system"]
    assert policy.seen == [2, 3, 5, 6]
    assert watcher.seen == [3, 4, 6, 7]
    assert watcher.ended_with == len(run.steps) == 8
    assert run.extra["ended"] == "iterations"


def test_a_run_ends_when_its_tokens_are_used_up() -> None:
    class Talks(Scripted):
        async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:
            return msgspec.structs.replace(await super().act(task, steps, ask), tokens=Tokens(90, 10))

    commands = ["read_file file_path='a.py'"] * 5
    limits = AgentLimits(5, tokens=150)
    run = asyncio.run(run_agent(TASK, Talks(*commands), environment(FILES), NoModel(), limits))
    assert run.extra["ended"] == "tokens"
    assert sum(step.role == "agent" for step in run.steps) == 2
