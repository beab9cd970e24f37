"""A run asks as fast as its server and its limits allow, and loses no request; the clock is that of the test."""

import asyncio
import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.clients.around_client import ConcurrencyLimitClient
from misstep_harness.clients.recording import text_reply
from misstep_harness.clients.retry import PerMinute, RequestPace, RetryingClient, RetryLimits, TokenEstimate
from misstep_harness.exchange import Client, Failure, FailureKind, Message, Outcome, Reply, Request
from tests.harness.clients.virtual_time import run_at_once, virtual_now

LATENCY = 0.2


def refusal(seconds: float | None) -> Failure:
    return Failure("rate_limited", "the server asks for fewer requests", retry_after=seconds)


class Server:
    """Answers after `LATENCY` what `admits` lets in, and refuses the rest sooner; `came` are the times of requests."""

    def __init__(self, admits: Callable[[float, int], Failure | None]) -> None:
        self._admits, self.came, self.answered = admits, list[float](), list[float]()

    async def ask(self, request: Request) -> Outcome:
        now = virtual_now()
        self.came.append(now)
        if (failure := self._admits(now, len(self.came))) is not None:
            await asyncio.sleep(0.01)
            return failure
        self.answered.append(now)
        await asyncio.sleep(LATENCY)
        return text_reply("yes", request.model)

    async def close(self) -> None:
        pass


class Window:
    """Admits so many requests in each window of so many seconds, and names the whole seconds to the next."""

    def __init__(self, most: int, seconds: float, *, names: bool = True) -> None:
        self._most, self._seconds, self._names = most, seconds, names
        self._number, self._n = -1, 0

    def __call__(self, now: float, _: int) -> Failure | None:
        number, gone = divmod(now, self._seconds)
        if number != self._number:
            self._number, self._n = int(number), 0
        self._n += 1
        if self._n <= self._most:
            return None
        return refusal(float(-(-(self._seconds - gone) // 1)) if self._names else None)


def patient(server: Client, rpm: float = math.inf, tpm: float = math.inf) -> RetryingClient:
    pace = RequestPace(rpm, tpm, clock=virtual_now)
    return RetryingClient(server, pace=pace)


def asked(client: Client, n: int, in_flight: int = 16) -> Sequence[Outcome]:
    async def run() -> Sequence[Outcome]:
        limited = ConcurrencyLimitClient(client, in_flight)
        return await asyncio.gather(*(limited.ask(Request("small-1", (), sample=number)) for number in range(n)))

    return run_at_once(run())


def test_one_requests_retry_after_holds_back_all_requests_of_the_run() -> None:
    server = Server(lambda _, number: refusal(30.0) if number == 5 else None)
    outcomes = asked(patient(server), 100, in_flight=4)
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    known_at = server.came[4] + 0.01
    assert [at for at in server.came if known_at < at < known_at + 30] == []
    assert sum(outcome.attempts == 2 for outcome in outcomes) == 1


def test_the_last_of_several_named_moments_counts() -> None:
    server = Server(lambda _, number: refusal({1: 20.0, 2: 5.0}[number]) if number < 3 else None)
    asked(patient(server), 10, in_flight=2)
    assert min(server.came[2:]) >= server.came[0] + 20


def test_a_moment_past_the_limit_of_a_call_holds_back_no_other_request() -> None:
    server = Server(lambda _, number: refusal(86_400.0) if number == 1 else None)
    outcomes = asked(patient(server), 10, in_flight=2)
    assert [isinstance(outcome, Reply) for outcome in outcomes] == [False] + [True] * 9
    assert max(server.came) - min(server.came) < 2


@pytest.mark.parametrize("in_flight", [1, 16, 64])
@pytest.mark.parametrize(("most", "seconds"), [(60, 60.0), (200, 60.0), (30, 10.0), (100, 5.0)])
def test_no_request_is_lost_to_a_window_of_requests_and_nearly_all_that_it_allows_is_used(
    most: int, seconds: float, in_flight: int
) -> None:
    server = Server(Window(most, seconds))
    outcomes = asked(patient(server), 12 * most, in_flight)
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    took = server.answered[-1] - server.answered[0]
    allowed = min(most / seconds, in_flight / LATENCY)
    assert 12 * most / (took + LATENCY) >= 0.85 * allowed


def test_no_request_is_lost_to_a_server_that_names_no_time() -> None:
    server = Server(Window(10, 1.0, names=False))
    assert all(isinstance(outcome, Reply) for outcome in asked(patient(server), 200))


def test_a_server_that_answers_nothing_is_asked_as_often_as_there_are_attempts() -> None:
    server = Server(lambda *_: refusal(1.0))
    outcomes = asked(patient(server), 3)
    assert [outcome.attempts for outcome in outcomes] == [6, 6, 6]


def test_a_server_that_answers_nothing_more_is_asked_as_often_as_there_are_attempts() -> None:
    server = Server(lambda _, number: refusal(1.0) if number > 2 else None)
    refused = [outcome for outcome in asked(patient(server), 6) if isinstance(outcome, Failure)]
    assert len(refused) == 4
    assert {outcome.attempts for outcome in refused} <= {6, 7}, "the first attempt may come before the two answers"


def test_a_request_that_alone_is_refused_ends_with_the_time_of_a_call() -> None:
    class Refuses(Server):
        async def ask(self, request: Request) -> Outcome:
            return refusal(None) if request.sample == 0 else await super().ask(request)

    first, *others = asked(patient(Refuses(lambda *_: None)), 7_000, in_flight=2)
    assert isinstance(first, Failure)
    assert "would pass the limit of 600 s a call" in first.sentence
    assert first.attempts > 6
    assert all(isinstance(outcome, Reply) for outcome in others)


@pytest.mark.parametrize("kind", ["rate_limited", "server", "connection"])
def test_waits_are_anything_from_nothing_to_a_limit_that_doubles(kind: FailureKind) -> None:
    waits: list[float] = []

    async def noted(seconds: float) -> None:
        waits.append(seconds)

    async def run() -> None:
        server = Server(lambda *_: Failure(kind, "it failed"))
        limits = RetryLimits(attempts=6, first_wait=1, longest_wait=8)
        client = RetryingClient(server, limits, pace=RequestPace(clock=virtual_now, sleep=noted))
        for _ in range(300):
            await client.ask(Request("small-1", ()))

    run_at_once(run())
    for failures, most in enumerate((1, 2, 4, 8, 8)):
        each = waits[failures::5]
        assert 0 <= min(each) < 0.1 * most
        assert 0.9 * most < max(each) <= most


@given(st.integers(1, 5000), st.floats(0, 60))
def test_in_no_minute_are_more_requests_sent_than_allowed(limit: int, offset: float) -> None:
    bucket, now, sent = PerMinute(limit), 1000.0, list[float]()
    while (now := max(now, bucket.next_start)) < 1130:
        bucket.add(now, 1)
        sent.append(now)
    assert sum(1000 + offset <= at < 1060 + offset for at in sent) <= limit
    assert len(sent) >= 0.98 * limit * 130 / 60 - 1


def test_an_idle_minute_is_not_made_up_for() -> None:
    bucket = PerMinute(60)
    bucket.add(1000.0, 1)
    bucket.add(1600.0, 1)
    assert bucket.next_start > 1600.5


def test_retries_count_in_the_limit_of_requests_a_minute() -> None:
    server = Server(lambda _, number: None if number % 2 else Failure("server", "it failed"))
    asked(patient(server, rpm=60), 100)
    assert all(sum(begin <= at < begin + 60 for at in server.came) <= 60 for begin in server.came)


def test_tokens_are_limited_by_what_answers_took_and_not_by_what_was_expected() -> None:
    class Long(Server):
        async def ask(self, request: Request) -> Outcome:
            outcome = await super().ask(request)
            assert isinstance(outcome, Reply)
            return Reply("yes", None, "stop", "m", 80, 20, LATENCY, None)

    server = Long(lambda *_: None)
    asked(patient(server, tpm=6000), 180, in_flight=4)
    assert max(server.came) - min(server.came) == pytest.approx(180, rel=0.1)


def test_an_estimate_is_of_the_answers_so_far() -> None:
    estimate = TokenEstimate()
    request = Request("small-1", (Message("user", "x" * 3000),), max_tokens=1000)
    assert estimate.of(request) == 2000
    assert estimate.used(Reply("yes", None, "stop", "m", 900, 20, 0.1, None), 2000) == 920
    assert estimate.of(request) == 1020


def test_a_failure_took_no_tokens_and_an_outcome_without_usage_what_was_expected() -> None:
    estimate = TokenEstimate()
    assert estimate.used(refusal(None), 100) == 0
    assert estimate.used(Reply("yes", None, "stop", "m", None, None, 0.1, None), 100) == 100
    assert estimate.used(None, 100) == 100


def test_a_request_that_is_cut_off_while_it_waits_gives_its_turn_back() -> None:
    server = Server(lambda _, number: refusal(50.0) if number == 1 else None)

    async def run() -> Outcome:
        client = patient(server)
        first, second = (asyncio.create_task(client.ask(Request("m", (), sample=number))) for number in range(2))
        await asyncio.sleep(1)
        waiting = asyncio.create_task(client.ask(Request("m", (), sample=2)))
        await asyncio.sleep(1)
        waiting.cancel()
        await second
        return await first

    assert isinstance(run_at_once(run()), Reply)
