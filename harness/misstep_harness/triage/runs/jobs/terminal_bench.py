"""Runs of Terminal-Bench: `results.json`, and a folder for each trial with `panes/`, `agent-logs/`, `commands.txt`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.trajectory import Source, Step, ToolCall, Trajectory
from misstep_harness.triage.records import Outcome
from misstep_harness.triage.runs.jobs.trials import (
    JobTrial,
    RunBy,
    exported,
    first_run,
    folders_within,
    json_file,
    json_value,
    task_folder,
    task_parts,
    text_of,
    workdir_of,
)

NAME = "a Terminal-Bench run"

_RESULTS = "results.json"
_DEPTH = 3
_FORM = "A results.json of Terminal-Bench has trial_name, task_id and is_resolved for each trial."
_NO_FAILURE = frozenset({"", "none", "unset"})
_LEFT = ("panes", "agent-logs", "sessions", "commands.txt")
"""What a trial leaves, with its results or without."""

_EPISODE = re.compile(r"episode-(\d{1,6})")


class _Result(Struct):
    trial_name: str
    task_id: str
    instruction: str = ""
    is_resolved: bool | None = None
    failure_mode: str | None = None
    parser_results: dict[str, str] | None = None


class _Results(Struct):
    results: list[_Result]


def is_job(path: Path) -> bool:
    """Return whether a folder is a run, a trial, or a folder of runs."""
    return any(_is_trial(value) or _is_run(value) for _, value in _values(path))


def trials(path: Path) -> Iterator[JobTrial]:
    """The trials of a run: those with results of their own, those that only the run names, those that were cut off."""
    begun = {one.name: one for one in folders_within(path, _DEPTH) if any((one / name).exists() for name in _LEFT)}
    own = [(json_file(file, _Result, _FORM), file.parent) for file, value in _values(path) if _is_trial(value)]
    names = {result.trial_name for result, _ in own}
    yield from (_trial(result, folder) for result, folder in own)
    runs = [(file.parent, json_file(file, _Results, _FORM)) for file, value in _values(path) if _is_run(value)]
    for place, result in ((place, result) for place, run in runs for result in run.results):
        folder = begun.get(result.trial_name)
        if result.trial_name not in names:
            yield _trial(result, folder if folder is not None and folder.is_relative_to(place) else None)
    named = names | {result.trial_name for _, run in runs for result in run.results}
    yield from (_trial(_Result(name, one.parent.name), one) for name, one in begun.items() if name not in named)


def _values(path: Path) -> Iterator[tuple[Path, Any]]:
    for folder in folders_within(path, _DEPTH):
        file = folder / _RESULTS
        if (value := json_value(file)) is not None:
            yield file, value


def _is_trial(value: Any) -> bool:
    return isinstance(value, dict) and {"trial_name", "task_id", "is_resolved"} <= value.keys()


def _is_run(value: Any) -> bool:
    results = value.get("results") if isinstance(value, dict) else None
    return isinstance(results, list) and bool(results) and all(map(_is_trial, results))


def _trial(result: _Result, folder: Path | None) -> JobTrial:
    tests = [f"{name}: {status}" for name, status in (result.parser_results or {}).items()]
    mode = result.failure_mode or ""
    panes = folder / "panes" if folder is not None else None
    logs = {
        "tests.log": "\n".join([*([text_of(panes / "post-test.txt")] if panes else []), *tests]),
        "terminal.log": text_of(panes / "post-agent.txt") if panes else "",
        "harness.log": "" if mode in _NO_FAILURE else f"failure_mode: {mode}",
    }
    trial = JobTrial(result.trial_name, result.task_id, result.instruction, _outcome(result), None, logs)
    return trial if folder is None else _with_task(replace(trial, run=_run(folder, result)), folder)


def _with_task(trial: JobTrial, folder: Path) -> JobTrial:
    """Return a trial with what its task has, and with its images."""
    metadata = next((value for up in folder.parents[:3] if (value := json_value(up / "run_metadata.json"))), None)
    dataset = metadata.get("dataset_path") if isinstance(metadata, dict) else None
    recorded = [str(Path(dataset, trial.task))] if isinstance(dataset, str) else []
    task = task_folder(folder, trial.task, recorded)
    parts, roots = task_parts(folder, task), exported(folder, trial.task, task)
    beside = {"run-tests.sh": "tests/run-tests.sh", "solution.sh": "solution/solve.sh"}
    texts = {path: text_of(task / name) for name, path in beside.items()} if task is not None else {}
    files = {path: text for path, text in texts.items() if text}
    workdir = workdir_of(task / "Dockerfile") if task is not None else ""
    run_by = RunBy(_TESTS, workdir) if roots and "tests/run-tests.sh" in files else None
    return replace(trial, parts=parts, files=files, roots=roots, run_by=run_by)


_TESTS = "export TEST_DIR=/tests; bash /tests/run-tests.sh"


def _outcome(result: _Result) -> Outcome | None:
    if result.is_resolved is not None:
        return "passed" if result.is_resolved else "failed"
    return "failed" if (result.failure_mode or "") not in _NO_FAILURE else None


def _run(folder: Path, result: _Result) -> Trajectory | None:
    """Return the run: of a known format, or the agent's episodes, or the commands that were typed."""
    known = first_run(folder / "agent-logs", folder / "sessions")
    if known is not None:
        return known
    typed = [line for line in text_of(folder / "commands.txt").splitlines() if line.strip()]
    commands = [Step("agent", calls=(ToolCall("terminal", {"command": line}),)) for line in typed]
    steps = _episodes(folder / "agent-logs") or commands
    if not steps:
        return None
    return Trajectory(result.trial_name, Source("terminal_bench", str(folder)), result.instruction, tuple(steps))


def _episodes(folder: Path) -> list[Step]:
    episodes = [child for child in folder.iterdir() if _EPISODE.fullmatch(child.name)] if folder.is_dir() else []
    files: dict[Literal["user", "agent"], str] = {"user": "prompt.txt", "agent": "response.txt"}
    in_order = sorted(episodes, key=lambda child: int(child.name.partition("-")[2]))
    steps = (Step(role, text_of(child / name)) for child in in_order for role, name in files.items())
    return [step for step in steps if step.text]
