"""How tables and packed files of recorded runs are made of upstream files: one function a derived file.

Where a set holds only some of upstream's files, which ones is in the catalogue's list of inputs: what is packed
here is all that is given, in the order in which it is listed. An input of which only the name is wanted, as its text
is left out here, comes as `LEFT_OUT`.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

Inputs = Mapping[str, bytes]
LEFT_OUT = bytes(bytearray(b"left out"))
"""What stands for a text that is left out; told by identity, as any bytes may be a text."""

_EXPERIMENT = re.compile(r"^experiment_\d+_")
_FIX = "###Fix:"
_AIRLINE_CHATS = ((0, 0), (1, 0), (7, 2))
"""Task and trial of the runs that serve as samples of a chat."""


def table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Return a CSV file whose lines end as on Unix."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def packed_lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Records as JSON Lines, characters as they are."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def documents_as_lines(inputs: Inputs) -> bytes:
    """JSON documents, one a line, values unchanged."""
    return packed_lines(json.loads(data) for data in inputs.values())


def chats_as_lines(inputs: Inputs) -> bytes:
    """Aider's chat logs, one a line, named for their task."""
    return packed_lines(
        {"instance_id": PurePosixPath(path).stem, "chat_markdown": data.decode()} for path, data in inputs.items()
    )


def airline_chats(inputs: Inputs) -> bytes:
    """Three tau-bench runs as chats."""
    (data,) = inputs.values()
    runs = {(run["task_id"], run["trial"]): run for run in json.loads(data)}
    return packed_lines(
        {
            "messages": runs[key]["traj"],
            "metadata": {name: runs[key][name] for name in ("task_id", "trial", "reward")},
        }
        for key in _AIRLINE_CHATS
    )


def _diffs(inputs: Inputs) -> list[tuple[str, str, bytes]]:
    """Instance, outcome and diff of `<outcome>/<instance>-diff.txt`, in order of instance."""
    return sorted(
        (PurePosixPath(path).name.removesuffix("-diff.txt"), PurePosixPath(path).parent.name, data)
        for path, data in inputs.items()
    )


def diffs_as_lines(inputs: Inputs) -> bytes:
    """Diffs, one a line, with the outcome that their folder is named for; null where the text is left out."""
    return packed_lines(
        {"instance_id": instance, "outcome": outcome, "diff": None if data is LEFT_OUT else data.decode()}
        for instance, outcome, data in _diffs(inputs)
    )


def diff_outcomes(inputs: Inputs) -> bytes:
    """Return the outcome and size of each diff."""
    return table(
        ("instance_id", "outcome", "diff_bytes"),
        ((instance, outcome, len(data)) for instance, outcome, data in _diffs(inputs)),
    )


class _Turns(Struct):
    actions: list[Any]
    valid_action: list[Any] | None = None


class _Best(Struct):
    max_reward: int | float


class _Run(Struct):
    turn_history: _Turns
    summary: _Best


def result_totals(inputs: Inputs) -> bytes:
    """InterCode's result files, `<environment>/<model>/<file>`, a row each."""
    return table(
        ("file", "environment", "model", "tasks", "solved", "sum_max_reward", "turns", "invalid_actions", "actions"),
        sorted(_totals(path, data) for path, data in inputs.items()),
    )


def _totals(path: str, data: bytes) -> tuple[object, ...]:
    file = path.removeprefix("data/results/")
    environment, *folders, _ = PurePosixPath(file).parts
    runs = list(msgspec.json.decode(data, type=dict[str, _Run]).values())
    best = [run.summary.max_reward for run in runs]
    valid = [one for run in runs for one in run.turn_history.valid_action or ()]
    return (
        file,
        environment,
        folders[0] if folders else _model_of(file),
        len(runs),
        sum(reward == 1 for reward in best),
        round(sum(best), 4),
        sum(len(run.turn_history.actions) for run in runs),
        sum(not one for one in valid),
        len(valid),
    )


def _model_of(file: str) -> str:
    """Return the model that a file is named for which lies in no model's folder."""
    found = re.search(r"_(gpt-[\d.]+)_", file)
    return found[1] if found else ""


class _Exception(Struct):
    exception_type: str = ""


class _Trial(Struct):
    started_at: str
    finished_at: str
    exception_info: _Exception | None = None


class _Tests(Struct):
    tests: int
    passed: int
    failed: int


class _Report(Struct):
    summary: _Tests


class _Tested(Struct):
    results: _Report


class _Observed(Struct):
    results: list[Any] = []


class _Step(Struct):
    tool_calls: list[Any] | None = None
    observation: _Observed | None = None


class _Trajectory(Struct):
    steps: list[_Step]


def trial_outcomes(inputs: Inputs) -> bytes:
    """Trials of Terminal-Bench, a row each, in the order in which their trajectories are listed."""
    counts = ("n_steps", "n_tool_calls", "n_observation_results")
    header = ("trial", "reward", "tests", "tests_passed", "tests_failed", "exception", *counts)
    suffix = "/agent/trajectory.json"
    trials = [path.removesuffix(suffix) for path in inputs if path.endswith(suffix)]
    return table((*header, "started_at", "finished_at"), (_outcome_row(inputs, trial) for trial in trials))


def _outcome_row(inputs: Inputs, trial: str) -> tuple[object, ...]:
    run = msgspec.json.decode(inputs[f"{trial}/result.json"], type=_Trial)
    steps = msgspec.json.decode(inputs[f"{trial}/agent/trajectory.json"], type=_Trajectory).steps
    tested = inputs.get(f"{trial}/verifier/ctrf.json")
    summary = None if tested is None else msgspec.json.decode(tested, type=_Tested).results.summary
    return (
        PurePosixPath(trial).name,
        float(inputs[f"{trial}/verifier/reward.txt"]),
        *(("", "", "") if summary is None else (summary.tests, summary.passed, summary.failed)),
        run.exception_info.exception_type if run.exception_info else "",
        len(steps),
        sum(len(step.tool_calls or ()) for step in steps),
        sum(len(step.observation.results) for step in steps if step.observation),
        run.started_at,
        run.finished_at,
    )


_RESOLVED = re.compile(
    r"^### RepairAgent[^\n]* Instances\nResolved instances:\n```\n(.*?)```", re.MULTILINE | re.DOTALL
)
_FIXED = "data/final_list_of_fixed_bugs"


def _root_patches(inputs: Inputs) -> Iterator[tuple[str, str, bool, str]]:
    """File, bug, whether the bug is listed as fixed, and text of `<experiment>_<bug>`, in order of name."""
    fixed = {line.strip().replace(" ", "_") for line in inputs[_FIXED].decode().splitlines()}
    for path in sorted(path for path in inputs if path != _FIXED):
        file = PurePosixPath(path).name
        bug = file.partition("_")[2]
        yield file, bug, bug in fixed, inputs[path].decode()


def root_patches(inputs: Inputs) -> bytes:
    """RepairAgent's files of raw patches, one a line."""
    return packed_lines(
        {"file": file, "bug": bug, "in_fixed_list": fixed, "text": text}
        for file, bug, fixed, text in _root_patches(inputs)
    )


def root_patch_counts(inputs: Inputs) -> bytes:
    """Return what RepairAgent's files of raw patches hold, a row each."""
    return table(
        ("file", "experiment", "bug", "fix_blocks", "bytes", "in_fixed_list"),
        (
            (file, file.partition("_")[0], bug, text.count(_FIX), len(text.encode()), int(fixed))
            for file, bug, fixed, text in _root_patches(inputs)
        ),
    )


def repair_runs(inputs: Inputs) -> bytes:
    """RepairAgent's runs, one a line: two texts each, and whether it is resolved where its actions are labelled."""
    page = inputs["README.md"].decode()
    listed = re.search(
        r"^### RepairAgent[^\n]* Instances\nResolved instances:\n```\n(.*?)```", page, re.MULTILINE | re.DOTALL
    )
    resolved = set(listed[1].split()) if listed else set()
    labelled = {PurePosixPath(path).stem for path in inputs if path.endswith(".csv")}
    runs = sorted(PurePosixPath(path).name for path in inputs if "/thoughts_actions/" in path)
    folder = "trajectories/repairagent/parsed"
    return packed_lines(
        {
            "id": run,
            "bug": (bug := _EXPERIMENT.sub("", run)),
            "resolved": bug in resolved if run in labelled else None,
            **{kind: inputs[f"{folder}/{kind}/{run}"].decode() for kind in ("thoughts_actions", "results_actions")},
        }
        for run in runs
    )


def repair_categories(inputs: Inputs) -> bytes:
    """Return the hand-made categories of RepairAgent's actions, a row an iteration."""
    return table(
        ("bug", "iteration", "category"),
        (
            (PurePosixPath(path).stem, row["iteration"], row["category"])
            for path in sorted(inputs)
            for row in csv.DictReader(io.StringIO(inputs[path].decode(), newline=""))
        ),
    )


class _Judged(Struct):
    satisfied: bool | None = None
    requirement_id: int | None = None
    preference_id: int | None = None
    category: str | None = None
    prerequisites: list[int] = []


class _Judgement(Struct):
    name: str
    requirements: list[_Judged]
    preferences: list[_Judged] = []


def judgements(inputs: Inputs) -> bytes:
    """Return the requirements that people and an agent judged, a row each."""
    header = ("developer_agent", "instance", "requirement_id", "category", "prerequisites")
    return table(
        (*header, "human_satisfied", "agent_judge_satisfied"),
        (
            (
                *(agent, task, one.requirement_id, one.category or ""),
                " ".join(map(str, one.prerequisites)),
                *(_said(one), _said(other)),
            )
            for agent, task, people, judge in _judged_by_both(inputs)
            for one, other in zip(people.requirements, judge.requirements, strict=True)
        ),
    )


def preferences(inputs: Inputs) -> bytes:
    """Return the optional preferences of the same tasks, a row each."""
    return table(
        ("developer_agent", "instance", "preference_id", "human_satisfied", "agent_judge_satisfied"),
        (
            (agent, task, one.preference_id, _said(one), _said(other))
            for agent, task, people, judge in _judged_by_both(inputs)
            for one, other in zip(people.preferences, judge.preferences, strict=True)
        ),
    )


def _judged_by_both(inputs: Inputs) -> Iterator[tuple[str, str, _Judgement, _Judgement]]:
    """Developer agent, task, and the judgements of people and of the judge, in the order of the list of inputs.

    The files lie in `<agent>/<judge>/`; a task is called as the people's judgement calls it, which is not always as its
    file is called.
    """
    for path, data in inputs.items():
        agent, _, task = path.removeprefix("benchmark/judgment/").partition("/human_as_a_judge/")
        if task:
            other = inputs[path.replace("/human_as_a_judge/", "/agent_as_a_judge/gray_box/")]
            people, judge = (msgspec.json.decode(one, type=_Judgement) for one in (data, other))
            yield agent, people.name, people, judge


def _said(one: _Judged) -> str:
    return "" if one.satisfied is None else str(one.satisfied)
