"""Rollouts of NeMo Gym: JSON Lines with `responses_create_params`, the `response` and its `reward`.

Rollouts that failed are in a file of their own beside them, with the class of the failure.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from misstep_harness import beneath
from misstep_harness.errors import InputError
from misstep_harness.items import MOST_LINE_BYTES
from misstep_harness.trajectory import Outcome as RunOutcome
from misstep_harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.triage.records import Outcome
from misstep_harness.triage.runs.jobs.trials import JobTrial, decoded

NAME = "a file of NeMo Gym rollouts"

_ASKED, _ANSWERED, _FAILURE = "responses_create_params", "response", "_ng_failure_class"
_TASK, _ROLLOUT = "_ng_task_index", "_ng_rollout_index"
_SOLVED = 1.0
_MOST_TOLD = 2_000
_FORM = "A rollout has responses_create_params, response and reward."


def is_job(path: Path) -> bool:
    """Return whether a file is one of rollouts, or a folder holds such files."""
    return bool(_files(path))


def trials(path: Path) -> Iterator[JobTrial]:
    """Return the rollouts, in order."""
    for file in _files(path):
        with file.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE_BYTES + 1), b""), start=1):
                if line.strip():
                    yield _trial(_row(line, file, number), file, number)


def _files(path: Path) -> list[Path]:
    named = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    files = (file for file in named if file.suffix == ".jsonl" and file.is_file() and beneath.without_links(file))
    return [file for file in files if _is_rollouts(file)]


def _is_rollouts(file: Path) -> bool:
    with file.open("rb") as stream:
        row = decoded(stream.readline(MOST_LINE_BYTES))
    return isinstance(row, dict) and _ASKED in row and ({"reward", _ANSWERED} <= row.keys() or _FAILURE in row)


def _row(line: bytes, file: Path, number: int) -> dict[str, Any]:
    row = decoded(line) if len(line) <= MOST_LINE_BYTES else None
    if not isinstance(row, dict):
        raise InputError("no JSON object of at most 64 MiB", _FORM, file=file, line=number)
    return row


def _trial(row: dict[str, Any], file: Path, number: int) -> JobTrial:
    task, rollout = row.get(_TASK), row.get(_ROLLOUT)
    named = f"task{task}-rollout{rollout}" if task is not None and rollout is not None else f"line{number}"
    reward = row.get("reward")
    failure = row.get(_FAILURE)
    questions = _list(_get(row.get(_ASKED), "input"))
    answered = row.get(_ANSWERED)
    steps = [*_steps(questions), *_steps(_list(_get(answered, "output")))]
    instruction = next((step.text for step in steps if step.role == "user"), "")
    report = {
        key: value for key, value in row.items() if key not in (_ASKED, _ANSWERED) and len(str(value)) <= _MOST_TOLD
    }
    score = float(reward) if isinstance(reward, int | float) and not isinstance(reward, bool) else None
    solved = score is not None and score >= _SOLVED
    outcome: Outcome | None = "passed" if solved else "failed" if score is not None or failure else None
    source = Source("nemo_gym", str(file), number)
    run = Trajectory(named, source, instruction, tuple(steps), RunOutcome(reward=score)) if steps else None
    logs = {
        "verifier.log": msgspec.json.format(msgspec.json.encode(report), indent=1).decode() if report else "",
        "harness.log": f"{_FAILURE}: {failure}\n{_get(answered, 'error') or ''}" if failure else "",
    }
    return JobTrial(named, f"task{task}" if task is not None else "", instruction, outcome, run, logs)


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):  # a plain prompt
        return [{"role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _steps(items: list[Any]) -> Iterator[Step]:
    outputs = {item.get("call_id"): item for item in items if isinstance(item, dict) and item.get("type") == _OUTPUT}
    reasoning = ""
    for item in items:
        if not isinstance(item, dict) or item.get("type") == _OUTPUT:
            continue
        if item.get("type") == "reasoning":
            reasoning = _text(item.get("summary")) or _text(item.get("content"))
        elif item.get("type") == "function_call":
            yield Step("agent", reasoning=reasoning, calls=(_call(item),), results=_results(item, outputs))
            reasoning = ""
        elif item.get("role") in ("user", "assistant", "system", "developer"):
            role = item["role"]
            content = _text(item.get("content"))
            known = {"assistant": "agent", "user": "user"}.get(role, "system")
            yield Step(known, content, reasoning=reasoning if known == "agent" else "")  # type: ignore[arg-type]
            reasoning = ""


_OUTPUT = "function_call_output"


def _call(item: dict[str, Any]) -> ToolCall:
    text = str(item.get("arguments") or "{}")
    arguments = decoded(text)
    name, call_id = str(item.get("name") or "unknown"), item.get("call_id")
    known = call_id if isinstance(call_id, str) else None
    is_read = isinstance(arguments, dict)
    return ToolCall(name, arguments if is_read else text, known, parse_error=None if is_read else "no JSON object")


def _results(item: dict[str, Any], outputs: dict[Any, dict[str, Any]]) -> tuple[ToolResult, ...]:
    output = outputs.get(item.get("call_id"))
    return () if output is None else (ToolResult(_text(output.get("output")), call_id=_call(item).id),)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
