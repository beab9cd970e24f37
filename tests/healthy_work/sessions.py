"""Read the sessions of this folder: `healthy/<kind>.toml` and `faulty/<family>.toml`, a `[[session]]` each.

A session has an `id`, the `shape` of its harness, its `task`, and `steps`. A step is `[speaker, text]`, or
`["agent", text, complaint]` for a reply that was rejected before a call, or a call: `[tool, arguments, result, flag,
text]`, whose last two may be absent. An integer flag is the exit code, a boolean says whether the call failed, and `""`
that the format says neither. Arguments that are a string did not parse. A faulty session has its `category`, `family`
and `fault`: the first and the last step of the fault, where step 0 is the task.
"""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from misstep_harness.trajectory import Role, Source, Step, ToolCall, ToolResult, Trajectory

FOLDER = Path(__file__).parent
_SPEAKERS: dict[str, Role] = {"user": "user", "agent": "agent", "system": "system"}
_FORMATS = {"claude": "claude_code", "mini": "mini_swe_agent", "gemini": "gemini_cli"}
_CUSTOM = ("exec_shell", "terminal")


class Session(Struct, frozen=True, kw_only=True):
    """One session as written, with the kind of work or the family of faults that its file is named after."""

    id: str
    shape: str
    task: str
    steps: list[list[Any]]
    kind: str = ""
    category: str | None = None
    family: str | None = None
    fault: tuple[int, int] | None = None

    def trajectory(self) -> Trajectory:
        """Return the recorded run; its step 0 is the task."""
        form = "openai_chat" if self.shape in _CUSTOM else _FORMATS.get(self.shape, self.shape)
        steps = (_step(self.shape, f"call_{number}", item) for number, item in enumerate(self.steps, 1))
        return Trajectory(
            self.id, Source(form, evidence="generated"), self.task, (Step("user", self.task), *steps), agent=self.shape
        )


def sessions(name: str, folder: Path = FOLDER) -> Iterator[Session]:
    """Yield the `healthy` or the `faulty` sessions below a folder, file by file."""
    for file in sorted((folder / name).glob("*.toml")):
        for fields in tomllib.loads(file.read_text("utf-8"))["session"]:
            yield convert(fields | {"kind": file.stem}, Session)


def _step(shape: str, call_id: str, item: list[Any]) -> Step:
    if item[0] in _SPEAKERS:
        complaints = tuple(ToolResult(complaint, is_error=True) for complaint in item[2:])
        return Step(_SPEAKERS[item[0]], item[1], results=complaints)
    tool, arguments, text_of_result, flag, text = [*item, "", ""][:5]
    failed = flag if isinstance(flag, bool) else None
    code = flag if isinstance(flag, int) and failed is None else None
    result = ToolResult(text_of_result, True if shape == "claude" and code else failed, code, call_id)
    return Step("agent", text, calls=(ToolCall(tool, arguments, call_id, _fault_of(arguments)),), results=(result,))


def _fault_of(arguments: dict[str, Any] | str) -> str | None:
    if isinstance(arguments, dict):
        return None
    try:
        json.loads(arguments)
    except ValueError as error:
        return str(error)
    return "the arguments are not a JSON object"
