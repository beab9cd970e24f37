"""Jobs of Harbor: a folder a trial with `result.json`, `agent/`, `verifier/`, `artifacts/` and `trial.log`.

A trial that was cut off has no `result.json`, or half of one: what it left is read, and its outcome is not known.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.triage.records import Outcome, Part
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

NAME = "a Harbor job"

_RESULT = "result.json"
_DEPTH = 2
_FORM = "A trial of Harbor has a result.json with task_name and trial_name."
_SOLVED = 1.0


class _Verified(Struct):
    rewards: dict[str, float | int | None] | None = None


class _Raised(Struct):
    exception_type: str = ""
    exception_message: str = ""
    exception_traceback: str = ""


class _Result(Struct):
    task_name: str
    trial_name: str
    verifier_result: _Verified | None = None
    exception_info: _Raised | None = None


def is_job(path: Path) -> bool:
    """Return whether a folder is a trial, a job or a folder of jobs."""
    return bool(_trial_folders(path))


def trials(path: Path) -> Iterator[JobTrial]:
    """Return the trials of a job."""
    for folder in _trial_folders(path):
        unfinished = json_value(folder / _RESULT) is None
        result = _Result(folder.name.partition("__")[0], folder.name)  # the task's name, two underscores
        if not unfinished:
            result = json_file(folder / _RESULT, _Result, _FORM)
        note = "The trial has no result.json that can be read." if unfinished else ""
        last = _last_step(folder)
        run = first_run(last / "agent" / "trajectory.json", last / "agent")
        artifacts: dict[Part, Path] = {"workspace": folder / "artifacts"}
        config = json_value(folder / "config.json")
        task = task_folder(folder, result.task_name, _recorded_places(config))
        roots = exported(folder, result.task_name, task)
        if "environment" in roots:  # some files of a run are not its result: that can be made in the image
            artifacts = {}
        parts = {part: place for part, place in artifacts.items() if place.is_dir() and any(place.iterdir())}
        parts |= task_parts(folder, task)
        yield JobTrial(
            result.trial_name,
            result.task_name,
            outcome=_outcome(result),
            run=run,
            logs={
                "tests.log": "\n".join(filter(None, (text_of(last / "verifier" / name) for name in _TESTS))),
                "harness.log": "\n".join(filter(None, (_raised(result, folder), text_of(folder / "trial.log"), note))),
                "agent.log": "" if run is not None else _printed(last / "agent"),
            },
            instruction=text_of(task / "instruction.md") if task is not None else "",
            parts=parts,
            roots=roots,
            run_by=_run_by(task) if "tests" in parts and roots else None,
        )


_TESTS = ("test-stdout.txt", "test-stderr.txt")


_VERIFIER = """harbor_verifier() {
mkdir -p /logs/verifier /logs/agent /logs/artifacts; rm -f /logs/verifier/reward.*
if command -v bash > /dev/null; then bash "$1"; else sh "$1"; fi
cd /logs/verifier
if [ -s reward.txt ]; then grep -Eq '^[[:space:]]*(1|[1-9][0-9]+)([.]0*)?[[:space:]]*$' reward.txt
elif [ -s reward.json ]; then ! grep -Eq ':[[:space:]]*(0|-)' reward.json
else echo 'the tests wrote no reward'; return 1; fi
}"""
"""What Harbor's verifier does: the tests pass by the reward that they write."""


def _recorded_places(config: Any) -> Iterator[object]:
    """Where a trial's configuration has its task."""
    task = config.get("task") if isinstance(config, dict) else None
    if isinstance(task, dict):
        yield task.get("path")


def _run_by(task: Path | None) -> RunBy:
    workdir = workdir_of(task / "environment" / "Dockerfile") if task is not None else ""
    return RunBy("harbor_verifier /tests/test.sh", workdir, _VERIFIER)


def _trial_folders(path: Path) -> list[Path]:
    """Return the trials, also those that were cut off: a configuration, or another trial beside them, tells of them."""
    finished, begun = set[Path](), set[Path]()
    for folder in folders_within(path, _DEPTH):
        if _is_of_trial(json_value(folder / _RESULT), "task_name"):
            finished.add(folder)
        elif json_value(folder / _RESULT) is None and any((folder / name).exists() for name in _LEFT):
            begun.add(folder)
    jobs = {folder.parent for folder in finished if folder != path}
    return sorted(
        finished
        | {folder for folder in begun if folder != path and folder.parent in jobs and "__" in folder.name}
        | {folder for folder in begun if _is_of_trial(json_value(folder / "config.json"), "trials_dir")}
    )


def _is_of_trial(value: Any, field: str) -> bool:
    return isinstance(value, dict) and {"trial_name", field} <= value.keys()


def _printed(folder: Path) -> str:
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return "\n".join(filter(None, (text_of(file) for file in files if file.suffix in (".txt", ".log"))))


_LEFT = ("trial.log", "exception.txt", "agent", "verifier")


def _last_step(folder: Path) -> Path:
    """Return the last step's folder of a trial in several steps; the trial's own if it has one."""
    steps = folder / "steps"
    if (folder / "agent").is_dir() or not steps.is_dir():
        return folder
    done = [step for step in steps.iterdir() if step.is_dir()]
    return max(done, key=lambda step: (step.stat().st_mtime, step.name), default=folder)


def _outcome(result: _Result) -> Outcome | None:
    rewards = (result.verifier_result.rewards if result.verifier_result is not None else None) or {}
    known = [value for value in rewards.values() if value is not None]
    reward = rewards.get("reward", min(known) if known else None)
    if reward is not None:
        return "passed" if reward >= _SOLVED else "failed"
    return "failed" if result.exception_info is not None else None


def _raised(result: _Result, folder: Path) -> str:
    raised = result.exception_info
    if raised is None:
        return text_of(folder / "exception.txt")
    return f"{raised.exception_traceback}\n{raised.exception_type}: {raised.exception_message}".strip()
