"""A cache keeps every reply before it is handed on, for several processes at once, and travels as lines."""

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from misstep_harness.clients.cache import Cache, CachedClient
from misstep_harness.clients.recording import ScriptedClient, text_reply
from misstep_harness.errors import InputError
from misstep_harness.exchange import Failure, Message, Outcome, Reply, Request


def question(text: str, sample: int = 0) -> Request:
    return Request("small-1", (Message("user", text),), sample=sample)


def ask(client: CachedClient, *requests: Request) -> list[Outcome]:
    async def run() -> list[Outcome]:
        return [await client.ask(request) for request in requests]

    return asyncio.run(run())


def test_a_failure_is_not_kept_and_a_refusal_is(tmp_path: Path) -> None:
    refusal = Reply(None, "I will not.", "stop", "small-1", 3, 4, 0.5, 0.01, raw="{}")
    said: dict[str, Outcome] = {"fails": Failure("server", "down"), "refuses": refusal}
    cache = Cache(tmp_path / "cache")
    ask(CachedClient(ScriptedClient(lambda request: said[request.messages[0].content]), cache), *map(question, said))
    assert cache.get(question("fails").key()) is None
    kept = cache.get(question("refuses").key())
    assert (kept.refusal, kept.cost_usd, kept.raw, kept.cached) == ("I will not.", 0.01, "{}", True)


def test_exported_and_taken_in_a_cache_is_the_same(tmp_path: Path) -> None:
    here, there = Cache(tmp_path / "here"), Cache(tmp_path / "there")
    for text in ("ä", "half \ud800 pair", "c"):
        here.put(question(text).key(), question(text), text_reply(text.upper()[:1], "small-1"))
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"".join(here.export()))
    assert (there.take_in(lines), there.take_in(lines)) == (3, 0)
    assert list(there.export()) == list(here.export())


@pytest.mark.parametrize("broken", [b'{"key": 1}\n', b"no json\n", b"\xff\n"])
def test_a_broken_line_is_named_and_nothing_is_taken_in(tmp_path: Path, broken: bytes) -> None:
    here, there = Cache(tmp_path / "here"), Cache(tmp_path / "there")
    here.put(question("a").key(), question("a"), text_reply("yes", "small-1"))
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"".join(here.export()) + broken)
    with pytest.raises(InputError, match=r"lines\.jsonl:2"):
        there.take_in(lines)
    assert there.count() == 0


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.sqlite"
    text.write_text("not a database, and long enough that it cannot be an empty one")
    rows = sqlite3.connect(other)
    rows.execute("CREATE TABLE mine (x)")
    rows.close()
    before = other.read_bytes()
    for file in (text, other):
        with pytest.raises(InputError, match="not a cache of replies"):
            Cache(file)
    assert other.read_bytes() == before


def test_the_replies_of_another_cache_come_in_and_those_that_are_kept_stay(tmp_path: Path) -> None:
    here, there = Cache(tmp_path / "here"), Cache(tmp_path / "there's")
    for cache, text in ((here, "a"), (there, "a"), (there, "b")):
        cache.put(question(text).key(), question(text), text_reply(str(cache.file.name), "small-1"))
    for _ in range(2):
        here.add(there.file)
        replies = [here.get(question(text).key()) for text in "ab"]
        assert [reply and reply.text for reply in replies] == ["here", "there's"]
    (tmp_path / "text").write_text("not a database, and long enough that it cannot be an empty one")
    with pytest.raises(InputError, match=r"text: the cache cannot be used: .* Repair the file, or delete it\."):
        here.add(tmp_path / "text")
    assert here.count() == 2


def _write(file: Path, name: str, number: int) -> None:
    cache = Cache(file)
    for index in range(number):
        request = question(f"{name} {index}")
        cache.put(request.key(), request, text_reply("yes", "small-1"))
        shared = question(f"both {index}")
        cache.put(shared.key(), shared, text_reply(name, "small-1"))
    cache.close()


def test_two_processes_write_at_once_and_neither_loses_a_reply(tmp_path: Path) -> None:
    file, start = tmp_path / "cache", multiprocessing.get_context("spawn")
    writers = [start.Process(target=_write, args=(file, name, 200)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert ([writer.exitcode for writer in writers], Cache(file).count()) == ([0, 0], 600)


def _write_and_tell(file: Path, tell: int) -> None:
    cache = Cache(file)
    for index in range(1_000_000):
        request = question(str(index))
        cache.put(request.key(), request, text_reply("yes", "small-1"))
        os.write(tell, b".")


def test_killed_at_any_moment_it_has_every_reply_that_was_handed_on(tmp_path: Path) -> None:
    file = tmp_path / "cache"
    reading, telling = os.pipe()
    code = (
        "import sys, pathlib; from tests.harness.clients.test_cache import _write_and_tell; "
        "_write_and_tell(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
    )
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", code, str(file), str(telling)],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, telling, telling)],
    )
    os.close(telling)
    output = b""
    while len(output) < 500:
        output += os.read(reading, 500)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    while rest := os.read(reading, 65536):
        output += rest
    os.close(reading)
    cache = Cache(file)
    assert all(cache.get(question(str(index)).key()) is not None for index in range(len(output)))
