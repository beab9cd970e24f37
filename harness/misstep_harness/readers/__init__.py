"""Trajectory formats: one module a format, told apart by a file's content, not its name.

`READERS` is the registry, name → dotted path, in the order in which they are asked; an entry point in the group
`misstep.readers` adds to it.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

from misstep_harness.protocols import Reader, Unit
from misstep_harness.readers.checking import UnusableReader
from misstep_harness.readers.files import FoundFile, Part, find_files, plan, read_part, read_placed
from misstep_harness.readers.files import read_file as _read_file
from misstep_harness.registry import Registry, raised
from misstep_harness.trajectory import Trajectory, Unreadable

READERS: Registry[Reader] = Registry(
    "misstep.readers",
    {
        "atif": "misstep_harness.readers.interchange.atif",
        "misstep": "misstep_harness.readers.misstep",
        "mini_swe_agent": "misstep_harness.readers.coding_agents.mini_swe_agent",
        "swe_agent": "misstep_harness.readers.coding_agents.swe_agent",
        "openhands": "misstep_harness.readers.coding_agents.openhands",
        "inspect_ai": "misstep_harness.readers.evaluations.inspect_ai",
        "inspect_scout": "misstep_harness.readers.evaluations.inspect_scout",
        "taubench": "misstep_harness.readers.evaluations.taubench",
        "openai_chat": "misstep_harness.readers.interchange.openai_chat",
        "opentelemetry": "misstep_harness.readers.interchange.opentelemetry",
        "langsmith": "misstep_harness.readers.interchange.langsmith",
        "langfuse": "misstep_harness.readers.interchange.langfuse",
        "claude_code": "misstep_harness.readers.coding_agents.claude_code",
        "codex": "misstep_harness.readers.coding_agents.codex",
        "gemini_cli": "misstep_harness.readers.coding_agents.gemini_cli",
        "copilot_cli": "misstep_harness.readers.coding_agents.copilot_cli",
        "cursor": "misstep_harness.readers.coding_agents.cursor",
        "cursor_agent": "misstep_harness.readers.coding_agents.cursor_agent",
        "cline": "misstep_harness.readers.coding_agents.cline",
        "opencode": "misstep_harness.readers.coding_agents.opencode",
        "opencode_stream": "misstep_harness.readers.coding_agents.opencode:STREAM",
        "goose": "misstep_harness.readers.coding_agents.goose",
        "goose_jsonl": "misstep_harness.readers.coding_agents.goose:JSONL",
        "pi": "misstep_harness.readers.coding_agents.pi",
        "aider": "misstep_harness.readers.coding_agents.aider",
        "intercode": "misstep_harness.readers.evaluations.intercode",
        "chat_log": "misstep_harness.readers.interchange.chat_log",
    },
)
reader_for = READERS.load
_ANY_CHAT = "chat_log"


def all_readers() -> Iterator[Reader]:
    """Return every registered reader in the order in which they are asked, the one that takes any chat last."""
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
    """Return why a registered reader cannot be used; `None` if it can."""
    reader = _loaded(name)
    return raised(reader.why) if isinstance(reader, UnusableReader) else None


def read_file(path: Path) -> Iterator[Trajectory | Unreadable]:
    """Return the trajectories of one file, and what in it is broken, in order."""
    return _read_file(path, all_readers())


__all__ = [
    "READERS",
    "FoundFile",
    "Part",
    "all_readers",
    "find_files",
    "plan",
    "read_file",
    "read_part",
    "read_placed",
    "reader_fault",
    "reader_for",
]
