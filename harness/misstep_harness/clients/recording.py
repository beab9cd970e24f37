"""Exchanges that were recorded, and a client that answers from them alone: tests and notebooks run without a server.

A recording is a file of JSON lines,

    {"key": "5d…", "outcome": {"reply": {"text": "yes", …}}, "request": {"model": "small-1", "messages": […]}}

of which the last line of a key counts, and `request` may be missing. A half-written last line, as a killed process
leaves one, is cut off.
"""

import os
from collections.abc import Callable
from io import FileIO
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.clients.around_client import AroundClient
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.errors import InputError, MissingPrerequisite, UsageError, opening, write_all, writing
from misstep_harness.exchange import Client, Failure, FailureKind, Outcome, Reply, Request
from misstep_harness.journal.records import appending, replace_file
from misstep_harness.registry import Registry

Script = Callable[[Request], Outcome | str]
_SCRIPTS: Registry[Script] = Registry("misstep.scripts", {})


class ScriptedClient:
    """Answers with what a function says: a text, or a whole outcome."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.n_requests = 0

    async def ask(self, request: Request) -> Outcome:
        """Return what the function says."""
        self.n_requests += 1
        scripted = self._script(request)
        return text_reply(scripted, request.model) if isinstance(scripted, str) else scripted

    async def close(self) -> None:
        """Nothing is held."""


def text_reply(text: str, model: str) -> Reply:
    """Return a reply of that text that took no time and says nothing of tokens."""
    return Reply(text, None, "stop", model, None, None, 0.0, None)


def open_scripted(settings: ClientSettings) -> ScriptedClient:
    """Return the client that answers with the function at `settings.script`."""
    if settings.script is None:
        raise UsageError("the client `scripted` needs a function", "Name one as `package.module:function`.")
    return ScriptedClient(_SCRIPTS.load(settings.script))


_SHOWN = 80

_NOT_SENT: frozenset[FailureKind] = frozenset({"budget", "circuit_open"})


class _Said(Struct, frozen=True, omit_defaults=True):
    reply: Reply | None = None
    failure: Failure | None = None


class _Exchange(Struct, frozen=True, omit_defaults=True):
    key: str
    outcome: _Said
    request: msgspec.Raw = msgspec.Raw(b"null")


_encode = msgspec.json.Encoder().encode
_exchange = msgspec.json.Decoder(_Exchange)


class RecordingClient(AroundClient):
    """Asks another client and adds each exchange to a file."""

    def __init__(self, client: Client, file: Path) -> None:
        super().__init__(client)
        self._file = file
        self._stream = _opened(file)

    async def ask(self, request: Request) -> Outcome:
        """Return the other client's outcome, on file before it is handed on; what was never sent is not an exchange."""
        outcome = await self._client.ask(request)
        if isinstance(outcome, Failure) and outcome.kind in _NOT_SENT:
            return outcome
        recorded = _Said(reply=outcome) if isinstance(outcome, Reply) else _Said(failure=outcome)
        line = _encode(_Exchange(request.key(), recorded, msgspec.Raw(request.content()))) + b"\n"
        write_all(self._stream, line, self._file)
        return outcome

    async def close(self) -> None:
        """Close the other client and the file."""
        await super().close()
        self._stream.close()


def _opened(file: Path) -> FileIO:
    with opening(file, "Name another file for the recording.", "cannot write"):
        with writing(file):
            file.parent.mkdir(0o700, parents=True, exist_ok=True)
            stream = appending(file, 0o600)
        with file.open("rb") as lines:
            whole = sum(len(line) for line in lines if line.endswith(b"\n"))
    if whole < stream.seek(0, os.SEEK_END):
        stream.truncate(whole)
    return stream


class ReplayClient:
    """Answers from a recording and asks nobody."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._outcomes = _read(file)

    async def ask(self, request: Request) -> Outcome:
        """Return the recorded outcome."""
        outcome = self._outcomes.get(request.key())
        if outcome is None:
            question = " ".join(request.messages[-1].content.split())[:_SHOWN] if request.messages else ""
            raise MissingPrerequisite(
                f"{self._file} has no answer to sample {request.sample} of {question!r} by {request.model}",
                "Record the exchange again with --record, or use the recording that was made with this version.",
            )
        return outcome

    async def close(self) -> None:
        """Nothing is held."""


def _read(file: Path) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    with opening(file, "Name a file that --record wrote."), file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                break
            exchange = _decoded(line, file, number)
            if (outcome := exchange.outcome.reply or exchange.outcome.failure) is not None:
                outcomes[exchange.key] = outcome
    return outcomes


def copy_replies(recording: Path, out: Path) -> None:
    """Write the last reply to each key without its request, which may quote what is not ours to publish."""
    outcomes = _read(recording)
    replies = {key: replace(one, raw="") for key, one in outcomes.items() if isinstance(one, Reply)}
    with writing(out):
        lines = (_encode(_Exchange(key, _Said(reply=one))) + b"\n" for key, one in replies.items())
        replace_file(out, b"".join(lines))


def _decoded(line: bytes, file: Path, number: int) -> _Exchange:
    try:
        return _exchange.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"not a recorded exchange: {error}"
        raise InputError(message, "Restore the file; it may have been edited.", file=file, line=number) from error


def open_replay(settings: ClientSettings) -> ReplayClient:
    """Return the client that answers from the recording at `settings.replay`."""
    if settings.replay is None:
        raise UsageError("the client `replay` needs a recording", "Name its file with --replay.")
    return ReplayClient(settings.replay)
