"""The lines of the Batch API, as they are uploaded and come back, and what is known of the batches of a run, on file.

    {"custom_id": "5d…", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "small-1", …}}
    {"id": "batch_req_1", "custom_id": "5d…", "response": {"status_code": 200, "body": {"choices": […]}}, "error": null}

Answers come in any order, in two files, and some may be missing; `custom_id` is the key of the request.

    {"server": "https://…/v1", "parts": [{"keys": ["5d…"], "file": "file-1", "submitting": true, "batch": "batch-1"}]}

A part is written down, uploaded (`file`), about to be submitted (`submitting`), submitted (`batch`). Where a run was
killed when it was about to submit, the server is asked whether it has the batch. A part without keys is gone.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.clients.around_client import failure_of
from misstep_harness.clients.parse_response import ParsedAnswer, Redact, parse_response
from misstep_harness.clients.rejected_parameters import as_text
from misstep_harness.errors import InputError, UsageError, opening, writing
from misstep_harness.escaping import json_without_surrogates
from misstep_harness.exchange import Failure, Outcome, Reply, Request
from misstep_harness.journal.records import encode, replace_file

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
