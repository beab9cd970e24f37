"""What a server says is left is heeded before it refuses anything."""

import math

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
    told = Told()
    told.answer(told.send(0), 1)
    assert told.next_start(1) == 1


def test_what_was_sent_since_is_no_longer_left() -> None:
    told = Told()
    first = told.send(0)
    told.send(0.5)
    told.answer(first, 1, Allowance("window", "requests", 2, 10, 30))
    assert told.next_start(1) == 1
    told.send(1)
    assert told.next_start(1) == 31


def test_a_new_window_has_all_of_the_limit_until_an_answer_says_otherwise() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("window", "requests", 0, 2, 10))
    assert told.next_start(9) == 10
    told.send(10)
    assert told.next_start(10) == 10
    told.send(10)
    assert told.next_start(10) == 20


def test_the_end_of_a_window_is_as_close_as_any_answer_has_said() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("window", "requests", 1, 10, 5))
    told.answer(told.send(0.9), 0.9, Allowance("window", "requests", 0, 10, 5))
    assert told.next_start(1) == 5


def test_a_bucket_fills_at_the_pace_that_its_reset_means() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("requests", "requests", 0, 60, 60, refills=True))
    assert told.next_start(0) == pytest.approx(1)
    assert told.next_start(5) == 5


def test_without_a_reset_a_limit_is_one_a_minute() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("requests", "requests", 0, 120, None, refills=True))
    assert told.next_start(0) == pytest.approx(0.5)


def test_tokens_are_counted_as_the_request_is_expected_to_take() -> None:
    told = Told(tokens=50)
    told.answer(told.send(0), 0, Allowance("tokens", "tokens", 20, 100, 80, refills=True))
    assert told.next_start(0) == pytest.approx(30)


def test_a_request_larger_than_the_limit_waits_for_all_of_it_and_no_longer() -> None:
    told = Told(tokens=500)
    told.answer(told.send(0), 0, Allowance("tokens", "tokens", 0, 100, 10, refills=True))
    assert told.next_start(0) == pytest.approx(10)


def test_an_answer_to_an_earlier_request_that_comes_later_says_nothing_new() -> None:
    told = Told()
    first, second = told.send(0), told.send(1)
    told.answer(second, 2, Allowance("window", "requests", 5, 10, 30))
    told.answer(first, 3, Allowance("window", "requests", 0, 10, 30))
    assert told.next_start(3) == 3


def test_a_limit_that_says_not_when_anything_comes_back_holds_nothing_back() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("window", "requests", 0, None, None))
    assert not math.isinf(told.next_start(0))


def test_a_limit_that_is_back_after_hours_is_left_for_the_server_to_say() -> None:
    told = Told()
    told.answer(told.send(0), 0, Allowance("window", "requests", 0, 1000, 3600))
    assert told.next_start(1) == 1
