"""One turn of an agent under a budget that the agent cannot get around.

An agent is given a `Turn` and acts through nothing else: commands, time, sleep, sub-agents. What goes over the budget
is refused, the turn is over at once, and a synthetic reply says what happened. An agent that goes on all the same is
left behind: its turn is closed, and nothing that it asks for is carried out any more.
Source: "Failure Modes in Reflexive Agent Harnesses", failure mode 1.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from harness.agent.actions import Action, Observation
from harness.agent.clocks import Clock
from harness.agent.tools import Tool, carry_out
from harness.errors import MisstepError
from harness.work_item import Resource


class TurnLimits(Struct, frozen=True):
    """What one turn may take; `None` is no limit.

    Parameters
    ----------
    tool_calls
        The commands; one for a worker.
    seconds
        The time on the run's clock.
    sleeping_seconds
        How much of it the agent may sleep.
    sub_agents
        The agents that it may start.
    output_tokens
        The tokens that it may write.
    """

    tool_calls: int | None = 1
    seconds: float | None = 300.0
    sleeping_seconds: float | None = 0.0
    sub_agents: int | None = 0
    output_tokens: int | None = 4_096


class CallMade(Struct, frozen=True):
    """A command that was carried out, and what it gave."""

    name: str
    arguments: Mapping[str, str]
    observation: Observation


class TurnReport(Struct, frozen=True):
    """What one turn came to.

    Parameters
    ----------
    reply
        What the agent said, or the synthetic reply of a turn that went over its budget.
    calls, refused
        The commands that were carried out, and how many were not.
    seconds, slept, sub_agents, tokens_in, tokens_out, usd
        What it took.
    over
        The resource that ran out, if one did.
    error
        What the agent raised, if it did; its turn ends like that.
    """

    reply: str
    calls: tuple[CallMade, ...]
    refused: int
    seconds: float
    slept: float
    sub_agents: int
    tokens_in: int
    tokens_out: int
    usd: float
    over: Resource | None
    error: str = ""


class TurnOver(MisstepError):
    """The budget of a turn is used up; an agent need not catch it, and gains nothing if it does."""


def tokens_in_text(text: str) -> int:
    """The tokens of a text by the rule of thumb of four characters each, at least one where there is any text."""
    return -(-len(text) // 4)


class Turn:
    """What an agent has during one turn; made by `take_turn`.

    Parameters
    ----------
    tools, place
        The commands, and what they act on.
    limits
        What the turn may take.
    clock
        The run's clock.
    """

    def __init__(self, tools: Sequence[Tool[Any]], place: Any, limits: TurnLimits, clock: Clock) -> None:
        self.tools = tuple(tools)
        self.limits = limits
        self._place = place
        self._clock = clock
        self._began = clock.now()
        self._over = asyncio.get_running_loop().create_future()
        self._calls: list[CallMade] = []
        self._refused = 0
        self._slept = 0.0
        self._sub_agents = 0
        self._tokens_in = 0
        self._tokens_out = 0
        self._usd = 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time that is left, `None` for no limit."""
        if self.limits.seconds is None:
            return None
        return max(self.limits.seconds - (self._clock.now() - self._began), 0.0)

    async def call(self, name: str, arguments: Mapping[str, str]) -> Observation:
        """Carry out a command.

        Raises
        ------
        TurnOver
            It is one more than the turn may have, or the turn is over.
        """
        self._refuse_if_over(command=True)
        if self.limits.tool_calls is not None and len(self._calls) >= self.limits.tool_calls:
            self._refused += 1
            await self._end("tool_calls")
        self._calls.append(CallMade(name, dict(arguments), Observation("The turn ended during the command.", True)))
        observation = await carry_out(Action(name, dict(arguments)), self._place, self.tools)
        self._calls[-1] = CallMade(name, dict(arguments), observation)
        await self.think(0.0)
        return observation

    async def think(self, seconds: float) -> None:
        """Let time pass as an agent's own work does; raises `TurnOver` where it runs out."""
        self._refuse_if_over()
        left = self.seconds_left
        await self._clock.sleep(seconds if left is None else min(seconds, left))
        if left is not None and (seconds > left or self.seconds_left == 0.0 < seconds):
            await self._end("seconds")

    async def sleep(self, seconds: float) -> None:
        """Wait on purpose; raises `TurnOver` where the turn may not sleep so long."""
        self._refuse_if_over()
        most = self.limits.sleeping_seconds
        allowed = seconds if most is None else min(seconds, max(most - self._slept, 0.0))
        left = self.seconds_left
        self._slept += allowed if left is None else min(allowed, left)
        if allowed > 0:
            await self.think(allowed)
        if allowed < seconds:
            await self._end("sleeping_seconds")

    async def start_sub_agent(self, work: Callable[["Turn"], Awaitable[str]]) -> str:
        """Start a sub-agent, which shares this turn's budget; raises `TurnOver` where no more may be started."""
        self._refuse_if_over()
        if self.limits.sub_agents is not None and self._sub_agents >= self.limits.sub_agents:
            await self._end("sub_agents")
        self._sub_agents += 1
        return await work(self)

    async def write(self, tokens: int) -> None:
        """Count tokens that the agent has written; raises `TurnOver` where they are too many."""
        self._refuse_if_over()
        most = self.limits.output_tokens
        self._tokens_out += tokens if most is None else min(tokens, most - self._tokens_out)
        if most is not None and tokens > 0 and self._tokens_out >= most:
            await self._end("output_tokens")

    def pay(self, tokens_in: int, usd: float = 0.0) -> None:
        """Count what a model read and cost."""
        self._tokens_in += tokens_in
        self._usd += usd

    def _refuse_if_over(self, *, command: bool = False) -> None:
        if self._over.done():
            self._refused += command
            raise TurnOver("the turn is over")

    async def _end(self, resource: Resource) -> None:
        """Close the turn; what waits for it hears of it at once."""
        if not self._over.done():
            self._over.set_result(resource)
        raise TurnOver(f"the turn's budget of {resource} is used up")

    def _report(self, reply: str, error: str) -> TurnReport:
        over: Resource | None = self._over.result() if self._over.done() else None
        return TurnReport(
            _synthetic(over, self.limits, len(self._calls), self._refused) if over else reply,
            tuple(self._calls),
            self._refused,
            self._clock.now() - self._began,
            self._slept,
            self._sub_agents,
            self._tokens_in,
            self._tokens_out,
            self._usd,
            over,
            error,
        )


async def take_turn(
    act: Callable[[Turn], Awaitable[str]], tools: Sequence[Tool[Any]], place: Any, limits: TurnLimits, clock: Clock
) -> TurnReport:
    """Let an agent have one turn, to its end or to the end of its budget.

    Whatever the agent raises is the turn's `error`; only what ends the whole process is raised. The tokens of the
    reply count as written; a reply that is too long is no reply.
    """
    turn = Turn(tools, place, limits, clock)

    async def acting() -> str:
        reply = await act(turn)
        await turn.write(tokens_in_text(reply))
        return reply

    task = asyncio.ensure_future(acting())
    patience = None if limits.seconds is None else clock.patience(limits.seconds)
    try:
        await asyncio.wait({task, turn._over}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    except BaseException:
        task.cancel()
        raise
    if not task.done() or (task.cancelled() and not turn._over.done()):
        if not turn._over.done():
            turn._over.set_result("seconds")
        task.cancel()
        await asyncio.wait({task}, timeout=0.0)
    reply, error = "", ""
    if task.done() and not task.cancelled():
        raised = task.exception()
        if raised is None:
            reply = task.result()
        elif not isinstance(raised, Exception):
            raise raised
        elif not isinstance(raised, TurnOver):
            error = f"{type(raised).__name__}: {' '.join(str(raised).split())}"
    report = turn._report(reply, error)
    if not turn._over.done():  # whatever the agent left running can do nothing more
        turn._over.set_result("seconds")
    return report


def _synthetic(over: Resource, limits: TurnLimits, calls: int, refused: int) -> str:
    """What stands in the place of a reply: which limit ended the turn, and what was done before."""
    most = {
        "tool_calls": f"{limits.tool_calls} command(s)",
        "seconds": f"{limits.seconds} seconds",
        "sleeping_seconds": f"{limits.sleeping_seconds} seconds of sleep",
        "sub_agents": f"{limits.sub_agents} sub-agent(s)",
        "output_tokens": f"{limits.output_tokens} output tokens",
    }.get(over, over)
    return (
        f"The harness ended this turn: its budget is {most}. {calls} command(s) were carried out and {refused} more "
        "refused. The next attempt comes after a reflection."
    )
