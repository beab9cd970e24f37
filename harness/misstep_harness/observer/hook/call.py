"""Answer a coding agent's hook at once: hand the event over to the session's process, and print what is ready.

The agent waits for this, so nothing is imported here that takes long: what detects is in `process`, one small
process for each session. It is forked off here if none runs, and the next call finds it.
"""

import json
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from misstep_harness.observer.hook.place import (
    HEAD,
    LEFT,
    MOST_BYTES,
    SESSION_END,
    WARM_SECONDS,
    SessionPlace,
    received,
)

EVENTS = ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit")
"""The events behind which the agent reads additional context before it goes on."""

FIRST_SECONDS = 3.0
"""How long it waits if the process must start and no model is asked, so that it reports mistakes at once."""

INPUT_SECONDS = 5.0
"""How long standard input may take."""


def main(arguments: Sequence[str]) -> None:
    """Answer the event on standard input, and end with 0 whatever happens."""
    try:
        _open_streams()
        _within(INPUT_SECONDS)
        call(options_of(arguments), _input())
    except ValueError as error:
        _print(json.dumps({"systemMessage": f"misstep: {error}"}).encode())
    except Exception as error:  # noqa: BLE001 (a fault of the observer is not the agent's)
        say(f"misstep: the observer failed: {error!r}")
    finally:
        os._exit(0)


def _open_streams() -> None:
    """Open what of the three streams is closed, so that no file of ours is taken for one of them."""
    for stream in (0, 1, 2):
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _within(seconds: float) -> None:
    """End the process after so long: the agent waits for its hooks."""
    import signal

    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _input() -> bytes:
    with os.fdopen(os.dup(0), "rb") as stream:
        return stream.read(MOST_BYTES)


def options_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return option → value as written; the process that detects checks them."""
    values: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--hook":
            continue
        if not name.startswith("--"):
            raise ValueError("the hook reads standard input alone. Leave out paths, --follow and --out.")
        if not equals:
            value = next(words, "")
        values[name[2:].replace("-", "_")] = value
    return values


def call(values: Mapping[str, str], data: bytes) -> None:
    """Answer one event."""
    try:
        event = json.loads(data)
        session, name = str(event["session_id"]), event["hook_event_name"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        say(f"misstep: standard input: no input of a hook: {error!r}")
        return
    if name not in (*EVENTS, SESSION_END):
        return
    if agent := event.get("agent_id"):
        file = _transcript_of(str(agent), event)
        if not file:
            return
        session, event = f"{session}/{agent}", event | {"transcript_path": file}
    message = json.dumps({"settings": values, "event": event}).encode()
    place = SessionPlace.of(session)
    if name == SESSION_END:
        exchange(place.connected(), message, WARM_SECONDS)
    elif not exchange(place.connected(), message, WARM_SECONDS):
        exchange(_started(place, message), b"", WARM_SECONDS if values.get("model") else FIRST_SECONDS)


def _transcript_of(agent: str, event: Mapping[str, object]) -> str:
    """Return the file of a sub-agent's own transcript, named or beside that of its session; empty without one."""
    session = str(event.get("transcript_path") or "")
    folder, name = os.path.dirname(session), f"agent-{os.path.basename(agent)}.jsonl"  # noqa: PTH119, PTH120
    beside = os.path.join(os.path.splitext(session)[0], "subagents", name)  # noqa: PTH118, PTH122
    places = (str(event.get("agent_transcript_path") or ""), beside, os.path.join(folder, name))  # noqa: PTH118
    return next((place for place in places if os.path.isfile(place)), "")  # noqa: PTH113


def exchange(connection: socket.socket | None, message: bytes, seconds: float) -> bool:
    """Send a message and print the reply that comes in time; gives whether a process took it."""
    if connection is None:
        return False
    deadline = time.monotonic() + seconds
    with connection:
        try:
            connection.settimeout(seconds)
            if message:
                connection.sendall(len(message).to_bytes(HEAD, "big") + message)
            length = int.from_bytes(received(connection, HEAD, deadline), "big")
            if length == LEFT:
                return False
            if length:
                _print(received(connection, length, deadline))
                connection.sendall(b"+")
        except TimeoutError:
            return True
        except (OSError, EOFError):
            return False
    return True


def _print(reply: bytes) -> None:
    for line in json.loads(reply).get("systemMessage", "").splitlines():
        say(line)
    _write(1, reply + b"\n")


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


def _started(place: SessionPlace, message: bytes) -> socket.socket:
    """Fork off the process of a session, cut off from the agent; gives the connection on which it answers first."""
    ours, its = socket.socketpair()
    if os.fork():
        its.close()
        return ours
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        own = its.fileno()
        os.closerange(3, own)
        os.closerange(own + 1, os.sysconf("SC_OPEN_MAX"))
        from misstep_harness.observer.hook.process import serve

        serve(place, its, message)
    finally:
        os._exit(0)


def say(line: str) -> None:
    """Say something on standard error."""
    with suppress(OSError):
        _write(2, f"{line}\n".encode(errors="replace"))
