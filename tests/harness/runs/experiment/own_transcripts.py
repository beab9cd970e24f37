"""Made-up transcripts of Claude Code: a loop, guidance by the hook where it is drawn, and what the agent does then."""

import json
from itertools import count
from pathlib import Path
from typing import Any

from misstep.harness.observer.arms import hears_guidance
from misstep.harness.observer.guidance import guidance
from misstep.harness.records.intervention import Misbehaviour

TOLD = guidance([(Misbehaviour("infinite_loop"), 1)])
LOOPS = 3
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
