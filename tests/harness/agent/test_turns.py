"""No turn takes more than its budget, whatever the agent does, and nothing of it goes on behind its end."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from misstep_harness.agent.actions import Observation
from misstep_harness.agent.clocks import Clock, RealClock, VirtualClock
from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn, TurnOver, TurnReport, take_turn

Act = Callable[[Turn], Awaitable[str]]


class Place:
    """What the commands of these tests act on: how often they did, and how long they take."""

    def __init__(self, clock: Clock, seconds: float = 0.0) -> None:
        self.clock = clock
        self.seconds = seconds
        self.applied = 0
        self.cut_off = 0


async def _apply(arguments: Mapping[str, str], place: Place) -> Observation:  # noqa: ARG001
    try:
        await place.clock.sleep(place.seconds)
    except asyncio.CancelledError:
        place.cut_off += 1
        raise
    place.applied += 1
    return Observation("It failed.", is_error=True)


def _raising(error: BaseException) -> Callable[[Mapping[str, str], Place], Awaitable[Observation]]:
    async def run(arguments: Mapping[str, str], place: Place) -> Observation:  # noqa: ARG001
        raise error

    return run


async def _nothing(arguments: Mapping[str, str], place: Place) -> Any:  # noqa: ARG001
    return None


TOOLS: tuple[Tool[Any], ...] = (
    Tool("apply", "Apply.", {}, _apply),
    Tool("crash", "Crash.", {}, _raising(OSError("no such device"))),
    Tool("exit", "Exit.", {}, _raising(SystemExit())),
    Tool("close", "Close.", {}, _raising(GeneratorExit())),
    Tool("nothing", "Give nothing.", {}, _nothing),
)
NO_LIMIT = TurnLimits(None, None, None, None, None)


@pytest.fixture(autouse=True)
def left_behind(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    results: list[Any] = []
    monkeypatch.setattr("misstep_harness.agent.turns._LEFT_BEHIND", results)
    monkeypatch.setattr("misstep_harness.agent.turns._PATIENCE_SECONDS", 0.02)
    return results


def turn_of(act: Act, limits: TurnLimits, place: Place | None = None) -> TurnReport:
    place = place or Place(VirtualClock())
    return asyncio.run(asyncio.wait_for(take_turn(act, TOOLS, place, limits, place.clock), 20.0))


def doing(*acts: Callable[[Turn], Awaitable[object]], reply: str = "never") -> Act:
    async def act(turn: Turn) -> str:
        for each in acts:
            await each(turn)
        return reply

    return act


async def retrying(turn: Turn) -> str:
    for _ in range(16):
        await turn.call("apply", {})
    return "I tried sixteen times."


async def at_once(turn: Turn) -> str:
    await asyncio.gather(*(turn.call("apply", {}) for _ in range(16)))
    return "I tried sixteen times."


@pytest.mark.parametrize(("act", "refused"), [(retrying, 1), (at_once, 15)])
def test_a_worker_that_tries_sixteen_times_has_one_command_and_is_told_why(act: Act, refused: int) -> None:
    place = Place(VirtualClock())
    report = turn_of(act, TurnLimits(), place)
    assert (place.applied, report.refused, report.over) == (1, refused, "tool_calls")
    assert "its budget is 1 command(s)" in report.reply
    assert "after a reflection" in report.reply
    free = turn_of(act, NO_LIMIT)
    assert (len(free.calls), free.refused, free.over, free.reply) == (16, 0, None, "I tried sixteen times.")


@pytest.mark.parametrize(
    ("acts", "counts"),
    [
        ([lambda turn: turn.call("apply", {})], (1, 2, "tool_calls")),
        ([lambda turn: turn.think(1000.0), lambda _: asyncio.get_running_loop().create_future()], (0, 0, "seconds")),
    ],
)
def test_an_agent_that_catches_everything_and_goes_on_is_left_behind(left_behind, acts, counts) -> None:
    stop = asyncio.Event()

    async def act(turn: Turn) -> str:
        while not stop.is_set():
            for each in acts:
                with suppress(BaseException):
                    await each(turn)
        return "never"

    place = Place(VirtualClock())
    report = turn_of(act, TurnLimits(), place)
    stop.set()
    assert (place.applied, report.refused, report.over) == counts
    assert len(left_behind) == 1


def test_an_agent_may_clean_up_when_its_turn_is_over() -> None:
    cleaned = []

    async def act(turn: Turn) -> str:
        try:
            await turn.think(1000.0)
        finally:
            await asyncio.sleep(0.001)
            cleaned.append("connection")
        return "never"

    report = turn_of(act, TurnLimits(seconds=5.0))
    assert (report.over, report.seconds, cleaned) == ("seconds", 5.0, ["connection"])


def test_a_reply_after_the_end_is_no_reply() -> None:
    async def act(turn: Turn) -> str:
        try:
            await turn.start_sub_agent(act)
        except TurnOver:
            return "All is well."
        return "never"

    report = turn_of(act, TurnLimits())
    assert report.over == "sub_agents"
    assert "All is well" not in report.reply


def test_a_command_that_nobody_awaits_does_nothing_behind_the_end_of_the_turn() -> None:
    begun: list[asyncio.Future[Observation]] = []
    kept: list[Turn] = []

    async def act(turn: Turn) -> str:
        begun.append(asyncio.ensure_future(turn.call("apply", {})))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        kept.append(turn)
        return "I am done."

    async def turn_and_more() -> TurnReport:
        clock = RealClock()
        place = Place(clock, 0.2)
        report = await take_turn(act, TOOLS, place, TurnLimits(tool_calls=None), clock)
        assert [type(one) for one in await asyncio.gather(*begun, return_exceptions=True)] == [asyncio.CancelledError]
        with pytest.raises(TurnOver):
            await kept[0].call("apply", {})
        assert (place.applied, place.cut_off) == (0, 1)
        return report

    report = asyncio.run(turn_and_more())
    assert report.reply == "I am done."
    assert [call.observation.text for call in report.calls] == ["The turn ended during the command."]


async def waiting(turn: Turn) -> str:  # noqa: ARG001
    while True:
        await asyncio.sleep(0)


@pytest.mark.parametrize("make", [VirtualClock, RealClock])
@pytest.mark.parametrize(("act", "cut_off"), [(doing(lambda turn: turn.call("apply", {})), 1), (waiting, 0)])
def test_a_command_that_takes_too_long_is_cut_off_and_an_agent_that_waits_too(make, act, cut_off) -> None:
    place = Place(make(), 3600.0)
    report = turn_of(act, TurnLimits(seconds=0.02), place)
    assert (report.over, place.applied, place.cut_off) == ("seconds", 0, cut_off)
    assert report.seconds == pytest.approx(0.02, abs=1.0)


@pytest.mark.parametrize(
    "error", [ValueError("no\nplan"), asyncio.CancelledError(), KeyError("x"), SystemExit(0), GeneratorExit()]
)
def test_what_an_agent_raises_is_the_error_of_its_turn(error: BaseException) -> None:
    async def act(turn: Turn) -> str:
        await turn.think(3.0)
        raise error

    report = turn_of(act, TurnLimits())
    assert report.error.startswith(type(error).__name__)
    assert (report.reply, report.over, report.seconds) == ("", None, 3.0)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("crash", "OSError: no such device"),
        ("exit", "SystemExit"),
        ("close", "GeneratorExit"),
        ("nothing", "TypeError: the command nothing gives an Observation"),
        (None, "TypeError"),
    ],
)
def test_a_command_that_ends_the_process_or_gives_no_answer_costs_the_turn_alone(command: Any, error: str) -> None:
    report = turn_of(doing(lambda turn: turn.call(command, {})), TurnLimits())
    assert report.error.startswith(error)
    assert all(isinstance(call.name, str) and call.observation.text for call in report.calls)


def test_a_reply_is_a_text_that_a_file_can_hold() -> None:
    assert turn_of(doing(reply=b"bytes"), TurnLimits()).error == "TypeError: an agent says a text, not bytes"  # type: ignore[arg-type]
    assert turn_of(doing(reply="half a pair: \ud800"), TurnLimits()).reply == "half a pair: \ufffd"


def paying(tokens: float, usd: float) -> Act:
    async def act(turn: Turn) -> str:
        turn.pay(tokens, usd)  # type: ignore[arg-type]
        return ""

    return act


@pytest.mark.parametrize(
    ("act", "amounts"),
    [
        (paying(1.5, 0.25), (2, 0, 0.25)),
        (doing(lambda turn: turn.write(2.5), reply=""), (0, 3, 0.0)),  # type: ignore[arg-type]
        (lambda turn: turn.write(math.inf), None),
        (lambda turn: turn.sleep(math.inf), None),
        (paying(1, math.inf), None),
    ],
)
def test_a_turn_takes_whole_tokens_and_finite_amounts(act: Act, amounts: tuple[int, int, float] | None) -> None:
    report = turn_of(act, NO_LIMIT)
    assert bool(report.error) == (amounts is None)
    assert (report.slept, report.tokens_out, report.usd) == (0.0, *(amounts or (0, 0, 0.0))[1:])
    assert amounts is None or report.tokens_in == amounts[0]
    assert isinstance(report.tokens_in, int)


def test_what_ends_the_process_ends_it() -> None:
    class Gone(BaseException):
        pass

    async def act(turn: Turn) -> str:  # noqa: ARG001
        raise Gone

    with pytest.raises(Gone):
        turn_of(act, TurnLimits())


def test_a_reply_of_just_the_budget_counts_and_a_longer_one_is_none() -> None:
    def saying(characters: int) -> TurnReport:
        return turn_of(doing(lambda turn: turn.write(6), reply="x" * characters), TurnLimits(output_tokens=10))

    assert saying(16).over is None
    report = saying(17)
    assert (report.over, report.tokens_out) == ("output_tokens", 10)
    assert "xxxx" not in report.reply


def test_sleep_beyond_the_budget_of_sleep_ends_the_turn_after_it() -> None:
    sleeping = doing(*[lambda turn: turn.sleep(4.0)] * 2)
    report = turn_of(sleeping, TurnLimits(sleeping_seconds=6.0))
    assert (report.over, report.slept, report.seconds) == ("sleeping_seconds", 6.0, 6.0)
    assert turn_of(sleeping, TurnLimits()).slept == 0.0


def test_a_sub_agent_shares_the_budget() -> None:
    report = turn_of(doing(lambda turn: turn.start_sub_agent(retrying)), TurnLimits(tool_calls=2, sub_agents=1))
    assert (len(report.calls), report.over, report.sub_agents) == (2, "tool_calls", 1)


def test_a_turn_may_use_its_time_to_the_last_moment_and_no_further() -> None:
    def thinking(*seconds: float) -> TurnReport:
        return turn_of(doing(*(partial(Turn.think, seconds=each) for each in seconds)), TurnLimits(seconds=0.25))

    assert thinking(0.125, 0.125).over is None
    assert thinking(0.125, math.nextafter(0.125, 1.0)).over == "seconds"
    assert thinking(0.25, 5e-324).over == "seconds"
    assert thinking(math.inf).seconds == 0.25


@pytest.mark.parametrize("began", [0.1, 7.3e8])
@pytest.mark.parametrize("most", [0.1, 299.99999999999994])
def test_no_rounding_of_the_clock_makes_a_turn_longer_than_its_limit(began: float, most: float) -> None:
    thinking = doing(*[lambda turn: turn.think(most / 7)] * 50)
    report = turn_of(thinking, TurnLimits(seconds=most), Place(VirtualClock(began)))
    assert report.over == "seconds"
    assert report.seconds <= most


@pytest.mark.parametrize("seconds", [-100.0, math.nan])
def test_no_budget_is_won_back_by_what_is_no_amount(seconds: float) -> None:
    async def act(turn: Turn) -> str:
        await turn.sleep(2.0)
        await turn.sleep(seconds)
        await turn.think(seconds)
        await turn.write(-1000)
        turn.pay(-5, -1.0)
        return "done"

    report = turn_of(act, TurnLimits(sleeping_seconds=2.0))
    assert (report.slept, report.seconds, report.tokens_out, report.tokens_in, report.usd) == (2.0, 2.0, 1, 0, 0.0)


def test_a_turn_that_is_cut_off_from_outside_leaves_nothing_running() -> None:
    async def cut_off() -> Place:
        clock = RealClock()
        place = Place(clock, 3600.0)
        turn = asyncio.ensure_future(take_turn(retrying, TOOLS, place, NO_LIMIT, clock))
        await asyncio.sleep(0.005)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert len(asyncio.all_tasks()) == 1
        return place

    assert asyncio.run(cut_off()).cut_off == 1
