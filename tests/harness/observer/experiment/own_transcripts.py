"""Made-up transcripts of Claude Code: a loop, guidance by the hook where it is drawn, and what the agent does then."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from misstep_harness.intervention import Misbehaviour
from misstep_harness.observer.arms import hears_guidance
from misstep_harness.observer.guidance import guidance
from misstep_harness.observer.hook.session import HookSession

TOLD = guidance([(Misbehaviour("infinite_loop"), 1)])
LOOPS = 3
LOOP_CALL = "pytest -q", "1 failed"
_NUMBERS = count()


def session(name: str, *, told: bool, recovers: bool, steps: int = 5) -> list[dict[str, Any]]:
    """The lines of one session."""
    lines = [_line(name, "user", "Mend the price")]
    calls = [("ls", "a.py"), *[("pytest -q", "1 failed")] * LOOPS]
    after = [(f"sed -n {n}p a.py", f"line {n}") if recovers else ("pytest -q", "1 failed") for n in range(steps)]
    for number, (command, answer) in enumerate([*calls, *after]):
        if told and number == len(calls):
            context = {"type": "hook_additional_context", "hookEvent": "PostToolUse", "content": [TOLD]}
            lines.append(_line(name, "attachment", attachment=context))
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": answer, "is_error": False}
        lines += [_line(name, "assistant", [use]), _line(name, "user", [result])]
    return lines


def _line(name: str, kind: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    message = {} if content is None else {"message": {"role": kind, "content": content}}
    return {
        "type": kind,
        "sessionId": name,
        "uuid": f"u{next(_NUMBERS)}",
        "cwd": f"/home/kim/{name[-1]}",
        **message,
        **fields,
    }


def write_sessions(folder: Path, n: int = 20) -> Path:
    """As the hook draws half of the sessions: those told recover and the others do not, but for every fifth."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(n):
        name = f"session-{number}"
        guided = hears_guidance(name, share=0.5)
        lines = session(name, told=guided, recovers=guided != (number % 5 == 0))
        write_lines(folder / f"{name}.jsonl", lines)
    return folder


def write_lines(file: Path, lines: list[dict[str, Any]]) -> Path:
    """Write objects as JSON Lines."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def calm(steps: int) -> list[tuple[str, str]]:
    """Calls, each with its answer, none of which was made before."""
    return [(f"sed -n {number}p a.py", f"line {number}") for number in range(steps)]


def watched_session(folder: Path, name: str, after: Sequence[tuple[str, str]], *, late: bool) -> None:
    """Let an agent loop and then do something, with the hook beside it, which logs, and speaks in half of the sessions.

    `late` says that the hook is called before the transcript has the result that it is called for.
    """
    (folder / "sessions").mkdir(exist_ok=True)
    file = folder / "sessions" / f"{name}.jsonl"
    hook = HookSession({"arm_share": "0.5"}, folder, name)
    lines = [_line(name, "user", "Mend the price")]
    for number, (command, answer) in enumerate([("ls", "a.py"), *[LOOP_CALL] * LOOPS, *after]):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": answer, "is_error": False}
        lines += [_line(name, "assistant", [use]), _line(name, "user", [result])]
        write_lines(file, lines[:-1] if late else lines)
        event = {"session_id": name, "transcript_path": str(file), "hook_event_name": "PostToolUse", "cwd": "/app"}
        called = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": answer}
        reply = hook.reply({**event, **called})
        hook.printed()
        if reply:
            text = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
            context = {"type": "hook_additional_context", "hookEvent": "PostToolUse", "content": [text]}
            lines.append(_line(name, "attachment", attachment=context))
    write_lines(file, lines)
    hook.close()
