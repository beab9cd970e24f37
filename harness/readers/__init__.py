"""Trajectory formats: one module a format, told apart by a file's content, not its name.

`READERS` is the registry, name → dotted path, in the order in which they are asked; an entry point in the group
`misstep.readers` adds to it.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from harness.protocols import Reader, Unit
from harness.readers.checking import UnusableReader
from harness.readers.files import Part, cut, lengths_to_cut, plan, read_part, read_placed
from harness.readers.files import read_file as _read_file
from harness.readers.input.finding import Found, find_files
from harness.registry import Registry, raised
from harness.trajectory import Trajectory, Unreadable

READERS: Registry[Reader] = Registry(
    "misstep.readers",
    {
        "atif": "harness.readers.interchange.atif",
        "misstep": "harness.readers.misstep",
        "mini_swe_agent": "harness.readers.coding_agents.mini_swe_agent",
        "swe_agent": "harness.readers.coding_agents.swe_agent",
        "openhands": "harness.readers.coding_agents.openhands",
        "inspect_ai": "harness.readers.evaluations.inspect_ai",
        "inspect_scout": "harness.readers.evaluations.inspect_scout",
        "taubench": "harness.readers.evaluations.taubench",
        "openai_chat": "harness.readers.interchange.openai_chat",
        "opentelemetry": "harness.readers.interchange.opentelemetry",
        "claude_code": "harness.readers.coding_agents.claude_code",
        "codex": "harness.readers.coding_agents.codex",
        "gemini_cli": "harness.readers.coding_agents.gemini_cli",
        "copilot_cli": "harness.readers.coding_agents.copilot_cli",
        "cursor": "harness.readers.coding_agents.cursor",
        "cursor_agent": "harness.readers.coding_agents.cursor_agent",
        "cline": "harness.readers.coding_agents.cline",
        "opencode": "harness.readers.coding_agents.opencode",
        "opencode_stream": "harness.readers.coding_agents.opencode_stream",
        "goose": "harness.readers.coding_agents.goose",
        "goose_jsonl": "harness.readers.coding_agents.goose_jsonl",
        "pi": "harness.readers.coding_agents.pi",
        "aider": "harness.readers.coding_agents.aider",
        "intercode": "harness.readers.evaluations.intercode",
        "chat_log": "harness.readers.interchange.chat_log",
    },
)
reader_for = READERS.load
_ANY_CHAT = "chat_log"


def all_readers() -> Iterator[Reader]:
    """Every registered reader, in the order in which they are asked, loaded when it is its turn.

    The one that takes any chat is asked after those from outside, which know more of theirs. One that cannot be
    loaded, or is none, fails on each file that it is asked about.
    """
    return map(_loaded, sorted(READERS.names(), key=lambda name: name == _ANY_CHAT))


@cache
def _loaded(name: str) -> Reader:
    try:
        reader = reader_for(name)
        if (
            name == reader.FORMAT
            and reader.UNIT in get_args(Unit)
            and callable(reader.refuse)
            and callable(reader.read)
        ):
            return reader
        why: BaseException = TypeError(
            f"FORMAT {reader.FORMAT!r} and UNIT {reader.UNIT!r} are not those of a reader {name!r}"
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001 (a module from elsewhere may raise anything)
        why = error.__cause__ or error
    return UnusableReader(name, READERS.names()[name], why)


def reader_fault(name: str) -> str | None:
    """Why a registered reader cannot be used; `None` where it can."""
    reader = _loaded(name)
    return raised(reader.why) if isinstance(reader, UnusableReader) else None


def read_file(path: Path) -> Iterator[Trajectory | Unreadable]:
    """The trajectories of one file, and what in it is broken, in order."""
    return _read_file(path, all_readers())


__all__ = [
    "READERS",
    "Found",
    "Part",
    "all_readers",
    "cut",
    "find_files",
    "lengths_to_cut",
    "plan",
    "read_file",
    "read_part",
    "read_placed",
    "reader_fault",
    "reader_for",
]
