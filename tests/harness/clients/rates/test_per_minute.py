"""So many requests or tokens a minute: never more, and hardly fewer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.clients.rates.pacing import TokenEstimate
from misstep.harness.clients.rates.start_limit import End, PerMinute, Start
from misstep.harness.exchange import Failure, Message, Reply, Request


def starts(limit: PerMinute, seconds: float, tokens: float = 0.0, used: float | None = None) -> list[float]:
    now, sent = 1000.0, []
    while (now := limit.next_start(now, tokens)) < 1000.0 + seconds:
        start = Start(len(sent), 0.0, now, tokens)
        limit.started(start)
        limit.ended(start, End(now, None, tokens if used is None else used))
        sent.append(now)
    return sent


@given(st.integers(1, 5000), st.floats(0, 60))
def test_in_no_minute_are_more_requests_sent_than_allowed(limit: int, offset: float) -> None:
    sent = starts(PerMinute("requests", limit), 130)
    assert sum(1000 + offset <= at < 1060 + offset for at in sent) <= limit
    assert len(sent) >= 0.98 * limit * 130 / 60 - 1


def test_an_idle_minute_is_not_made_up_for() -> None:
    limit = PerMinute("requests", 60)
    first = starts(limit, 1)
    now = first[-1] + 600
    later = [limit.next_start(now, 0.0)]
    limit.started(Start(9, 0.0, now, 0.0))
    assert later == [now]
    assert limit.next_start(now, 0.0) > now + 0.5


def test_tokens_are_limited_by_what_requests_took_and_not_by_what_was_expected() -> None:
    assert len(starts(PerMinute("tokens", 6000), 60, tokens=100)) == pytest.approx(60, abs=2)
    assert len(starts(PerMinute("tokens", 6000), 60, tokens=100, used=50)) == pytest.approx(120, abs=2)


def test_an_estimate_is_that_of_the_answers_so_far() -> None:
    estimate = TokenEstimate()
    request = Request("small-1", (Message("user", "x" * 4000),), max_tokens=1000)
    before = estimate.of(request)
    for _ in range(100):
        assert estimate.learn(request, Reply("yes", None, "stop", "m", 1000, 20, 0.1, None)) == 1020
    assert before > 2000
    assert 1020 < estimate.of(request) < 1200


def test_a_failure_took_no_tokens_and_a_reply_without_usage_what_was_expected() -> None:
    estimate = TokenEstimate()
    request = Request("small-1", (Message("user", "x" * 300),))
    assert estimate.learn(request, Failure("rate_limited", "too many")) == 0
    assert estimate.learn(request, Reply("yes", None, "stop", "m", None, None, 0.1, None)) is None
    assert estimate.learn(request, None) is None
