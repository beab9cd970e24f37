"""Requests that a server answers as one batch.

The lines of the Batch API, as they are uploaded and come back, and what is known of the batches of a run, on file.

    {"custom_id": "5d…", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "small-1", …}}
    {"id": "batch_req_1", "custom_id": "5d…", "response": {"status_code": 200, "body": {"choices": […]}}, "error": null}

Answers come in any order, in two files, and some may be missing; `custom_id` is the key of the request.

    {"server": "https://…/v1", "parts": [{"keys": ["5d…"], "file": "file-1", "submitting": true, "batch": "batch-1"}]}

A part is written down, uploaded (`file`), about to be submitted (`submitting`), submitted (`batch`). Where a run was
killed when it was about to submit, the server is asked whether it has the batch. A part without keys is gone.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
import msgspec
import openai
from msgspec import Struct
from openai.types import Batch, FileObject

from misstep_harness.clients.address import NO_KEY, address_and_key
from misstep_harness.clients.around_client import failure_of
from misstep_harness.clients.cache import Cache
from misstep_harness.clients.cost_limit import SpendingLog, most_usd
from misstep_harness.clients.openai_client import BodyTooLargeError, Wire
from misstep_harness.clients.parse_response import ParsedAnswer, Redact, as_text, parse_response
from misstep_harness.clients.retry import Sleep
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import InputError, MissingPrerequisite, MisstepError, UsageError, opening, writing
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.exchange import Failure, Outcome, Reply, Request
from misstep_harness.journal.records import encode, replace_file
from misstep_harness.redaction import Redaction, secrets
from misstep_harness.usage import Prices, known_prices

ENDPOINT: Literal["/v1/chat/completions"] = "/v1/chat/completions"

MOST_REQUESTS = 10_000
MOST_BYTES = 32 << 20
"""What one batch takes here: well below what servers take, as a file is held in memory."""

Line = tuple[str, bytes]


class _Response(Struct):
    status_code: int
    body: Any = None


class _Answered(Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


_answered = msgspec.json.Decoder(_Answered)


def request_lines(requests: Iterable[Request]) -> Iterator[Line]:
    """Return each different request once, as its key and its line."""
    seen: set[str] = set()
    for request in requests:
        if request.decision is not None:
            raise UsageError("the Batch API takes chat completions alone", 'Leave out --batch, or set `api = "chat"`.')
        key = request.key()
        if key not in seen:
            seen.add(key)
            yield (
                key,
                b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
                % (key.encode(), ENDPOINT.encode(), request.content()),
            )


def in_parts(
    lines: Iterable[Line], most_requests: int = MOST_REQUESTS, most_bytes: int = MOST_BYTES
) -> Iterator[list[Line]]:
    """Return the lines of each batch."""
    part: list[Line] = []
    size = 0
    for key, line in lines:
        if part and (len(part) >= most_requests or size + len(line) > most_bytes):
            yield part
            part, size = [], 0
        part.append((key, line))
        size += len(line)
    if part:
        yield part


def read_outcomes(content: bytes, models: dict[str, str], redact: Redact = str) -> dict[str, Outcome]:
    """Key → outcome of the lines of an output or error file.

    Lines that are broken or belong to no key are left out: the missing key shows it. Of two lines of one key the first
    counts. A batch does not say how long an answer took: `seconds` is 0.
    """
    outcomes: dict[str, Outcome] = {}
    for line in content.splitlines():
        answered = _decoded(line)
        if answered is not None and answered.custom_id in models and answered.custom_id not in outcomes:
            outcomes[answered.custom_id] = _outcome(answered, models[answered.custom_id], redact)
    return outcomes


def _decoded(line: bytes) -> _Answered | None:
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _answered.decode(line)
    return _decoded_leniently(line)


def _decoded_leniently(line: bytes) -> _Answered | None:
    """Return a line with what `json` alone knows: lone surrogates, NaN."""
    with suppress(ValueError, RecursionError):
        return msgspec.convert(json_without_surrogates(json.loads(line)), _Answered)
    return None


def _outcome(answered: _Answered, model: str, redact: Redact) -> Outcome:
    if answered.response is not None and answered.response.status_code:
        try:
            body = json.dumps(answered.response.body).encode()
            return parse_response(ParsedAnswer(answered.response.status_code, {}, body), model, 0.0, redact)
        except Exception as raised:  # noqa: BLE001 (the boundary around one request of a batch)
            return failure_of(raised, redact)
    error = answered.error if isinstance(answered.error, dict) else {}
    message = as_text(error.get("message") or "it does not say why")
    return Failure("server", redact(f"the batch could not ask this: {message}"))


def answers_first(output: dict[str, Outcome], errors: dict[str, Outcome]) -> dict[str, Outcome]:
    """Return both files together; a reply counts before a failure."""
    both = errors | output
    return both | {key: outcome for key, outcome in errors.items() if isinstance(outcome, Reply)}


class BatchPart(Struct):
    """One batch: the keys of its requests and how far it is."""

    keys: list[str]
    file: str = ""
    submitting: bool = False
    batch: str = ""


class BatchState(Struct):
    """All batches of a run on one server."""

    server: str
    parts: list[BatchPart] = []

    def keys(self) -> set[str]:
        """Return the keys that some part has."""
        return {key for part in self.parts for key in part.keys}


def read_state(file: Path, server: str) -> BatchState:
    """Return the state that a file has; an empty one without a file."""
    try:
        state = msgspec.json.decode(file.read_bytes(), type=BatchState)
    except FileNotFoundError:
        return BatchState(server)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        message = f"not a record of batches: {error}"
        raise InputError(message, "Restore the file; it may have been edited.", file=file) from error
    if state.server != server:
        message = f"the batches of {file} are at {state.server}, not at {server}"
        raise UsageError(message, f"Give --base-url {state.server}, or another folder with --out.")
    return state


def write_state(file: Path, state: BatchState) -> None:
    """Put the state on file, all of it or nothing."""
    with opening(file, "Check the folder's permissions.", "cannot write"):
        with writing(file):
            file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, encode(state))


_OF_THE_WIRE = ("host", "content-length", "connection")


class WireTransport(httpx2.AsyncBaseTransport):
    """Sends the openai client's requests over the same wire as single requests."""

    def __init__(self, largest_body: int) -> None:
        self._wire = Wire(largest_body)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read the whole answer."""
        headers = {name: value for name, value in request.headers.items() if name not in _OF_THE_WIRE}
        answer = await self._wire.send(request.method, str(request.url), await request.aread(), headers)
        kind = answer.headers.get("content-type", "").partition(";")[0].strip()
        fields = {"content-type": kind} if kind.isascii() and kind.isprintable() else {}
        return httpx2.Response(answer.status, headers=fields, content=answer.body)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._wire.close()


class _Connection(openai.AsyncOpenAI):
    def platform_headers(self) -> dict[str, str]:
        return {}


def connect(base_url: str, key: str, largest_body: int) -> openai.AsyncOpenAI:
    """The openai client for an address: it tries once and follows no redirection, which could take the key away."""
    http = httpx2.AsyncClient(transport=WireTransport(largest_body), trust_env=False, timeout=None)
    return _Connection(base_url=base_url, api_key=key or NO_KEY, max_retries=0, http_client=http)


_LARGEST_FILE = 1 << 30
_ATTEMPTS = 6
_FIRST_WAIT = 1.0
_CALL_SECONDS = 600.0
_LONGEST_SECONDS = 26 * 3600
_UNFINISHED = frozenset({"validating", "in_progress", "finalizing", "cancelling"})
_RESUME = "The same command continues the run."

T = TypeVar("T")


async def ask_batch(
    requests: Iterable[Request],
    settings: ClientSettings,
    state_file: Path,
    *,
    poll_seconds: float = 30.0,
    sleep: Sleep = asyncio.sleep,
) -> AsyncGenerator[tuple[Request, Outcome], None]:
    """Return each request with its outcome, a batch at a time."""
    by_key: dict[str, list[Request]] = {}
    for request in requests:
        by_key.setdefault(request.key(), []).append(request)
    with ExitStack() as stack:
        cache = None if settings.cache is None else stack.enter_context(closing(Cache(settings.cache)))
        for key in list(by_key) if cache is not None else ():
            if cache is not None and (cached := cache.get(key)) is not None:
                for request in by_key.pop(key):
                    yield request, cached
        if by_key:
            async for request, outcome in _fresh(by_key, settings, state_file, poll_seconds, sleep):
                if cache is not None and isinstance(outcome, Reply):
                    cache.put(request.key(), request, outcome)
                yield request, outcome


async def _fresh(
    requests_by_key: dict[str, list[Request]],
    settings: ClientSettings,
    state_file: Path,
    poll_seconds: float,
    sleep: Sleep,
) -> AsyncIterator[tuple[Request, Outcome]]:
    address, key = address_and_key(settings.base_url, named=settings.base_url_named)
    state = read_state(state_file, address)
    prices = known_prices(settings.prices, settings.price)
    known = state.keys()
    fresh = [same[0] for one, same in requests_by_key.items() if one not in known]
    spending = None if settings.max_cost_usd is None else _Spending(settings, prices)
    batches = _Batches(address, key, state, state_file, sleep)
    try:
        if spending is not None:
            spending.set_aside(fresh)
        for lines in in_parts(request_lines(fresh)):
            await batches.upload([key for key, _ in lines], b"".join(line for _, line in lines))
        parts = [part for part in state.parts if not requests_by_key.keys().isdisjoint(part.keys)]
        for part in parts:
            await batches.upload_again(part, requests_by_key)
            await batches.submit(part)
        for part in parts:
            models = {key: requests_by_key[key][0].model for key in part.keys if key in requests_by_key}
            outcomes = {
                key: prices.priced(outcome, models[key], batch=True) if isinstance(outcome, Reply) else outcome
                for key, outcome in (await batches.outcomes(part, models, poll_seconds)).items()
            }
            for key, outcome in outcomes.items():
                for request in requests_by_key[key]:
                    yield request, outcome
            batches.deliver(part, outcomes)
            if spending is not None:
                spending.settle((requests_by_key[key][0], outcome) for key, outcome in outcomes.items())
    finally:
        await batches.close()
        if spending is not None:
            spending.close()


class _Spending:
    """What batches may cost, on file: all that was handed in counts at its most until it is known what it did cost."""

    def __init__(self, settings: ClientSettings, prices: Prices) -> None:
        self._limit = settings.max_cost_usd or 0.0
        self._before = settings.spent_usd
        self._prices = prices
        self._spending_log = SpendingLog(settings.spending_log)

    def set_aside(self, requests: list[Request]) -> None:
        """Set aside what requests can cost at the most; `UsageError` where that is more than may be spent."""
        most = sum(map(self._most, requests))
        left = self._limit - max(self._before, self._spending_log.total_usd)
        if most > left:
            raise UsageError(
                f"the batch of {len(requests):,} requests could cost ${most:.2f}, but only ${left:.2f} may be spent",
                "Give a higher --max-cost, or leave out --batch: single requests stop when the limit is reached.",
            )
        self._spending_log.add(most)

    def settle(self, pairs: Iterable[tuple[Request, Outcome]]) -> None:
        """Free what was not used: a failure costs nothing, and an answer without a cost stays at its most."""
        for request, outcome in pairs:
            most = self._most(request)
            cost = outcome.cost_usd if isinstance(outcome, Reply) else 0.0
            self._spending_log.add((most if cost is None else cost) - most)

    def close(self) -> None:
        self._spending_log.close()

    def _most(self, request: Request) -> float:
        price = self._prices.of(request.model)
        return most_usd(request, self._prices) * (price.batch_share if price else 1.0)


class _Batches:
    def __init__(self, address: str, key: str, state: BatchState, file: Path, sleep: Sleep) -> None:
        self._server = connect(address, key, _LARGEST_FILE)
        self._address = address
        self._redact = Redaction(key, secrets())
        self._state, self._file, self._sleep = state, file, sleep

    async def close(self) -> None:
        await self._server.close()

    def _note(self) -> None:
        write_state(self._file, self._state)

    async def upload(self, keys: list[str], content: bytes) -> None:
        part = BatchPart(keys)
        self._state.parts.append(part)
        self._note()
        await self._upload(part, content)

    async def upload_again(self, part: BatchPart, requests_by_key: dict[str, list[Request]]) -> None:
        """Upload a part that an earlier call did not reach, without what is no longer asked."""
        if part.file or part.batch:
            return
        requests = [requests_by_key[key][0] for key in part.keys if key in requests_by_key]
        lines = list(request_lines(requests))
        part.keys = [key for key, _ in lines]
        await self._upload(part, b"".join(line for _, line in lines))

    async def _upload(self, part: BatchPart, content: bytes) -> None:
        files, sent = self._server.files, ("requests.jsonl", content)
        stored = await self._called(lambda: files.create(file=sent, purpose="batch"), FileObject)
        part.file = self._noted_down(stored.id)
        self._note()

    async def submit(self, part: BatchPart) -> None:
        """Submit a part once: where it may have been submitted before, the server is asked for it first."""

        async def call() -> object:
            if part.submitting:
                async for batch in self._server.batches.list(limit=100):
                    if batch.input_file_id == part.file:
                        return batch
            part.submitting = True
            self._note()
            return await self._server.batches.create(
                input_file_id=part.file, endpoint=ENDPOINT, completion_window="24h"
            )

        if not part.batch:
            part.batch = self._noted_down((await self._called(call, Batch)).id)
            self._note()

    async def outcomes(self, part: BatchPart, models: dict[str, str], poll_seconds: float) -> dict[str, Outcome]:
        """Key → outcome for every key of `models`, when the batch is done."""
        batch = await self._done(part, poll_seconds)
        output = await self._lines(batch.output_file_id, models)
        errors = await self._lines(batch.error_file_id, models)
        come = answers_first(output, errors)
        return {key: come.get(key) or self._missing(batch) for key in models}

    async def _done(self, part: BatchPart, poll_seconds: float) -> Batch:
        waited = 0.0
        while True:
            batch = await self._called(lambda: self._server.batches.retrieve(part.batch), Batch)
            if batch.status not in _UNFINISHED:
                return batch
            if waited >= _LONGEST_SECONDS:
                raise MissingPrerequisite(self._redact(f"the batch {part.batch} is still {batch.status}"), _RESUME)
            await self._sleep(poll_seconds)
            waited += poll_seconds

    async def _lines(self, file: str | None, models: dict[str, str]) -> dict[str, Outcome]:
        if not file:
            return {}

        async def call() -> object:
            return (await self._server.files.content(file)).content

        return read_outcomes(await self._called(call, bytes), models, self._redact)

    def _missing(self, batch: Batch) -> Failure:
        if batch.status == "failed":
            messages = [error.message or "" for error in (batch.errors and batch.errors.data) or []]
            return Failure(
                "bad_request", self._redact(f"the batch failed: {'; '.join(messages) or 'it does not say why'}")
            )
        named = self._redact(f"the batch {batch.id} is {batch.status}")
        if batch.status == "completed":
            return Failure("malformed", f"{named} and has no whole line for this request")
        return Failure("server", f"{named}, this request was not answered")

    def _noted_down(self, name: str) -> str:
        if self._redact(name) != name:
            raise self._stopped("it names a thing by the key", "Ask another server.")
        return name

    def deliver(self, part: BatchPart, outcomes: dict[str, Outcome]) -> None:
        """Note that the outcomes of a part were taken; what failed is free to be asked again."""
        part.keys = [key for key in part.keys if not isinstance(outcomes.get(key), Failure)]
        self._state.parts = [one for one in self._state.parts if one.keys]
        self._note()

    async def _called(self, call: Callable[[], Awaitable[object]], expected: type[T]) -> T:
        wait = _FIRST_WAIT
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                async with asyncio.timeout(_CALL_SECONDS):
                    got = await call()
                if isinstance(got, expected):
                    return got
                why = "its answer is not what the Batch API says"
            except openai.APIStatusError as error:
                why = self._redact(str(error))
                if error.status_code < 500 and error.status_code not in (408, 409, 429):
                    raise self._stopped(why, "Ask without --batch where the server takes none.") from None
            except BodyTooLargeError:
                raise self._stopped("its file of answers is too large", "Ask without --batch.") from None
            except MisstepError:
                raise
            except Exception as error:  # noqa: BLE001 (whatever an odd answer makes the openai client raise)
                why = self._redact(str(error) or type(error).__name__)
            if attempt < _ATTEMPTS:
                await self._sleep(wait)
                wait *= 2
        raise self._stopped(why, _RESUME)

    def _stopped(self, why: str, advice: str) -> MissingPrerequisite:
        return MissingPrerequisite(f"the batch server {self._address} did not accept the call: {why}", advice)
