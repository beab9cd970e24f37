"""Run the ReAct loop: a thought and one command, its observation, and so on until `exit` or a limit (section 4).

`extra["ended"]` is `exit`, `iterations`, `seconds`, `tokens` or `stopped`; for the last, `extra["stopped"]` says why.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal

from msgspec import Struct

from misstep_harness.agent.actions import Action, Observation
from misstep_harness.agent.environment import Environment
from misstep_harness.agent.protocols import Observing, Policy, Task, Watcher
from misstep_harness.agent.tools import Place, Tool, carry_out, repair_tools
from misstep_harness.errors import MisstepError
from misstep_harness.prompting import fill, shipped_prompt
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory

Ended = Literal["exit", "iterations", "seconds", "tokens", "stopped"]

PROMPT = "agent/engineering_agent"
_HISTORY_LINES = 20


class AgentLimits(Struct, frozen=True):
    """How many commands a run may take, how many seconds and, where that is bounded, how many tokens in and out."""

    iterations: int = 40
    seconds: float = 900.0
    tokens: int | None = None


class Toolset(Struct, Generic[Place], frozen=True):
    """What an agent is, whatever decides for it.

    - `prompt`: The shipped prompt, with `{commands}` in the part for the system and `{task}` in the other.
    - `before_command`: Is given the run so far before each command.
    """

    agent: str
    prompt: str
    tools: tuple[Tool[Place], ...]
    values: Mapping[str, str] = {}
    before_command: Callable[[Sequence[Step]], None] = lambda steps: None  # noqa: ARG005


class AgentStopped(MisstepError):
    """A policy cannot go on; the run ends and says why."""


async def run_agent(
    task: Task,
    policy: Policy,
    environment: Environment,
    ask: Ask,
    limits: AgentLimits = AgentLimits(),  # noqa: B008 -- frozen
    clock: Callable[[], float] = time.monotonic,
    watcher: Watcher | None = None,
) -> Trajectory:
    """Let a policy repair a program until it exits or meets a limit; see `run_loop`."""

    def remember(steps: Sequence[Step]) -> None:
        environment.history = history_of(steps)

    toolset = Toolset("engineering_agent", PROMPT, repair_tools(environment), before_command=remember)
    return await run_loop(task, policy, environment, toolset, ask, limits, clock, watcher)


async def run_loop(
    task: Task,
    policy: Policy,
    place: Place,
    toolset: Toolset[Place],
    ask: Ask,
    limits: AgentLimits = AgentLimits(),  # noqa: B008 -- frozen
    clock: Callable[[], float] = time.monotonic,
    watcher: Watcher | None = None,
) -> Trajectory:
    """Let a policy work on a task with a toolset until a command ends the run or a limit is met."""
    start = clock()
    steps = list(opening(task, toolset))
    ended: Ended = "iterations"
    extra = {"prompt": shipped_prompt(toolset.prompt).label}
    try:
        for _ in range(limits.iterations):
            left = max(limits.seconds - (clock() - start), 0)
            if over := await _one_turn(task, policy, place, toolset, ask, steps, left, clock):
                ended = over
                break
            if limits.tokens is not None and tokens_of(steps) >= limits.tokens:
                ended = "tokens"
                break
            if watcher is not None:
                if (guidance := watcher.after_action(steps)) is not None:
                    steps.append(guidance)
                await asyncio.sleep(0)  # a policy that never waits would keep the watcher from its work
    except AgentStopped as error:
        ended, extra["stopped"] = "stopped", error.line()
    finally:
        if watcher is not None:
            await watcher.end(steps)
    agent = f"{toolset.agent}/{policy.name}"
    return Trajectory(task.id, Source("misstep"), task.text, tuple(steps), agent=agent, extra={"ended": ended, **extra})


async def _one_turn(
    task: Task,
    policy: Policy,
    place: Place,
    toolset: Toolset[Place],
    ask: Ask,
    steps: list[Step],
    left: float,
    clock: Callable[[], float],
) -> Ended | None:
    began = clock()
    action: Action | None = None
    try:
        async with asyncio.timeout(left):
            action = await policy.act(task, steps, ask)
            toolset.before_command(steps)
            observation = await carry_out(action, place, toolset.tools)
    except TimeoutError:
        if action is not None:
            steps.append(_step(action, Observation("The time limit was met.", is_error=True), clock() - began))
        return "seconds"
    steps.append(_step(action, observation, clock() - began))
    if isinstance(policy, Observing):
        policy.observed(observation)
    return "exit" if observation.ends else None


def opening(task: Task, toolset: Toolset[Place]) -> tuple[Step, Step]:
    """Return the two prompts that every run begins with: the system's with the commands, and the task."""
    prompt = shipped_prompt(toolset.prompt)
    commands = "\n".join(f"{tool.usage}\n    {tool.purpose}" for tool in toolset.tools)
    system = fill(prompt.system, {**toolset.values, "commands": commands})
    return Step("system", system), Step("user", fill(prompt.user, {**toolset.values, "task": task.text}))


def tokens_of(steps: Sequence[Step]) -> int:
    """Return the tokens in and out of a run's steps, as far as they are known."""
    counted = (step.tokens for step in steps if step.tokens is not None)
    return sum((tokens.prompt or 0) + (tokens.completion or 0) for tokens in counted)


def history_of(steps: Sequence[Step]) -> str:
    """A summary of the run for the patching sub-agent: the thoughts, commands and first lines of what they gave."""
    lines: list[str] = []
    for step in steps[2:]:
        if step.role != "agent":
            continue
        if step.text:
            lines.append(f"Thought: {_first_line(step.text)}")
        for call, result in zip(step.calls, step.results, strict=False):
            arguments = call.arguments
            if not isinstance(arguments, str):
                arguments = " ".join(f"{name}={_first_line(str(value))!r}" for name, value in arguments.items())
            lines.append(f"Command: {call.name} {arguments}".rstrip())
            lines.append(f"Observation: {_first_line(result.text)}")
    return "\n".join(lines[-_HISTORY_LINES * 3 :])


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 200 else f"{line[:200]}…"


def _step(action: Action, observation: Observation, seconds: float) -> Step:
    call = (
        ToolCall(action.name or "unreadable", action.command, parse_error=action.error)
        if action.error
        else ToolCall(action.name, dict(action.arguments))
    )
    result = ToolResult(observation.text, is_error=observation.is_error)
    return Step("agent", action.thought, calls=(call,), results=(result,), seconds=seconds, tokens=action.tokens)
