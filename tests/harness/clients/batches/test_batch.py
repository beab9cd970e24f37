"""By the Batch API each request has one outcome, is submitted once, and goes on from where a run was stopped."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import web

from misstep_harness.clients.batches import ask_batch, in_parts, read_outcomes, request_lines
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import InputError, MissingPrerequisite, UsageError
from misstep_harness.exchange import Message, Outcome, Reply, Request
from tests.harness.clients.batch_server import BatchServer, answered, batch_server
from tests.harness.clients.faulty_server import completion

KEY = "sk-batch/0123456789"


def question(text: str, model: str = "gpt-4o-mini") -> Request:
    return Request(model, (Message("user", text),), max_tokens=20)


QUESTIONS = [question(text) for text in "abcd"]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


async def gather(
    server: BatchServer, folder: Path, requests: list[Request], **changes: object
) -> list[tuple[Request, Outcome]]:
    settings = ClientSettings(base_url=server.base_url, **changes)  # type: ignore[arg-type]
    pairs = ask_batch(requests, settings, folder / "batches.json", sleep=_no_wait)
    return [pair async for pair in pairs]


def outcomes_of(
    folder: Path, prepare: Callable[[BatchServer], None] = lambda _: None, requests: list[Request] | None = None
) -> tuple[dict[str, Outcome], BatchServer]:
    """The outcome of each question by its text, and the server as it was left."""

    async def run() -> tuple[dict[str, Outcome], BatchServer]:
        async with batch_server() as server:
            prepare(server)
            pairs = await gather(server, folder, requests or QUESTIONS)
            return {request.messages[0].content: outcome for request, outcome in pairs}, server

    return asyncio.run(run())


def texts(outcomes: dict[str, Outcome]) -> dict[str, str | None]:
    return {text: outcome.text if isinstance(outcome, Reply) else outcome.kind for text, outcome in outcomes.items()}


def test_each_request_has_its_own_answer_at_half_the_price(tmp_path: Path) -> None:
    def prepare(server: BatchServer) -> None:
        server.polls = 3
        server.output = lambda lines: [answered(line) for line in reversed(lines)]

    outcomes, server = outcomes_of(tmp_path, prepare)
    assert (texts(outcomes), len(server.batches)) == ({"a": "A", "b": "B", "c": "C", "d": "D"}, 1)
    (reply, *_) = outcomes.values()
    assert reply.cost_usd == pytest.approx((9 * 0.15 + 0.6) / 2e6)


def test_errors_missing_twice_given_and_unknown_lines_are_told_apart(tmp_path: Path) -> None:
    def prepare(server: BatchServer) -> None:
        def output(lines: list[dict[str, object]]) -> list[dict[str, object]]:
            a = lines[0]
            return [answered(a), answered(a, 500), answered(a | {"custom_id": "someone else's"}), {"no": "line"}]

        server.output = output
        server.errors = lambda lines: [
            answered(lines[1], 400, {"error": {"message": "too long"}}),
            {"custom_id": lines[2]["custom_id"], "response": None, "error": {"code": "x", "message": "expired"}},
        ]

    outcomes, _ = outcomes_of(tmp_path, prepare)
    assert texts(outcomes) == {"a": "A", "b": "bad_request", "c": "server", "d": "malformed"}


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        ("expired", "server", "is expired"),
        ("cancelled", "server", "is cancelled"),
        ("failed", "bad_request", "not to our taste"),
    ],
)
def test_a_batch_that_ends_early_keeps_what_was_answered(tmp_path: Path, status: str, kind: str, message: str) -> None:
    def prepare(server: BatchServer) -> None:
        server.status = status
        server.output = lambda lines: [answered(lines[0])]

    outcomes, _ = outcomes_of(tmp_path, prepare)
    assert texts(outcomes) == {"a": "A", "b": kind, "c": kind, "d": kind}
    failure = outcomes["b"]
    assert message in failure.sentence


def test_what_failed_is_asked_again_and_what_was_answered_is_not(tmp_path: Path) -> None:
    async def run() -> tuple[list[Outcome], list[str]]:
        async with batch_server() as server:
            server.output = lambda lines: [answered(line) for line in lines[:2]]
            await gather(server, tmp_path, QUESTIONS)
            server.output = lambda lines: [answered(line) for line in lines]
            again = await gather(server, tmp_path, QUESTIONS)
            uploaded = [server.files[batch["input_file_id"]] for batch in server.batches.values()]
            return [outcome for _, outcome in again], uploaded

    again, uploaded = asyncio.run(run())
    assert all(isinstance(outcome, Reply) for outcome in again)
    assert [content.count("\n") for content in uploaded] == [4, 2]


@pytest.mark.parametrize(
    ("at", "done"),
    [
        ("POST /files", False),
        ("POST /batches", False),
        ("POST /batches", True),
        ("GET /batches/batch-0", False),
        ("GET /files/file-1/content", False),
    ],
)
def test_stopped_in_any_phase_it_goes_on_and_submits_nothing_twice(tmp_path: Path, at: str, done: bool) -> None:
    """`done` is whether the server had done what was asked when the run was stopped without its answer."""

    async def run() -> tuple[list[Outcome], int]:
        async with batch_server() as server:

            def kill(method: str, path: str) -> web.Response | None:
                if f"{method} {path}" != at:
                    return None
                if done:
                    server._submitted("file-0")
                raise web.HTTPBadRequest(text='{"error": {"message": "killed"}}')

            server.broken = kill
            with pytest.raises(MissingPrerequisite, match="killed"):
                await gather(server, tmp_path, QUESTIONS)
            server.broken = lambda *_: None
            pairs = await gather(server, tmp_path, QUESTIONS)
            return [outcome for _, outcome in pairs], len(server.batches)

    outcomes, batches = asyncio.run(run())
    assert ([isinstance(outcome, Reply) for outcome in outcomes], batches) == ([True] * 4, 1)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_fault_that_passes_is_no_loss(tmp_path: Path, status: int) -> None:
    def prepare(server: BatchServer) -> None:
        seen: set[str] = set()

        def broken(method: str, path: str) -> web.Response | None:
            first = f"{method} {path}" not in seen
            seen.add(f"{method} {path}")
            return web.Response(status=status) if first else None

        server.broken = broken

    outcomes, server = outcomes_of(tmp_path, prepare)
    assert (texts(outcomes), len(server.batches)) == ({"a": "A", "b": "B", "c": "C", "d": "D"}, 1)


@pytest.mark.parametrize(
    "response",
    [
        lambda: web.Response(status=404, text=f"no batches for {KEY}"),
        lambda: web.Response(text="<p>Welcome</p>", content_type="text/html"),
        lambda: web.Response(status=401, text=f'{{"error": {{"message": "Bearer {KEY}"}}}}'),
    ],
)
def test_a_server_without_batches_stops_the_run(tmp_path: Path, response: Callable[[], web.Response]) -> None:
    def prepare(server: BatchServer) -> None:
        server.broken = lambda *_: response()

    with pytest.raises(MissingPrerequisite) as error:
        outcomes_of(tmp_path, prepare)
    assert KEY not in error.value.line()


def test_a_batch_that_could_cost_more_than_the_limit_is_not_submitted(tmp_path: Path) -> None:
    async def run() -> int:
        async with batch_server() as server:
            with pytest.raises(UsageError, match="could cost"):
                await gather(server, tmp_path, QUESTIONS, max_cost_usd=0.00001)
            await gather(server, tmp_path, QUESTIONS, max_cost_usd=1.0)
            return len(server.files)

    assert asyncio.run(run()) == 2


def test_what_was_handed_in_counts_at_its_most_until_its_cost_is_known(tmp_path: Path) -> None:
    async def run(usage: dict[str, int] | None) -> None:
        folder = tmp_path / str(bool(usage))
        folder.mkdir()
        async with batch_server() as server:
            body = completion("yes", usage=usage)
            server.output = lambda lines: [answered(line, body=body) for line in lines]
            for number in range(50):
                requests = [question(f"Is it {number}?")]
                await gather(server, folder, requests, max_cost_usd=0.0005, spending_log=folder / "spent")

    with pytest.raises(UsageError, match="could cost"):
        asyncio.run(run(None))
    asyncio.run(run({"prompt_tokens": 1, "completion_tokens": 1}))


def test_the_cache_is_looked_at_first_and_filled(tmp_path: Path) -> None:
    async def run() -> tuple[list[bool], int]:
        async with batch_server() as server:
            await gather(server, tmp_path / "one", QUESTIONS[:2], cache=tmp_path / "cache")
            pairs = await gather(server, tmp_path / "two", QUESTIONS, cache=tmp_path / "cache")
            return [outcome.cached for _, outcome in pairs if isinstance(outcome, Reply)], len(server.batches)

    assert asyncio.run(run()) == ([True, True, False, False], 2)


def test_a_state_that_is_none_or_of_another_server_is_refused(tmp_path: Path) -> None:
    (tmp_path / "batches.json").write_text("{}")
    with pytest.raises(InputError, match="not a record of batches"):
        outcomes_of(tmp_path)
    (tmp_path / "batches.json").write_text('{"server": "http://127.0.0.1:1/v1", "parts": []}')
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:1"):
        outcomes_of(tmp_path)


def test_many_requests_make_several_batches() -> None:
    lines = list(request_lines(question(str(number)) for number in range(25)))
    assert [len(part) for part in in_parts(lines, most_requests=10)] == [10, 10, 5]
    assert [len(part) for part in in_parts(lines, most_bytes=1)] == [1] * 25


def test_a_line_with_a_lone_surrogate_is_read() -> None:
    line = (
        rb'{"custom_id": "k", "error": null, "response": {"status_code": 200, "body": {"model": "m", "choices": '
        rb'[{"message": {"content": "half \ud800 pair"}, "finish_reason": "stop"}]}}}'
    )
    outcome = read_outcomes(line, {"k": "m"})["k"]
    assert outcome.text == "half \ufffd pair"
