"""Each fault of a server is met: one outcome a request, of the right kind, whatever comes over a real connection."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from misstep_harness.clients.around_client import CircuitBreakerClient
from misstep_harness.clients.openai_client import OpenAIClient
from misstep_harness.clients.parse_response import retry_after
from misstep_harness.clients.retry import RequestPace, RetryingClient, RetryLimits
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request
from tests.harness.clients.ask_all import ask_all
from tests.harness.clients.faulty_server import (
    Play,
    answer,
    completion,
    drip,
    endless,
    reset,
    serving,
    stall,
    truncated,
)

KEY = "sk-secret/0123456789"
QUESTION = Request("small-1", (Message("user", "Is it solved?"),), temperature=0, max_tokens=10)


def outcome_of(
    *script: Play, limits: RetryLimits | None = None, largest_body: int = 1 << 20
) -> tuple[Outcome, list[float], int]:
    """The outcome of a patient client over a script of answers, the waits it made, and how many requests came."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def clock() -> float:
        return time.monotonic() + sum(waits)

    async def run() -> tuple[Outcome, int]:
        async with serving(*script) as server:
            bare = OpenAIClient(server.base_url, KEY, largest_body=largest_body)
            client = RetryingClient(bare, limits or RetryLimits(attempts=3), pace=RequestPace(clock=clock, sleep=sleep))
            try:
                return await client.ask(QUESTION), len(server.received)
            finally:
                await client.close()

    outcome, requests = asyncio.run(run())
    return outcome, waits, requests


async def collect(pairs: AsyncIterator[tuple[Request, Outcome]], got: list[Outcome]) -> None:
    async for _, outcome in pairs:
        got.append(outcome)


FINE = answer(completion())


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (answer({"error": {"message": "slow down"}}, 429), "rate_limited"),
        (answer({"error": {"message": "oops"}}, 500), "server"),
        (answer(b"<html>down</html>", 503, "text/html"), "server"),
        (answer({}, 408), "server"),
        (reset, "connection"),
        (truncated(), "connection"),
        (answer(b'{"choices": [{"mess'), "malformed"),
        (answer(b""), "malformed"),
        (answer(b'{"choices": []} {"choices": []}'), "malformed"),
        (answer(b"\xff\xfe{}"), "malformed"),
        (answer(b"<!doctype html><p>Welcome</p>", kind="text/html"), "malformed"),
        (answer([completion()]), "malformed"),
        (answer(completion(choices=[])), "malformed"),
        (answer(completion(choices=None)), "malformed"),
        (answer(completion(choices=[{"finish_reason": "stop"}])), "malformed"),
        (answer(completion(content=17)), "malformed"),
        (answer(b"[" * 100_000), "malformed"),
        (answer({"error": {"message": "overloaded"}}), "server"),
        (answer(completion('{"la', choice={"finish_reason": "error", "error": {"message": "idle"}})), "server"),
    ],
)
def test_what_may_pass_is_asked_again_and_then_named(fault: Play, kind: str) -> None:
    """A transient fault once is not a loss; a fault every time is a failure of its kind after the last attempt."""
    once, waits, requests = outcome_of(fault, FINE)
    assert (once.text, once.attempts, requests, len(waits)) == ("yes", 2, 2, 1)
    always, waits, requests = outcome_of(fault)
    assert (always.kind, always.attempts, requests, len(waits)) == (kind, 3, 3, 2)
    assert always.sentence


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (answer({"error": {"message": "no such parameter"}}, 400), "bad_request", "no such parameter"),
        (answer({"error": {"message": "no model small-1"}}, 404), "bad_request", "no model small-1"),
        (answer({"detail": "Not Found"}, 404), "bad_request", "; does the address (--base-url) end in `/v1`?"),
        (answer({"error": {"message": "wrong key"}}, 401), "unauthorised", "OPENAI_API_KEY"),
        (answer({"error": "not yours"}, 403), "unauthorised", "not yours"),
        (answer({"error": {"code": "insufficient_quota", "message": "pay"}}, 429), "quota", "no credit"),
        (answer(b"", 307, Location="http://127.0.0.1:1/v1"), "bad_request", "does --base-url begin with `https://`"),
        (endless, "too_large", "larger than 1,048,576 bytes"),
        (answer(b" " * (2 << 20)), "too_large", "larger than"),
    ],
)
def test_what_cannot_pass_is_asked_once(fault: Play, kind: str, text: str) -> None:
    outcome, waits, requests = outcome_of(fault)
    assert (outcome.kind, requests, waits) == (kind, 1, [])
    assert text in outcome.sentence
    assert text != "no model small-1" or "/v1" not in outcome.sentence, "the address is not to blame"


@pytest.mark.parametrize("fault", [stall, drip])
def test_a_deadline_is_for_the_whole_answer(fault: Play) -> None:
    """Neither silence nor an answer that never ends holds an attempt longer than its deadline."""
    outcome, _, requests = outcome_of(fault, limits=RetryLimits(attempts=2, attempt_seconds=0.1))
    assert (outcome.kind, outcome.attempts, requests) == ("timeout", 2, 2)


def test_the_limit_of_a_call_holds_for_all_its_attempts() -> None:
    outcome, _, requests = outcome_of(stall, limits=RetryLimits(attempts=9, attempt_seconds=60, total_seconds=0.1))
    assert (outcome.kind, requests) == ("timeout", 1)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (completion(None), {"text": None, "finish": "stop"}),
        (completion(None, message={"refusal": "I will not."}), {"text": None, "refusal": "I will not."}),
        (completion("", choice={"finish_reason": "content_filter"}), {"text": "", "finish": "content_filter"}),
        (completion('{"label": "y', choice={"finish_reason": "length"}), {"text": '{"label": "y', "finish": "length"}),
        (completion('{"verdict": 3}'), {"text": '{"verdict": 3}'}),
        (completion('Sure!\n```json\n{"label": "yes"}\n```'), {"text": 'Sure!\n```json\n{"label": "yes"}\n```'}),
        (completion('{"label": "yes"} {"label": "no"}'), {"text": '{"label": "yes"} {"label": "no"}'}),
        (completion(usage=None), {"input_tokens": None, "output_tokens": None}),
        (
            completion(usage={"prompt_tokens": -1, "completion_tokens": "2"}),
            {"input_tokens": None, "output_tokens": None},
        ),
        (completion(model=None), {"model": "small-1"}),
        (completion("half \ud800 pair"), {"text": "half \ufffd pair"}),
        (completion(choice={"finish_reason": None}), {"finish": None}),
        (completion([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]), {"text": "yes"}),
        (completion([{"type": "reasoning", "text": None}, {"type": "text", "text": "yes"}]), {"text": "yes"}),
        (completion(float("nan"), message={"content": "yes", "score": float("nan")}), {"text": "yes"}),
    ],
)
def test_whatever_a_model_says_is_a_reply(body: dict[str, Any], expected: dict[str, Any]) -> None:
    """A refusal, a filter, a cut, a wrong shape of the text are the model's answer: kept as they are, asked once."""
    outcome, _, requests = outcome_of(answer(body))
    assert isinstance(outcome, Reply)
    assert ({name: getattr(outcome, name) for name in expected}, requests) == (expected, 1)
    outcome.raw.encode()


def test_json_sent_as_plain_text_is_read() -> None:
    outcome, _, _ = outcome_of(answer(completion(), kind="text/plain"))
    assert isinstance(outcome, Reply)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"retry_after_ms": "1500", "Retry_After": "9"}, 1.5),
        ({"Retry_After": "Sat, 31 Jan 2026 12:00:05 GMT", "Date": "Sat, 31 Jan 2026 12:00:00 GMT"}, 5.0),
    ],
)
def test_the_wait_is_never_shorter_than_the_server_asks(headers: dict[str, str], seconds: float) -> None:
    outcome, waits, _ = outcome_of(answer({}, 429, **headers), FINE)
    assert isinstance(outcome, Reply)
    assert seconds <= waits[0] <= seconds + 0.5


def test_a_date_without_the_servers_clock_is_held_against_ones_own() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    waited = retry_after({"retry-after": later})
    assert 50 < waited <= 60
    assert retry_after({"retry-after": "Sat, 31 Jan 1998 12:00:05 GMT"}) == 0
    assert retry_after({"retry-after": "soon"}) is None


def test_without_a_word_of_the_server_waits_double_up_to_a_limit() -> None:
    limits = RetryLimits(attempts=7, first_wait=1, longest_wait=8)
    _, waits, _ = outcome_of(answer({}, 503), limits=limits)
    assert [0 <= wait <= full for full, wait in zip((1, 2, 4, 8, 8, 8), waits, strict=True)] == [True] * 6


def test_a_wait_past_the_total_limit_is_not_begun() -> None:
    outcome, waits, requests = outcome_of(answer({}, 429, Retry_After="86400"), limits=RetryLimits(total_seconds=60))
    assert (requests, waits) == (1, [])
    assert "waiting 86,400 s more would pass the limit of 60 s" in outcome.sentence


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_the_key_is_in_nothing_that_comes_back(status: int, caplog: pytest.LogCaptureFixture) -> None:
    """A server that echoes the Authorization header does not get the key into an outcome or a log."""
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"you sent Authorization: Bearer {KEY}"}}
    outcome, _, _ = outcome_of(answer(echo, status))
    result, _, _ = outcome_of(answer(completion(f"Bearer {KEY}")))
    assert isinstance(outcome, Failure)
    assert result.text == "Bearer [API key]"
    for text in (repr(outcome), repr(result), caplog.text):
        assert KEY not in text
        assert KEY.replace("/", r"\/") not in text


def test_a_server_gone_in_the_middle_stops_the_run_and_loses_nothing() -> None:
    """What came before is given, then the run ends with one sentence instead of asking thousands of times in vain."""
    answered, requests = 20, 1000

    async def no_wait(_: float) -> None:
        await asyncio.sleep(0)

    async def run() -> list[Outcome]:
        got: list[Outcome] = []
        async with serving(*[FINE] * answered, reset) as server:
            patient = RetryingClient(
                OpenAIClient(server.base_url, KEY), RetryLimits(attempts=2), pace=RequestPace(sleep=no_wait)
            )
            client = CircuitBreakerClient(patient, failures_to_stop=5)
            asked = (Request("m", (Message("user", str(number)),)) for number in range(requests))
            with pytest.raises(MissingPrerequisite, match="in a row failed"):
                await collect(ask_all(client, asked, 4), got)
            assert len(server.received) < answered + 40
            await client.close()
        return got

    got = asyncio.run(run())
    assert sum(isinstance(outcome, Reply) for outcome in got) == answered
    assert 5 <= sum(isinstance(outcome, Failure) for outcome in got) < 10


def test_no_server_at_all_is_a_failure_to_connect() -> None:
    async def run() -> Outcome:
        async with serving(FINE) as server:
            address = server.base_url
        client = OpenAIClient(address, KEY)
        outcome = await client.ask(QUESTION)
        await client.close()
        return outcome

    outcome = asyncio.run(run())
    assert outcome.kind == "connection"
