"""The process of one session: it takes events from hooks, detects, and has guidance ready for the next call.

It is forked off by `call`, is the only one of its session by a lock, and ends by itself: behind the session, after
some idle minutes, for a hook with other settings, or when it needs too much memory. A hook that is killed takes nothing
with it: what it did not print is printed by the next one.
"""

import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from misstep_harness.observer.hook.place import HEAD, LEFT, MOST_BYTES, SESSION_END, SessionPlace, received

IDLE_SECONDS = 600.0
"""A process that no hook has spoken to for so long ends; the next event starts another one."""

LOOKS_APART = 20.0
"""Seconds between two looks whether it can still be reached."""

MOST_MEMORY = 2 << 30
"""Bytes of data that it may hold."""

_MESSAGE_SECONDS = 5.0
_ONLY_SECONDS = 2.0
"""How long it waits for an earlier process of its session to end."""


def serve(place: SessionPlace, first: socket.socket, message: bytes, idle: float = IDLE_SECONDS) -> None:
    """Answer the event that started this process, then those of later hooks, until nothing is left to do."""
    import resource  # Windows has none

    lock = _only(place)
    if lock is None:  # another one has been started at the same moment, and has this event as well
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY if hard < 0 else min(MOST_MEMORY, hard), hard))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with place.inside() as name:
        with suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
        os.umask(0o077)
        listener.bind(name)
    listener.listen(64)
    listener.settimeout(min(idle, LOOKS_APART))
    server, heard = _Server(place), time.monotonic()
    try:
        go_on = server.answer(first, message)
        while go_on and time.monotonic() - heard < idle:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                go_on = os.path.exists(place.file("sock"))  # noqa: PTH110 -- a cache that is gone leads nobody here
                continue
            go_on, heard = server.answer(connection), time.monotonic()
    finally:
        with suppress(OSError):
            os.unlink(place.file("sock"))  # noqa: PTH108
        server.close()
        os.close(lock)


def _only(place: SessionPlace) -> int | None:
    until = time.monotonic() + _ONLY_SECONDS
    while (lock := place.locked()) is None and time.monotonic() < until:
        time.sleep(0.02)
    return lock


class _Server:
    def __init__(self, place: SessionPlace) -> None:
        self._place = place
        self._settings: Any = None
        self._session: Any = None

    def answer(self, connection: socket.socket, message: bytes = b"") -> bool:
        """Answer one hook; gives whether there may be more."""
        with connection, suppress(OSError, EOFError):
            until = time.monotonic() + _MESSAGE_SECONDS
            if not message:
                length = int.from_bytes(received(connection, HEAD, until), "big")
                if length > MOST_BYTES:
                    return True
                message = received(connection, length, until)
            try:
                question = json.loads(message)
            except (ValueError, RecursionError):
                return True
            settings, event = question["settings"], question["event"]
            if event["hook_event_name"] == SESSION_END:
                return False
            if self._settings not in (None, settings):
                connection.sendall(LEFT.to_bytes(HEAD, "big"))
                return False
            self._settings = settings
            reply = self._reply(event)
            connection.settimeout(_MESSAGE_SECONDS)
            connection.sendall(len(reply).to_bytes(HEAD, "big") + reply)
            if reply and connection.recv(1) == b"+":
                self._session.printed()
        return True

    def _reply(self, event: dict[str, Any]) -> bytes:
        from misstep_harness.observer.hook.session import HookSession

        if self._session is None:
            self._session = HookSession(self._settings, Path(self._place.folder), self._place.name)
        reply: bytes = self._session.reply(event)
        return reply

    def close(self) -> None:
        """Stop what still waits for an answer."""
        if self._session is not None:
            self._session.close()
