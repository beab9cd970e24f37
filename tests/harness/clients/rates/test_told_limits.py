"""What a server says is left is heeded before it refuses anything."""

from typing import Any

import pytest

from misstep.harness.clients.rates.start_limit import End, Start
from misstep.harness.clients.rates.told_limits import ToldLimits
from misstep.harness.exchange import Allowance, Rates, Reply


class Told:
    """Limits, the requests that were sent under them, and answers that say something."""

    def __init__(self, tokens: float = 100.0) -> None:
        self.limits = ToldLimits()
        self._tokens = tokens
        self._sent: list[Start] = []

    def send(self, at: float) -> Start:
        start = Start(len(self._sent), len(self._sent) * self._tokens, at, self._tokens)
        self._sent.append(start)
        self.limits.started(start)
        return start

    def answer(self, start: Start, at: float, *said: Allowance) -> None:
        outcome = Reply("yes", None, "stop", "small-1", 1, 1, 0.1, None, rates=Rates(allowances=said))
        self.limits.ended(start, End(at, outcome, self._tokens))

    def next_start(self, now: float) -> float:
        return self.limits.next_start(now, self._tokens)


def test_nothing_told_holds_nothing_back() -> None:
    server = Told()
    server.answer(server.send(0), 1)
    assert server.next_start(1) == 1


def test_what_was_sent_since_is_no_longer_left() -> None:
    server = Told()
    first = server.send(0)
    server.send(0.5)
    server.answer(first, 1, Allowance("window", "requests", 2, 10, 30))
    assert server.next_start(1) == 1
    server.send(1)
    assert server.next_start(1) == 31


def test_a_new_window_has_all_of_the_limit_until_an_answer_says_otherwise() -> None:
    server = Told()
    server.answer(server.send(0), 0, Allowance("window", "requests", 0, 2, 10))
    assert server.next_start(9) == 10
    server.send(10)
    assert server.next_start(10) == 10
    server.send(10)
    assert server.next_start(10) == 20


def test_the_end_of_a_window_is_as_close_as_any_answer_has_said() -> None:
    server = Told()
    server.answer(server.send(0), 0, Allowance("window", "requests", 1, 10, 5))
    server.answer(server.send(0.9), 0.9, Allowance("window", "requests", 0, 10, 5))
    assert server.next_start(1) == 5


ONE_ANSWER = {
    "a bucket fills at the pace that its reset means": (100, ("requests", 0, 60, 60, True), {0: 1, 5: 5}),
    "without a reset a limit is one a minute": (100, ("requests", 0, 120, None, True), {0: 0.5}),
    "tokens count as the request is expected to take": (50, ("tokens", 20, 100, 80, True), {0: 30}),
    "a request above the limit waits for all of it and no longer": (500, ("tokens", 0, 100, 10, True), {0: 10}),
    "a limit that says not when anything comes back holds nothing back": (
        100,
        ("requests", 0, None, None, False),
        {0: 0},
    ),
    "a limit that is back after hours is left for the server to say": (100, ("requests", 0, 1000, 3600, False), {1: 1}),
}


@pytest.mark.parametrize(("tokens", "said", "starts"), ONE_ANSWER.values(), ids=ONE_ANSWER)
def test_one_answer_says_when_there_is_room(tokens: float, said: Any, starts: dict[float, float]) -> None:
    server = Told(tokens)
    server.answer(server.send(0), 0, Allowance("limit", *said))
    for now, start in starts.items():
        assert server.next_start(now) == pytest.approx(start)


def test_an_answer_to_an_earlier_request_that_comes_later_says_nothing_new() -> None:
    server = Told()
    first, second = server.send(0), server.send(1)
    server.answer(second, 2, Allowance("window", "requests", 5, 10, 30))
    server.answer(first, 3, Allowance("window", "requests", 0, 10, 30))
    assert server.next_start(3) == 3
