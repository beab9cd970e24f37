"""A turn that a later session repeats of an earlier one is counted once, though each has a file of its own."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

Lines = list[dict[str, Any]]


def codex() -> tuple[Lines, Lines]:
    """A session with the same call over and over, and one that was forked from it."""

    def line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"2026-01-05T10:00:{second:02}Z", "type": kind, "payload": payload}

    def said(second: int, role: str, text: str) -> dict[str, Any]:
        content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
        return line(second, "response_item", type="message", role=role, content=content)

    looped = [said(1, "user", "Look")]
    for number in range(6):
        call = {"name": "shell", "call_id": f"c{number}", "arguments": '{"command": ["ls"]}'}
        looped.append(line(2, "response_item", type="function_call", **call))
        looped.append(line(2, "response_item", type="function_call_output", call_id=f"c{number}", output="a.py"))
    fork = [line(40, "session_meta", id="b", forked_from_id="a"), line(40, "session_meta", id="a")]
    fork += [entry | {"timestamp": "2026-01-05T10:00:40Z"} for entry in looped]
    return [line(0, "session_meta", id="a"), *looped], [*fork, said(50, "user", "Stop"), said(51, "assistant", "Yes.")]


def claude_code() -> tuple[Lines, Lines]:
    """The same as Claude Code writes it."""

    def line(session: str, number: int, role: str, content: Any, **more: Any) -> dict[str, Any]:
        message = {"role": role, "content": content}
        ids = {"uuid": f"{session}{number}", "parentUuid": f"{session}{number - 1}", "sessionId": session}
        return {"type": role, **ids, "message": message, **more}

    said: list[tuple[str, Any]] = [("user", "Look")]
    for number in range(6):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}
        said += [("assistant", [call])]
        said += [("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "a.py"}])]
    looped = [line("a", number, *one) for number, one in enumerate(said)]
    origin = [{"forkedFrom": {"sessionId": "a", "messageUuid": f"a{number}"}} for number in range(len(said))]
    fork = [line("b", number, *one, **origin[number]) for number, one in enumerate(said)]
    return looped, [*fork, line("b", 90, "user", "Stop"), line("b", 91, "assistant", "Yes.")]


def atif() -> tuple[Lines, Lines]:
    """The same as an ATIF document and the one that goes on with it."""

    def document(name: str, steps: Lines) -> Lines:
        numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
        about = {"schema_version": "ATIF-v1.8", "trajectory_id": name, "agent": {"name": "x", "version": "1"}}
        return [about | {"steps": numbered}]

    steps: Lines = [{"source": "user", "message": "Look"}]
    for number in range(6):
        call = {"tool_call_id": f"c{number}", "function_name": "shell", "arguments": {"command": "ls"}}
        observation = {"results": [{"source_call_id": f"c{number}", "content": "a.py"}]}
        steps.append({"source": "agent", "message": "", "tool_calls": [call], "observation": observation})
    copied = [step | {"is_copied_context": True} for step in steps]
    own = [{"source": "user", "message": "Stop"}, {"source": "agent", "message": "Yes."}]
    return document("a", steps), document("b", [*copied, *own])


def write(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("sessions", [codex, claude_code, atif])
@pytest.mark.parametrize("names", [("1.jsonl", "2.jsonl"), ("2.jsonl", "1.jsonl")])
def test_a_loop_that_a_later_session_repeats_is_one_loop(tmp_path, sessions, names, in_process) -> None:
    for name, lines in zip(names, sessions(), strict=True):
        write(tmp_path / name, lines)
    code, out, _ = in_process("classify", tmp_path, "--json")
    found = json.loads(out)
    assert (code, found["n"], found["categories"]["infinite_loop"]["count"]) == (0, 2, 1)
