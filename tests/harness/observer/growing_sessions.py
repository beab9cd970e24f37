"""A Claude Code session as it is written, line by line."""

import json
from pathlib import Path
from typing import Any


def line(number: int, role: str, content: Any, session: str = "s1", mark: str = "u") -> bytes:
    """One line of a session; lines with the same mark and number are taken for the same line in two sessions."""
    message = {"role": role, "content": content} | ({"id": f"m{mark}{number}"} if role == "assistant" else {})
    parent = f"{mark}{number - 1}" if number else None
    common = {"sessionId": session, "isSidechain": False, "cwd": "/home/kim/app", "version": "2.0.0"}
    return json.dumps(
        common | {"type": role, "uuid": f"{mark}{number}", "parentUuid": parent, "message": message}
    ).encode()


def looping(calls: int, session: str = "s1", mark: str = "u") -> list[bytes]:
    """A session in which the agent reads one file again and again: a line of the user, then two a call."""
    lines = [line(0, "user", "Add the missing note.", session, mark)]
    for number in range(1, calls + 1):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "cat notes.txt"}}
        answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Nothing is written here yet."}
        lines.append(line(2 * number, "assistant", [use], session, mark))
        lines.append(line(2 * number + 1, "user", [answer], session, mark))
    return lines


EDIT = {"file_path": "/home/kim/app/notes.txt", "old_string": "", "new_string": "A note."}
"""What the agent's tool Edit is given when it does at last what it was asked for."""


def edited(number: int, session: str = "s1", mark: str = "u") -> list[bytes]:
    """The two lines of a call that edits the file, as the call of this number."""
    use = {"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": EDIT}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "The file has been updated."}
    called = line(2 * number, "assistant", [use], session, mark)
    return [called, line(2 * number + 1, "user", [answer], session, mark)]


def written(path: Path, lines: list[bytes], end: bytes = b"\n") -> Path:
    """Write lines to a file, the last with another end if it is still being written."""
    path.write_bytes(b"\n".join(lines) + end)
    return path
