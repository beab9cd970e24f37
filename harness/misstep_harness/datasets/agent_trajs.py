"""Recorded runs in the own formats of SWE-agent, SWE-smith, mini-swe-agent and OpenHands; SWE-smith's with verdicts.

    sweagent/<name>.traj.gz                            demonstrations, replays and three runs of a model
    swesmith/trajectories__<id>__<id>.traj.gz          runs; <id> is a SWE-smith task
    swesmith/run_evaluation__report.json.gz            {"ids_resolved": ["a__b.pr_1"], "ids_unresolved": ["a__b.pr_2"]}
    swesmith/run_evaluation__<id>__report.json.gz      {"resolved": true, "tests_status": {...}}
    mini-swe-agent/<name>.traj.json.gz                 a list of chat messages
    openhands/<name>__output.jsonl.gz                  a run a line: {"instance_id": "a__b-1", "history": [event, ...]}
    openhands/runtime__trajs__<name>.json.gz           a list of events: {"id": 0, "action": "message", ...}

The summary report has verdicts on more tasks than there are runs: those are items without a trajectory. That version of
the harness does not set `patch_successfully_applied`. A replay prints a cost of 0, which means none. The demonstrations
replay one task in many edit formats. `success` of the resolver's runs is a model's opinion and no verdict;
`ft_xml_example` repeats SWE-smith's resolved runs and is not read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from misstep_harness.datasets.benchmark import Gold, Item, SetWriter, run_item
from misstep_harness.datasets.upstream import files_in, json_file, json_lines, named_runs
from misstep_harness.errors import InputError
from misstep_harness.protocols import ReadFile
from misstep_harness.trajectory import Trajectory

NAME = "agent_trajs"
TOOLS = ("sweagent", "swesmith", "mini-swe-agent", "openhands")


class _ModelStats(Struct, frozen=True):
    instance_cost: float
    api_calls: int


class _Info(Struct, frozen=True):
    model_stats: _ModelStats | None = None


class _SweAgentRun(Struct, frozen=True):
    """A SWE-agent file, as far as it is counted; one has a history and no list of steps."""

    trajectory: tuple[dict[str, Any], ...] | None = None
    info: _Info = _Info()


class _Event(Struct, frozen=True):
    action: str | None = None
    observation: str | None = None


class _Issue(Struct, frozen=True):
    owner: str
    repo: str
    number: int


class _OpenHandsRun(Struct, frozen=True):
    history: tuple[_Event, ...]
    instance_id: str | None = None
    issue: _Issue | None = None
    error: str | None = None


class _Evaluation(Struct, frozen=True):
    ids_resolved: tuple[str, ...]
    ids_unresolved: tuple[str, ...]


class _Report(Struct, frozen=True):
    resolved: bool


class _Recorded(Struct, frozen=True):
    tool: str
    path: Path
    items: tuple[Item, ...]


def load(folder: Path, out: Path, read: ReadFile) -> None:
    """Write every run and every evaluated SWE-smith task as an item, and SWE-smith's verdicts as gold labels."""
    verdicts = _verdicts(folder / "swesmith")
    files = list(_recorded(folder, verdicts))
    items = [item for file in files for item in file.items]
    known = {item.id for item in items}
    without = [f"swesmith/{task}" for task in verdicts if f"swesmith/{task}" not in known]
    missing = [run_item(name, {"tool": "swesmith"}, available=False) for name in without]
    SetWriter(NAME, folder, out).write(
        items + missing,
        [Gold(f"swesmith/{task}", "swe_smith", "passed" if solved else "failed") for task, solved in verdicts.items()],
        {tool: _trajectories(files, tool, read) for tool in TOOLS},
    )


def _item(tool: str, name: str, extra: dict[str, Any]) -> Item:
    return run_item(f"{tool}/{name}", {"tool": tool} | extra)


def _verdicts(folder: Path) -> dict[str, bool]:
    summary = folder / "run_evaluation__report.json.gz"
    listed = json_file(summary, _Evaluation)
    resolved, unresolved = set(listed.ids_resolved), set(listed.ids_unresolved)
    if both := sorted(resolved & unresolved):
        raise InputError(f"{both[0]} is both resolved and unresolved", file=summary, field="ids_resolved")
    for path in sorted(folder.glob("run_evaluation__*__report.json.gz")):
        task = path.name.removeprefix("run_evaluation__").removesuffix("__report.json.gz")
        report = json_file(path, _Report)
        if task not in (resolved if report.resolved else unresolved):
            message = f"{task} is {report.resolved} here, and {summary.name} differs"
            raise InputError(message, file=path, field="resolved")
    return {task: task in resolved for task in sorted(resolved | unresolved)}


def _recorded(folder: Path, verdicts: dict[str, bool]) -> Iterator[_Recorded]:
    for path in files_in(folder, "sweagent/*.traj.gz"):
        name = path.name.removesuffix(".traj.gz")
        yield _Recorded("sweagent", path, (_item("sweagent", name, _swe_agent_counts(path)),))
    for path in files_in(folder, "swesmith/trajectories__*.traj.gz"):
        name = path.name.removeprefix("trajectories__").removesuffix(".traj.gz")
        task = name[: len(name) // 2 - 1]
        if name != f"{task}__{task}" or task not in verdicts:
            raise InputError("the task of this run has no verdict", file=path)
        yield _Recorded("swesmith", path, (_item("swesmith", task, _swe_agent_counts(path)),))
    for path in files_in(folder, "mini-swe-agent/*.traj.json.gz"):
        name = path.name.removesuffix(".traj.json.gz")
        messages = json_file(path, tuple[dict[str, Any], ...])
        yield _Recorded("mini-swe-agent", path, (_item("mini-swe-agent", name, {"messages": len(messages)}),))
    for path in files_in(folder, "openhands/*__output.jsonl.gz"):
        runs = json_lines(path, _OpenHandsRun)
        yield _Recorded("openhands", path, tuple(_openhands_item(run, path) for run in runs))
    for path in files_in(folder, "openhands/runtime__trajs__*.json.gz"):
        name = path.name.removesuffix(".json.gz")
        events = json_file(path, tuple[_Event, ...])
        yield _Recorded("openhands", path, (_item("openhands", name, _event_counts(events)),))


def _swe_agent_counts(path: Path) -> dict[str, Any]:
    run = json_file(path, _SweAgentRun)
    stats = run.info.model_stats or _ModelStats(0, 0)
    counted = {"api_calls": stats.api_calls, "cost_usd": stats.instance_cost}
    steps = {} if run.trajectory is None else {"steps": len(run.trajectory)}
    return steps | {name: count for name, count in counted.items() if count}


def _openhands_item(run: _OpenHandsRun, path: Path) -> Item:
    if run.instance_id:
        name = run.instance_id
    elif run.issue:
        name = f"{run.issue.owner}__{run.issue.repo}-{run.issue.number}"
    else:
        raise InputError("the run has no instance_id or no issue", file=path, field="instance_id")
    return _item("openhands", name, _event_counts(run.history) | ({"error": run.error} if run.error else {}))


def _event_counts(events: Sequence[_Event]) -> dict[str, Any]:
    actions = Counter(event.action for event in events if event.action)
    return {
        "events": len(events),
        "actions": dict(sorted(actions.items())),
        "error_observations": sum(event.observation == "error" for event in events),
    }


def _trajectories(files: Iterable[_Recorded], tool: str, read: ReadFile) -> Iterator[Trajectory]:
    for file in files:
        if file.tool == tool:
            yield from named_runs(file.path, read, NAME, [item.id for item in file.items])
