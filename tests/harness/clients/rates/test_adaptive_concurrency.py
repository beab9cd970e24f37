"""The number in flight follows what the server takes: all in virtual time, with servers that are a few lines."""

import heapq
import math
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misstep.harness.clients.rates.adaptive_concurrency import FIRST, AdaptiveConcurrency
from misstep.harness.clients.rates.start_limit import End, Start
from misstep.harness.exchange import Allowance, Failure, Outcome, Rates, Reply

OVERLOADED = Failure("server", "overloaded", rates=Rates(overloaded=True))
REFUSED = Failure("rate_limited", "too many")
FAILED = Failure("server", "failed")

Server = Callable[[float, int], tuple[Outcome, float]]
"""From the time and the number in flight to the outcome and how long it takes."""


def reply(seconds: float = 0.1) -> tuple[Outcome, float]:
    return Reply("yes", None, "stop", "small-1", 1, 1, seconds, None), seconds


def wait_for(seconds: float) -> tuple[Outcome, float]:
    return Failure("rate_limited", "too many", retry_after=seconds), 0.001


class Driven:
    """A state that is asked for starts without end, and the requests that it let go."""

    def __init__(self, server: Server, most: int = 256) -> None:
        self.state = AdaptiveConcurrency(most=most)
        self.now = 0.0
        self.starts: list[tuple[float, Outcome]] = []
        self.in_flight: list[int] = []
        self.pauses: list[tuple[float, float]] = []
        self._server = server
        self._ends: list[tuple[float, int, Start, Outcome]] = []
        self._order = count()

    def run(self, until: float, most_waiting: float = math.inf) -> "Driven":
        """Send as many as the state lets go until a time; no more than so many are there to be in flight."""
        while True:
            earliest = self.state.next_start(self.now, 0.0) if len(self._ends) < most_waiting else math.inf
            if earliest <= self.now:
                self._start()
                continue
            due = self._ends[0][0] if self._ends else math.inf
            if min(earliest, due) > until:
                self.now = until
                return self
            self.now = min(earliest, due)
            if due <= self.now:
                _, _, start, outcome = heapq.heappop(self._ends)
                self.state.ended(start, End(self.now, outcome, 0.0))
                if isinstance(outcome, Failure) and outcome.retry_after is not None:
                    self.pauses.append((self.now, self.now + outcome.retry_after))

    def _start(self) -> None:
        outcome, seconds = self._server(self.now, len(self._ends) + 1)
        start = Start(len(self.starts), 0.0, self.now, 0.0)
        self.starts.append((self.now, outcome))
        self.state.started(start)
        self.in_flight.append(self.state.in_flight)
        heapq.heappush(self._ends, (self.now + seconds, next(self._order), start, outcome))

    @property
    def share_refused(self) -> float:
        return self.state.n_refused / len(self.starts)


def places(number: int, refusal: Failure = OVERLOADED) -> Server:
    return lambda _, in_flight: reply() if in_flight <= number else (refusal, 0.001)


@pytest.mark.parametrize("refusal", [OVERLOADED, REFUSED, Failure("server", "wait", retry_after=0.0)])
@pytest.mark.parametrize("number", [1, 3, 40])
def test_a_server_with_so_many_places_is_nearly_full_and_seldom_refuses(number: int, refusal: Failure) -> None:
    driven = Driven(places(number, refusal)).run(200 if number < 40 else 30)
    answered = sum(isinstance(outcome, Reply) for _, outcome in driven.starts)
    assert answered >= 0.85 * number * driven.now / 0.1
    assert driven.share_refused <= 0.02


def test_the_number_in_flight_doubles_until_the_server_asks_for_less() -> None:
    driven = Driven(lambda *_: reply())
    assert driven.state.allowed == FIRST
    driven.run(1.5)
    assert (driven.state.allowed, max(driven.in_flight)) == (256, 256)


@given(st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2, 3]), st.floats(0, 5)), min_size=1), st.integers(1, 40))
@settings(deadline=None)
def test_pauses_are_kept_and_bounds_hold(said: list[tuple[int, float]], most: int) -> None:
    answers = iter(said * 3)

    def server(*_: float) -> tuple[Outcome, float]:
        kind, seconds = next(answers, (0, 1.0))
        return [reply(0.01 + seconds), wait_for(seconds), (REFUSED, 0.001), (FAILED, 0.001)][kind]

    driven = Driven(server, most)
    for second in range(60):
        driven.run(second)
        assert 1 <= driven.state.allowed <= most
    for known, until in driven.pauses:
        assert not [at for at, _ in driven.starts if known < at < until - 1e-9]
    assert max(driven.in_flight) <= most


def test_a_time_to_wait_holds_for_every_request() -> None:
    server = iter([reply(), reply(), reply(), wait_for(7.0)])
    driven = Driven(lambda *_: next(server, reply())).run(20)
    assert [at for at, _ in driven.starts if 0.001 < at < 7.001] == []
    assert any(7.001 <= at < 7.1 for at, _ in driven.starts)


def test_the_end_of_a_window_pauses_the_run_and_slows_nothing_down() -> None:
    used_up = Rates(allowances=(Allowance("requests", "requests", 0.0, 60.0, 1.0),))
    refusal = Failure("rate_limited", "too many", retry_after=1.0, rates=used_up)
    driven = Driven(lambda now, _: (refusal, 0.001) if 4 < now < 4.01 else reply(), most=32).run(10)
    assert driven.state.n_refused > 0
    assert driven.state.allowed == 32
    assert sum(5 < at < 6 for at, _ in driven.starts) >= 0.85 * 32 / 0.1


def test_idle_time_and_a_run_that_asks_little_change_nothing() -> None:
    driven = Driven(lambda *_: reply()).run(300, most_waiting=FIRST - 1)
    assert driven.state.allowed == FIRST


def test_a_server_that_only_gets_slower_is_asked_for_what_it_works_on() -> None:
    driven = Driven(lambda _, in_flight: reply(0.1 * max(1, in_flight / 10))).run(120)
    late = driven.in_flight[len(driven.in_flight) // 2 :]
    assert 9 <= sum(late) / len(late) <= 30


def test_answers_that_take_longer_whatever_the_load_do_not_hold_the_run_up() -> None:
    driven = Driven(lambda now, _: reply(0.1 if now < 5 else 0.5), most=64).run(60)
    assert driven.state.allowed == 64


def test_refusals_in_a_row_are_met_by_ever_longer_pauses() -> None:
    driven = Driven(lambda *_: (REFUSED, 0.001)).run(600)
    assert len(driven.starts) < 60


def test_after_a_limit_on_rates_moves_down_it_is_kept_at_once_and_probed_slowly() -> None:
    level, filled = 10.0, 0.0

    def bucket(now: float, _: int) -> tuple[Outcome, float]:
        nonlocal level, filled
        rate = 50.0 if now < 60 else 10.0
        level, filled = min(level + rate * (now - filled), rate), now
        if level < 1:
            return wait_for(1.0)
        level -= 1
        return reply()

    driven = Driven(bucket).run(120)
    refused = [at for at, outcome in driven.starts if isinstance(outcome, Failure)]
    answered = [at for at, outcome in driven.starts if isinstance(outcome, Reply)]
    assert sum(60 < at < 65 for at in refused) <= 5
    assert len(refused) <= 0.012 * len(answered)
    assert sum(20 < at <= 60 for at in answered) >= 0.9 * 50 * 40


def bucket(rate: float, holds: float, named: Callable[[float], float | None], seconds: float = 0.1) -> Server:
    """So many requests a second, and at once what the bucket holds; what it names is made of the exact wait."""
    level, filled = holds, 0.0

    def come(now: float, _: int) -> tuple[Outcome, float]:
        nonlocal level, filled
        level, filled = min(level + rate * (now - filled), holds), now
        if level < 1:
            return Failure("rate_limited", "too many", retry_after=named((1 - level) / rate)), 0.001
        level -= 1
        return reply(seconds)

    return come


def whole_seconds(wait: float) -> float:
    return math.ceil(wait)


@pytest.mark.parametrize("rate", [20, 50, 150])
@pytest.mark.parametrize("holds", [5, 50, 500])
@pytest.mark.parametrize("named", [whole_seconds, lambda wait: wait, lambda _: None], ids=["whole", "exact", "none"])
def test_a_limit_a_second_is_well_used(rate: float, holds: float, named: Callable[[float], float | None]) -> None:
    driven = Driven(bucket(rate, holds, named)).run(240)
    answered = [at for at, outcome in driven.starts if isinstance(outcome, Reply)]
    refused = [at for at, outcome in driven.starts if not isinstance(outcome, Reply)]
    assert sum(at >= 30 for at in answered) >= 0.93 * rate * 210
    assert len(answered) >= 0.9 * rate * 240
    assert sum(at >= 30 for at in refused) <= 0.011 * sum(at >= 30 for at in answered) + 4


@pytest.mark.parametrize("number", [2, 8, 40])
@pytest.mark.parametrize("seconds", [0.1, 1.0])
def test_a_limit_on_requests_at_once_that_asks_to_wait_is_kept_to_and_not_halved(number: int, seconds: float) -> None:
    def server(_: float, in_flight: int) -> tuple[Outcome, float]:
        return reply(seconds) if in_flight <= number else wait_for(1.0)

    driven = Driven(server).run(120)
    answered = sum(isinstance(outcome, Reply) for _, outcome in driven.starts)
    assert answered >= 0.9 * number * driven.now / seconds
    late = [outcome for at, outcome in driven.starts if at > 10]
    assert sum(isinstance(outcome, Failure) for outcome in late) <= 0.01 * len(late)
