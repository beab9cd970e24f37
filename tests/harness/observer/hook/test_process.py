"""One process a session takes the events of hooks: it outlives them, ends by itself, and says nothing twice."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.observer.hook.place import SessionPlace
from misstep_harness.places import cache_folder
from tests.harness.clients.faulty_server import answer, completion, serving
from tests.harness.observer.growing_sessions import looping, written
from tests.misstep.as_a_user import in_a_thread

HOOK = [sys.executable, "-m", "misstep", "observe", "--hook"]
KEY = "sk-never-in-a-file"


class Hooks:
    """Hooks of one session whose cache is in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.file, self.cache = written(folder / "s1.jsonl", looping(6)), folder / ("deep" * 20) / ("cache" * 10)
        self.environment = os.environ | {"MISSTEP_CACHE": str(self.cache), "OPENAI_API_KEY": KEY}
        self.begun: set[int] = set()
        self.name = "s1"

    def event(self, name: str = "PostToolUse") -> bytes:
        event = {"session_id": "s1", "transcript_path": str(self.file), "hook_event_name": name, "cwd": "/app"}
        return json.dumps(event).encode()

    def start(self, *options: str) -> "subprocess.Popen[bytes]":
        pipe = subprocess.PIPE
        return subprocess.Popen([*HOOK, *options], stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment)

    def __call__(self, *options: str, name: str = "PostToolUse") -> dict[str, Any]:
        with self.start(*options) as process:
            out, _ = process.communicate(self.event(name), timeout=60)
        assert process.returncode == 0
        self.process()
        return json.loads(out or b"{}")

    def guidance(self, *options: str) -> str:
        """The words at this call or a later one: a busy machine may answer later."""
        until = time.monotonic() + 30
        while not (said := _guidance(self(*options))) and time.monotonic() < until:
            pass
        return said

    def place(self) -> SessionPlace:
        return SessionPlace(str(self.cache / "observer"), sha256(self.name.encode()).hexdigest()[:32])

    def process(self) -> int | None:
        """The process that serves the session, as the system knows it."""
        try:
            connection = self.place().connected()
        except OSError:
            return None
        if connection is None:
            return None
        with connection:
            credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        number = int.from_bytes(credentials[:4], sys.byteorder)
        self.begun.add(number)
        return number

    def ended(self) -> bool:
        """Whether the process is gone, soon."""
        until = time.monotonic() + 20
        while (lock := self.place().locked()) is None and time.monotonic() < until:
            time.sleep(0.005)
        if lock is not None:
            os.close(lock)
        return lock is not None


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    one = Hooks(tmp_path)
    yield one
    for number in one.begun:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def _guidance(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_a_process_serves_its_session_until_the_end_of_it(hooks: Hooks) -> None:
    assert "<system-reminder" in hooks.guidance()
    first = hooks.process()
    assert hooks() == {}
    assert hooks.process() == first
    folder = hooks.cache / "observer"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(one.stat().st_mode & 0o077 == 0 for one in folder.iterdir())
    hooks(name="SessionEnd")
    assert hooks.ended()
    assert not list(folder.glob("*.sock"))
    hooks(name="SessionEnd")
    assert hooks.process() is None


def test_a_process_that_is_killed_is_followed_by_one_that_says_nothing_twice(hooks: Hooks) -> None:
    assert hooks.guidance()
    first = hooks.process()
    assert first
    os.kill(first, signal.SIGKILL)
    assert hooks.ended()
    assert hooks() == {}
    assert hooks.process() not in (None, first)


def test_a_hook_that_is_killed_takes_nothing_with_it(hooks: Hooks) -> None:
    written(hooks.file, looping(1))
    hooks()
    written(hooks.file, looping(6))
    connection = hooks.place().connected()
    assert connection
    message = json.dumps({"settings": {}, "event": json.loads(hooks.event())}).encode()
    with connection:
        connection.sendall(len(message).to_bytes(4, "big") + message)
        connection.settimeout(20)
        assert connection.recv(4)
    assert hooks.guidance()
    assert hooks() == {}


def test_hooks_that_come_at_once_have_one_process(hooks: Hooks) -> None:
    started = [hooks.start() for _ in range(4)]
    for one in started:
        assert one.stdin
        one.stdin.write(hooks.event())
        one.stdin.close()
    times = 0
    for one in started:
        assert one.stdout
        assert one.stderr
        times += b"additionalContext" in one.stdout.read()
        one.wait(60)
        one.stdout.close()
        one.stderr.close()
    assert times == 1 or hooks.guidance()
    assert hooks() == {}
    assert len(hooks.begun) == 1


def test_a_hook_with_other_options_gets_another_process(hooks: Hooks) -> None:
    hooks()
    until = time.monotonic() + 30
    while not (said := hooks("--detector", "prompted")) and time.monotonic() < until:
        pass
    assert "needs a model" in said["systemMessage"]
    assert len(hooks.begun) == 2


def test_a_process_that_hears_nothing_ends(hooks: Hooks) -> None:
    script = (
        "import socket, sys; from misstep_harness.observer.hook.place import SessionPlace\n"
        "from misstep_harness.observer.hook.process import serve\n"
        "ours, its = socket.socketpair(); ours.close()\n"
        "serve(SessionPlace(*sys.argv[1:3]), its, sys.argv[3].encode(), idle=0.05)"
    )
    place = hooks.place()
    Path(place.folder).mkdir(parents=True)
    message = json.dumps({"settings": {}, "event": json.loads(hooks.event())})
    subprocess.run([sys.executable, "-c", script, place.folder, place.name, message], check=True, timeout=60)
    assert hooks.process() is None


def test_a_model_is_asked_behind_the_agents_back_and_heard_at_a_later_call(hooks: Hooks) -> None:
    results = {"reasoning": "r", "label": "yes", "infinite_loop": [1, 2, 3, 4, 5], "tool_call_failure": []}
    results |= {"did_not_follow_instructions": [], "unrequested_changes": []}
    with in_a_thread(serving(answer(completion(json.dumps(results))))) as server:
        options = ("--detector", "prompted", "--model", "m", "--base-url", server.base_url)
        assert hooks(*options) == {}
        assert "cat notes.txt" in hooks.guidance(*options)
    assert len(server.received) == 1
    assert all(KEY.encode() not in one.read_bytes() for one in hooks.cache.rglob("*") if one.is_file())


@pytest.mark.parametrize("said", [b"", b"\xff\xfe", b"[1, 2]", b"{" * 5000, b'{"session_id": "s"}'])
def test_whatever_is_wrong_with_the_input_one_line_is_said_on_stderr(said: bytes, hooks: Hooks) -> None:
    with hooks.start() as process:
        out, err = process.communicate(said, timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert err.startswith(b"misstep: standard input")
    assert err.count(b"\n") == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [(("runs",), "Leave out paths"), (("--detector", "nobody"), "'nobody' is not among")],
)
def test_a_mistake_is_said_to_the_user_and_on_stderr(options: tuple[str, ...], text: str, hooks: Hooks) -> None:
    with hooks.start(*options) as process:
        out, err = process.communicate(hooks.event(), timeout=60)
    hooks.process()
    assert process.returncode == 0
    assert text in err.decode()
    assert json.loads(out) == {"systemMessage": err.decode().strip()}


@pytest.mark.parametrize(("name", "agent"), [("Stop", None), ("PreToolUse", None), ("PostToolUse", "a7")])
def test_other_events_and_sub_agents_without_a_transcript_start_nothing(
    hooks: Hooks, name: str, agent: str | None
) -> None:
    with hooks.start() as process:
        out, err = process.communicate(json.dumps(json.loads(hooks.event(name)) | {"agent_id": agent}).encode())
    assert (out, err, hooks.process()) == (b"", b"", None)


@pytest.mark.parametrize("place", ["s1/subagents/agent-a7.jsonl", "agent-a7.jsonl", "named.jsonl"])
def test_a_sub_agent_is_watched_by_its_own_transcript(hooks: Hooks, place: str) -> None:
    """The session itself has just begun: what is said is about the sub-agent alone."""
    file = hooks.file.parent / place
    file.parent.mkdir(parents=True, exist_ok=True)
    written(file, [json.dumps(json.loads(one) | SIDECHAIN).encode() for one in looping(6)])
    written(hooks.file, looping(1))
    more = {"agent_id": "a7"} | ({"agent_transcript_path": str(file)} if place == "named.jsonl" else {})
    event = json.dumps(json.loads(hooks.event()) | more).encode()
    hooks.name = "s1/a7"
    until, said = time.monotonic() + 30, ""
    while not said and time.monotonic() < until:
        with hooks.start() as process:
            out, _ = process.communicate(event, timeout=60)
        said = _guidance(json.loads(out or b"{}"))
    assert "cat notes.txt" in said
    assert hooks.process() is not None
    decisions = (hooks.cache / "observer/decisions.jsonl").read_text().splitlines()
    assert {(one["session"], one["unit"]) for one in map(json.loads, decisions)} == {("s1/a7", "s1")}


SIDECHAIN = {"isSidechain": True, "agentId": "a7"}


@pytest.mark.parametrize("variables", [{"MISSTEP_CACHE": "own"}, {"XDG_CACHE_HOME": "xdg"}, {"HOME": "home"}])
def test_the_cache_folder_is_the_one_of_all_of_misstep(variables, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("MISSTEP_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    assert Path(SessionPlace.of("s1").folder) == cache_folder() / "observer"
