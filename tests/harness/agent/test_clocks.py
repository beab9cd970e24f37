"""Time passes by the machine's clock or as it is declared, and an alarm rings at its moment on both."""

import asyncio
import math

import pytest

from misstep_harness.agent.clocks import Clock, RealClock, VirtualClock, within
from misstep_harness.errors import MisstepError, TimeSpent


def test_hours_pass_in_a_moment_on_a_virtual_clock() -> None:
    clock = VirtualClock(5.0)
    asyncio.run(clock.sleep(360_000.0))
    assert clock.now() == 360_005.0


@pytest.mark.parametrize("seconds", [-1.0, math.nan, 0.0])
@pytest.mark.parametrize("clock", [VirtualClock(), RealClock()])
def test_what_is_no_positive_time_is_none(clock: Clock, seconds: float) -> None:
    before = clock.now()
    asyncio.run(clock.sleep(seconds))
    assert clock.now() - before == pytest.approx(0.0, abs=0.5)
    assert not math.isnan(clock.now())


def test_a_sleep_without_end_is_refused_where_no_alarm_ends_it() -> None:
    with pytest.raises(MisstepError, match="without end"):
        asyncio.run(VirtualClock().sleep(math.inf))


@pytest.mark.parametrize("make", [VirtualClock, RealClock])
def test_an_alarm_rings_for_who_sleeps_beyond_it(make: type[VirtualClock] | type[RealClock]) -> None:
    async def rings() -> float:
        clock: Clock = make()
        began, rung = clock.now(), asyncio.Event()
        clock.alarm(0.01, rung.set)
        sleeper = asyncio.ensure_future(clock.sleep(3600.0))
        await rung.wait()
        assert not sleeper.done()
        sleeper.cancel()
        return clock.now() - began

    assert asyncio.run(rings()) == pytest.approx(0.01, abs=0.5)


@pytest.mark.parametrize("make", [VirtualClock, RealClock])
def test_an_alarm_that_was_taken_back_does_not_ring(make: type[VirtualClock] | type[RealClock]) -> None:
    async def rung() -> list[str]:
        clock: Clock = make()
        heard: list[str] = []
        clock.alarm(0.001, lambda: heard.append("rung"))()
        await clock.sleep(0.005)
        return heard

    assert asyncio.run(rung()) == []


def test_a_sleep_to_the_very_moment_of_an_alarm_does_not_ring_it() -> None:
    async def slept() -> float:
        clock = VirtualClock()
        clock.alarm(10.0, lambda: pytest.fail("it rang"))
        await clock.sleep(10.0)
        return clock.now()

    assert asyncio.run(slept()) == 10.0


@pytest.mark.parametrize("make", [VirtualClock, RealClock])
def test_work_within_its_time_gives_its_answer_and_what_takes_longer_is_cut_off(make) -> None:
    async def both() -> None:
        clock: Clock = make()

        async def work(seconds: float) -> str:
            await clock.sleep(seconds)
            return "done"

        assert await within(clock, 30.0, work(0.001)) == "done"
        with pytest.raises(TimeSpent, match=r"after 0\.01 seconds"):
            await within(clock, 0.01, work(3600.0))
        assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]

    asyncio.run(both())


def test_work_that_is_stopped_from_outside_is_stopped_and_not_out_of_time() -> None:
    async def stopped() -> None:
        task = asyncio.ensure_future(within(RealClock(), 60.0, asyncio.Event().wait()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
