"""Whatever one request raises is that request's failure, and an oddity beside the answer costs nothing."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from misstep_harness.clients import ClientSettings, open_client
from misstep_harness.clients.around_client import ErrorsAsFailuresClient
from misstep_harness.clients.batches import read_outcomes
from misstep_harness.clients.cache import Cache, CachedClient
from misstep_harness.clients.openai_client import OpenAIClient
from misstep_harness.clients.recording import ReplayClient, ScriptedClient, text_reply
from misstep_harness.errors import InputError, MissingPrerequisite
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request
from tests.harness.clients.faulty_server import Play, answer, completion, serving

QUESTION = Request("gpt-4o-mini", (Message("user", "Is it solved?"),), max_tokens=10)
FINE = answer(completion())


def nested(depth: int, field: str = "usage") -> bytes:
    whole = msgspec.json.encode(completion() | {field: None})
    return whole.replace(b'"%b":null' % field.encode(), b'"%b":%b' % (field.encode(), b"[" * depth + b"]" * depth))


def ask(*script: Play, times: int = 1, **settings: Any) -> list[Outcome]:
    async def run() -> list[Outcome]:
        async with serving(*script) as server:
            client = open_client(ClientSettings(base_url=server.base_url, attempts=1, **settings))
            outcomes = [await client.ask(msgspec.structs.replace(QUESTION, sample=turn)) for turn in range(times)]
            await client.close()
            return outcomes

    return asyncio.run(run())


def raw_answer(fields: bytes, status: int = 200, body: bytes = msgspec.json.encode(completion())) -> Play:
    async def play(writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 %d Said\r\nContent-Length: %d\r\n%b\r\n" % (status, len(body), fields)
        writer.write(head + body)

    return play


@pytest.mark.parametrize("depth", [500, 900, 990, 1100, 5_000, 100_000])
@pytest.mark.parametrize("field", ["usage", "error", "system_fingerprint", "model", "choices"])
@pytest.mark.parametrize("status", [200, 400, 429, 500])
def test_an_answer_nested_however_deep_costs_its_own_request(depth: int, field: str, status: int) -> None:
    odd, fine = ask(answer(nested(depth, field), status), FINE, times=2)
    assert isinstance(odd, Reply | Failure)
    assert isinstance(fine, Reply)


@pytest.mark.parametrize(
    "fields",
    [
        b"X-Greeting: gr\xfc\xdf\r\n",
        "X-Greeting: grüß\r\n".encode(),
        b"Content-Type: application/json; charset=\xff\r\n",
        b"Content-Type: \xff\r\n",
        b"Set-Cookie: a=b\x01c; Path=/\r\n",
        b"Set-Cookie: \x7f=1\r\nSet-Cookie: a\tb=c\r\n",
        b"Retry-After: \xe9\r\n",
        b"Retry-After: 99999999999999999999\r\n",
        b"Date: \xff\r\n",
        b"Date: Sat, 31 Feb 9999999 12:00:00 GMT\r\n",
        b"Location: http://[::1\r\n",
        b"Content-Encoding: gzip\r\n",
        b"Content-Encoding: unheard-of\r\n",
        *(
            b"Content-Type: application/json; charset=%b\r\n" % name
            for name in (b"utf-16", b"idna", b"punycode", b"hex", b"base64", b"rot13", b"zip", b"undefined", b"none")
        ),
    ],
)
@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 503])
def test_an_odd_header_field_costs_its_own_request_at_most(fields: bytes, status: int) -> None:
    odd, fine = ask(raw_answer(fields, status), FINE, times=2)
    assert isinstance(odd, Reply | Failure)
    assert isinstance(odd, Reply) or status != 200 or b"\x01" in fields or b"\x7f" in fields or b"Encoding" in fields
    assert isinstance(fine, Reply)


@pytest.mark.parametrize("tokens", [10**400, 1 << 64, -1, 1e400, "9" * 5000, True, [], {"a": 1}])
def test_a_count_of_tokens_that_is_none_is_not_known(tokens: Any, tmp_path: Path) -> None:
    body = msgspec.json.encode(completion(usage={"prompt_tokens": None, "completion_tokens": 1}))
    text = str(tokens).encode() if isinstance(tokens, int) and tokens > 1 << 63 else msgspec.json.encode(tokens)
    (outcome,) = ask(answer(body.replace(b'"prompt_tokens":null', b'"prompt_tokens":' + text)), cache=tmp_path / "kept")
    assert outcome.input_tokens is None
    assert outcome.cost_usd is None


def test_what_ends_a_run_is_not_taken_for_a_failure_of_one_request() -> None:
    def raises(error: BaseException) -> Outcome:
        raise error

    async def run(error: BaseException) -> Outcome:
        return await ErrorsAsFailuresClient(ScriptedClient(lambda _: raises(error)), str).ask(QUESTION)

    failure = asyncio.run(run(RecursionError("too\ndeep")))
    assert failure.sentence == "asking raised RecursionError: too deep"
    for error in (MissingPrerequisite("no key"), InputError("no room"), asyncio.CancelledError()):
        with pytest.raises(type(error)):
            asyncio.run(run(error))


def test_a_kept_answer_that_cannot_be_read_is_asked_again_and_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept")
    key = QUESTION.key()
    for broken in (b"[" * 2000, b"{", b"\xff", b'{"text": ' + b"[" * 990 + b"]" * 990 + b"}", 7):
        cache.put(key, QUESTION, text_reply("no", "m"))
        cache._rows.execute("UPDATE exchange SET reply = ?", (broken,))
        client = CachedClient(ScriptedClient(lambda _: "yes"), cache)
        for cached in (False, True):
            outcome = asyncio.run(client.ask(QUESTION))
            assert (outcome.text, outcome.cached) == ("yes", cached)


def test_a_line_nested_too_deep_is_named_in_a_recording_and_in_lines_of_a_cache(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    deep = b"[" * 100_000 + b"]" * 100_000
    file.write_bytes(b'{"key": "k", "request": %b, "outcome": {}, "reply": {}, "created": ""}\n' % deep)
    with pytest.raises(InputError, match=r"lines\.jsonl:1"):
        ReplayClient(file)
    with pytest.raises(InputError, match=r"lines\.jsonl:1"):
        Cache(tmp_path / "kept").take_in(file)


@pytest.mark.parametrize("depth", [900, 990, 5_000])
def test_a_line_of_a_batch_nested_however_deep_costs_its_own_request(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    lines = [
        b'{"custom_id": "a", "response": {"status_code": 200, "body": %b}}' % deep,
        b'{"custom_id": "b", "error": {"message": %b}}' % deep,
        b'{"custom_id": "c", "response": {"status_code": 200, "body": %b}}' % msgspec.json.encode(completion()),
    ]
    outcomes = read_outcomes(b"\n".join(lines), dict.fromkeys("abc", "m"))
    assert isinstance(outcomes["c"], Reply)
    assert not any(isinstance(outcomes.get(key), Reply) for key in "ab")


def test_one_attempt_has_an_outcome_whatever_the_server_speaks() -> None:
    async def run(spoken: bytes) -> Outcome:
        async def play(writer: asyncio.StreamWriter) -> None:
            writer.write(spoken)
            await writer.drain()
            writer.close()

        async with serving(play) as server:
            client = OpenAIClient(server.base_url, "")
            outcome = await client.ask(QUESTION)
            await client.close()
            return outcome

    for spoken in (b"HELLO\r\n\r\n", b"HTTP/1.1 999999 ?\r\n\r\n", b"HTTP/1.1 200 OK\r\nA\x00: b\r\n\r\n", b"\xff" * 9):
        outcome = asyncio.run(run(spoken))
        assert "\\x" not in outcome.sentence
