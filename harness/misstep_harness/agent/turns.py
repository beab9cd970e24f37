"""Give an agent one turn under a budget that it cannot get around.

An agent acts through its `Turn` alone. A request beyond the budget is refused, the turn is over at once, and a
synthetic reply says what happened. An agent that goes on all the same is left behind and not awaited. Nothing of a turn
acts on the target after its end: commands under way are cut off, and their end is awaited. An agent that blocks the
thread blocks the run: agents from elsewhere belong behind a process or a server.
Source: "Failure Modes in Reflexive Agent Harnesses", failure mode 1.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from math import ceil, inf
from typing import Any, Literal, NoReturn

from msgspec import Struct

from misstep_harness.agent.actions import Action, Observation
from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.protocols import Resource, TurnLimits
from misstep_harness.agent.tools import Tool, carry_out
from misstep_harness.errors import MisstepError
from misstep_harness.escaping import without_surrogates
from misstep_harness.registry import raised


class CallMade(Struct, frozen=True):
    """A command that was carried out, and what it gave."""

    name: str
    arguments: Mapping[str, str]
    observation: Observation


class TurnReport(Struct, frozen=True):
    """What one turn came to.

    - `reply`: What the agent said, or the synthetic reply of a turn that went over its budget.
    - `error`: What the agent raised, if it did; its turn ends like that.
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


class _Ended(MisstepError):
    def __init__(self, error: BaseException) -> None:
        super().__init__(raised(error))


_PATIENCE_SECONDS = 1.0
"""So long an agent whose turn is over may clean up, in real time, before it is left behind."""

_LEFT_BEHIND: list[Coroutine[Any, Any, str]] = []
"""Agents that went on whatever they were told; kept, as the interpreter lets them run once more to be rid of them."""


_CUT_OFF = Observation("The turn ended during the command.", True)

_ROUNDING = 1e-6
"""Seconds by which sums on a clock may be beyond a limit for want of digits."""


def tokens_in_text(text: str) -> int:
    """Return the tokens of a text by the rule of thumb of four characters each, at least one if there is any text."""
    return -(-len(text) // 4)


class Turn:
    """What an agent has during one turn; made by `take_turn`."""

    def __init__(self, tools: Sequence[Tool[Any]], place: Any, limits: TurnLimits, clock: Clock) -> None:
        self.tools = tuple(tools)
        self.limits, self._place, self._clock = limits, place, clock
        self._began = clock.now()
        self._over: asyncio.Future[Resource] = asyncio.get_running_loop().create_future()
        self._never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._state: Literal["open", "told", "left_behind", "closed"] = "open"
        self._running: set[asyncio.Task[Observation]] = set()
        self._calls: list[CallMade] = []
        self._refused = 0
        self._slept = 0.0
        self._sub_agents = 0
        self._tokens_in = 0
        self._tokens_out = 0
        self._usd = 0.0

    @property
    def seconds_left(self) -> float | None:
        """Return the time that is left, `None` for no limit."""
        if self.limits.seconds is None:
            return None
        return max(self._began + self.limits.seconds - self._clock.now(), 0.0)

    async def call(self, name: str, arguments: Mapping[str, str]) -> Observation:
        """Carry out a command by its name, and give what it shows.

        Raises
        ------
        TurnOver
            It is one more than the turn may have, or the turn is over.
        """
        await self._refuse_if_over(command=True)
        if not isinstance(name, str):
            raise TypeError(f"the name of a command is a text, not {type(name).__name__}")
        if self.limits.tool_calls is not None and len(self._calls) >= self.limits.tool_calls:
            self._refused += 1
            self._end("tool_calls")
        call, place = CallMade(name, dict(arguments), _CUT_OFF), len(self._calls)
        self._calls.append(call)
        command = asyncio.ensure_future(self._carried_out(Action(name, call.arguments)))
        self._running.add(command)
        command.add_done_callback(self._running.discard)
        observation = await command
        self._calls[place] = CallMade(name, call.arguments, observation)
        if self.limits.seconds is not None and self._clock.now() > self._began + self.limits.seconds:
            self._end("seconds")
        return observation

    async def _carried_out(self, action: Action) -> Observation:
        try:
            observation = await carry_out(action, self._place, self.tools)
        except (SystemExit, GeneratorExit) as error:
            raise _Ended(error) from error
        if not isinstance(observation, Observation) or not isinstance(observation.text, str):
            raise TypeError(f"the command {action.name} gives an Observation with a text, not {observation!r:.80}")
        return observation

    async def think(self, seconds: float) -> None:
        """Let time pass as an agent's own work does; raises `TurnOver` where it is more than there is."""
        await self._refuse_if_over()
        left = self.seconds_left
        if left is not None and seconds > left:
            await self._clock.sleep(left)
            self._end("seconds")
        await self._clock.sleep(seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait on purpose; raises `TurnOver` where the turn may not sleep so long."""
        await self._refuse_if_over()
        most, left = self.limits.sleeping_seconds, self.seconds_left
        wanted = max(0.0, seconds)
        allowed = wanted if most is None else min(wanted, most - self._slept)
        if left is None and allowed == inf:
            raise ValueError("nothing ends a sleep without end")
        self._slept += allowed if left is None else min(allowed, left)
        if allowed > 0.0:
            await self.think(allowed)
        if allowed < wanted:
            self._end("sleeping_seconds")

    async def start_sub_agent(self, work: Callable[["Turn"], Awaitable[str]]) -> str:
        """Start a sub-agent, which shares this turn's budget; raises `TurnOver` where no more may be started."""
        await self._refuse_if_over()
        if self.limits.sub_agents is not None and self._sub_agents >= self.limits.sub_agents:
            self._end("sub_agents")
        self._sub_agents += 1
        return await work(self)

    async def write(self, tokens: int) -> None:
        """Count tokens that the agent has written; raises `TurnOver` where they are too many."""
        await self._refuse_if_over()
        most, wanted = self.limits.output_tokens, max(ceil(tokens), 0)
        allowed = wanted if most is None else min(wanted, most - self._tokens_out)
        self._tokens_out += allowed
        if allowed < wanted:
            self._end("output_tokens")

    def pay(self, tokens_in: int, usd: float = 0.0) -> None:
        """Count what a model read and cost, also when the turn is over."""
        self._tokens_in += max(ceil(tokens_in), 0)
        if usd == inf:
            raise ValueError("nothing costs infinitely much")
        self._usd += max(0.0, usd)

    @property
    def _is_left_behind(self) -> bool:
        return self._state == "left_behind"

    async def _refuse_if_over(self, *, command: bool = False) -> None:
        if self._state == "closed":
            raise TurnOver("the turn is over")
        if self._over.done():
            self._refused += command
            if self._state == "told":
                self._state = "left_behind"
            await self._never

    def _end(self, resource: Resource) -> NoReturn:
        self._time_is_up(resource)
        self._state = "told"
        raise TurnOver(f"the turn's budget of {resource} is used up")

    def _time_is_up(self, resource: Resource = "seconds") -> None:
        if not self._over.done():
            self._over.set_result(resource)

    async def _close(self, acting: "asyncio.Task[str]") -> None:
        if not acting.done():
            if self._state == "open":
                self._state = "told"
                acting.cancel()
            await asyncio.wait({acting}, timeout=_PATIENCE_SECONDS)
            if not acting.done():
                self._state = "left_behind"
                acting.cancel()
                await asyncio.wait({acting})
        if not acting.cancelled():
            acting.exception()  # is looked at, whatever ends the process meanwhile
        self._state = "closed"
        for command in (running := set(self._running)):
            command.cancel()
        if running:
            await asyncio.wait(running)

    def _report(self, reply: str, error: str) -> TurnReport:
        over: Resource | None = self._over.result() if self._over.done() else None
        seconds, most = self._clock.now() - self._began, self.limits.seconds
        return TurnReport(
            _synthetic(over, self.limits, len(self._calls), self._refused) if over else reply,
            tuple(self._calls),
            self._refused,
            most if most is not None and 0.0 < seconds - most < _ROUNDING else seconds,
            self._slept,
            self._sub_agents,
            self._tokens_in,
            self._tokens_out,
            self._usd,
            over,
            error,
        )


class _Acting:
    """An agent's turn as something to await that ends where the agent is left behind, whatever it catches."""

    def __init__(self, turn: Turn, coroutine: Coroutine[Any, Any, str]) -> None:
        self._turn, self._coroutine = turn, coroutine

    def __await__(self) -> Generator[Any, None, str]:
        raised: BaseException | None = None
        while True:
            try:
                awaited = self._coroutine.send(None) if raised is None else self._coroutine.throw(raised)
            except StopIteration as ended:
                reply: str = ended.value
                return reply
            except (SystemExit, GeneratorExit) as error:
                raise _Ended(error) from error
            if self._turn._is_left_behind:
                self._leave()
            try:
                yield awaited
                raised = None
            except GeneratorExit:
                self._coroutine.close()
                raise
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is the agent's
                raised = error
                if self._turn._is_left_behind:
                    self._leave()

    def _leave(self) -> NoReturn:
        _LEFT_BEHIND.append(self._coroutine)
        raise TurnOver("the agent went on when its turn was over")


async def take_turn(
    act: Callable[[Turn], Awaitable[str]], tools: Sequence[Tool[Any]], place: Any, limits: TurnLimits, clock: Clock
) -> TurnReport:
    """Let an agent have one turn, to its end or to the end of its budget."""
    turn = Turn(tools, place, limits, clock)

    async def acting() -> str:
        reply = await act(turn)
        if not isinstance(reply, str):
            raise TypeError(f"an agent says a text, not {type(reply).__name__}")
        await turn.write(tokens_in_text(reply))
        return without_surrogates(reply)

    async def driven() -> str:
        return await _Acting(turn, acting())

    task = asyncio.ensure_future(driven())
    watched: set[asyncio.Future[Any]] = {task, turn._over}
    silence = None if limits.seconds is None else clock.alarm(limits.seconds, turn._time_is_up)
    try:
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        raised_by_itself = task.done()
    finally:
        if silence is not None:
            silence()
        await turn._close(task)
    if task.cancelled():
        return turn._report("", "CancelledError" if raised_by_itself else "")
    error = task.exception()
    if error is None:
        return turn._report(task.result(), "")
    if not isinstance(error, Exception):
        raise error
    if isinstance(error, _Ended):
        return turn._report("", without_surrogates(error.found))
    message = "" if isinstance(error, TurnOver) else f"{type(error).__name__}: {' '.join(str(error).split())}"
    return turn._report("", without_surrogates(message))


def _synthetic(over: Resource, limits: TurnLimits, calls: int, refused: int) -> str:
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
