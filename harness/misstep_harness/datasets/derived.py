"""Make derived files of upstream files, where Misstep can make them.

A derivation takes upstream path → bytes, in the order of the catalogue's list of inputs, and gives the content of one
file, which the caller compares with the registered hash. The rule of each is in `data/datasets.toml`; the ids of the
rows that a file keeps are in `data/datasets/<set>.kept.csv`.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from misstep_harness.datasets.upstream import csv_rows
from misstep_harness.places import data_folder

Inputs = Mapping[str, bytes]
Derive = Callable[[Inputs], bytes]
Rows = Iterator[Iterable[object]]
LEFT_OUT = bytes(bytearray(b"left out"))
"""The mark of a text that is left out; told by identity, as any bytes may be a text."""

_AGENTS = {"autocoderover": "AutoCodeRover", "openhands": "OpenHands", "repairagent": "RepairAgent"}
_EXPERIMENT = re.compile(r"^experiment_\d+_")
_RESOLVED = re.compile(r"^### (\w++)[^\n]* Instances\nResolved instances:\n```\n(.*?)```", re.MULTILINE | re.DOTALL)
_MODEL = re.compile(r"_(gpt-[\d.]+)_")
_RETURN_CODE = re.compile(r"<returncode>(-?\d++)</returncode>")
_FIX = "###Fix:"
_FIXED = "data/final_list_of_fixed_bugs"
_TRAJECTORY = "/agent/trajectory.json"
_AIRLINE_CHATS = ((0, 0), (1, 0), (7, 2))
"""Task and trial of the runs that serve as samples of a chat."""


def derivation_of(name: str, file: str) -> Derive | None:
    """Return how a file of a set is made; `None` if it must be made by hand, by the rule in the catalogue."""
    return DERIVATIONS.get(name, {}).get(file)


def _table(rows: Callable[[Inputs], Rows]) -> Derive:
    def derive(inputs: Inputs) -> bytes:
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(rows(inputs))
        return text.getvalue().encode()

    return derive


def _lines(records: Callable[[Inputs], Iterable[Any]]) -> Derive:
    def derive(inputs: Inputs) -> bytes:
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records(inputs)).encode()

    return derive


def _csv_rows(data: bytes) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(data.decode(), newline=""))


def _document(inputs: Inputs) -> Any:
    (data,) = inputs.values()
    return json.loads(data)


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _relation_labels(inputs: Inputs) -> Rows:
    """`<agent>_csv/<relation>/<instance>.csv`, a column `label` each."""
    yield "agent", "instance", "resolved", "relation", "position", "label"
    for *run, folder, rows in _label_files(inputs):
        yield from ((*run, folder, position, row["label"]) for position, row in enumerate(rows))


def _study_categories(inputs: Inputs) -> Rows:
    """`<agent>_csv/actions_categories/<instance>.csv`, columns `iteration` and `category` each."""
    yield "agent", "instance", "resolved", "iteration", "category"
    for *run, _, rows in _label_files(inputs):
        yield from ((*run, row["iteration"], row["category"]) for row in rows)


def _label_files(inputs: Inputs) -> Iterator[tuple[Any, ...]]:
    """Agent, instance, outcome, folder and rows of each file of labels."""
    resolved = _resolved(inputs)
    for path in sorted(path for path in inputs if path.endswith(".csv")):
        top, folder, file = PurePosixPath(path).parts
        agent, instance = _AGENTS[top.removesuffix("_csv")], _EXPERIMENT.sub("", file.removesuffix(".csv"))
        outcome = "resolved" if instance in resolved.get(agent, ()) else "unresolved"
        yield agent, instance, outcome, folder, _csv_rows(inputs[path])


def _resolved(inputs: Inputs) -> dict[str, list[str]]:
    return {agent: listed.split() for agent, listed in _RESOLVED.findall(inputs["README.md"].decode())}


def _texts(inputs: Inputs) -> Iterator[dict[str, Any]]:
    for path in sorted(inputs):
        yield {"instance": _name(path).removesuffix(".txt"), "text": inputs[path].decode()}


def _human_labels(inputs: Inputs) -> Rows:
    """Annotated traces, a row a trace and mode; a mode's text opens with its code and its name."""
    raters = ("annotator_1", "annotator_2", "annotator_3")
    about = ("trace_id", "round", "mas_name", "benchmark_name")
    yield *about, "mode_code", "mode_name", *raters
    for trace in _document(inputs):
        for mode in trace["annotations"]:
            code, _, name = mode["failure mode"].partition("\n")[0].strip().partition(" ")
            marks = (mode.get(rater) for rater in raters)  # NaN and null are not marks
            known = (int(mark) if mark in (0, 1) else "" for mark in marks)
            yield *(trace[field] for field in about), code, name.strip(), *known


def _ratings(inputs: Inputs) -> Rows:
    """A JUDGE-BENCH document, a row an item and metric: the mean, or else the majority, and the single ratings."""
    rated = [(one["id"], *metric) for one in _document(inputs)["instances"] for metric in one["annotations"].items()]
    raters = max(len(scores["individual_human_scores"]) for *_, scores in rated)
    yield "item_id", "metric", "aggregate", *(f"r{number}" for number in range(1, raters + 1))
    for item, metric, scores in rated:
        mean, single = scores.get("mean_human"), scores["individual_human_scores"]
        aggregate = scores.get("majority_human") if mean is None else mean
        yield item, metric, aggregate, *single, *[""] * (raters - len(single))


def _rewards(inputs: Inputs) -> Rows:
    """A tau-bench file, named for its model and domain, a row a task and trial."""
    yield "env", "model", "task_id", "trial", "reward", "n_messages", "n_assistant", "n_tool_calls", "user_cost_usd"
    model, _, domain = PurePosixPath(*inputs).stem.rpartition("-")
    for run in _document(inputs):
        messages, cost = run["traj"], run["info"]["user_cost"]
        assistant = sum(message["role"] == "assistant" for message in messages)
        calls = sum(len(message.get("tool_calls") or ()) for message in messages)
        counts = len(messages), assistant, calls
        paid = "" if cost is None else f"{cost:.7f}"
        yield domain, model, run["task_id"], run["trial"], f"{run['reward']:g}", *counts, paid


def _chats(inputs: Inputs) -> Iterator[dict[str, Any]]:
    return ({"instance_id": PurePosixPath(path).stem, "chat_markdown": inputs[path].decode()} for path in inputs)


def _airline_chats(inputs: Inputs) -> Iterator[dict[str, Any]]:
    runs = {(run["task_id"], run["trial"]): run for run in _document(inputs)}
    for run in (runs[key] for key in _AIRLINE_CHATS):
        yield {"messages": run["traj"], "metadata": {name: run[name] for name in ("task_id", "trial", "reward")}}


def _diffs(inputs: Inputs) -> list[tuple[str, str, bytes]]:
    """Instance, outcome and diff of `<outcome>/<instance>-diff.txt`, in order of instance."""
    return sorted(
        (_name(path).removesuffix("-diff.txt"), PurePosixPath(path).parent.name, data) for path, data in inputs.items()
    )


def _diff_texts(inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Diffs with the outcome that their folder is named for; null where the text is left out."""
    for instance, outcome, data in _diffs(inputs):
        yield {"instance_id": instance, "outcome": outcome, "diff": None if data is LEFT_OUT else data.decode()}


def _diff_outcomes(inputs: Inputs) -> Rows:
    yield "instance_id", "outcome", "diff_bytes"
    yield from ((instance, outcome, len(data)) for instance, outcome, data in _diffs(inputs))


def _result_totals(inputs: Inputs) -> Rows:
    counts = ("tasks", "solved", "sum_max_reward", "turns", "invalid_actions", "actions")
    yield "file", "environment", "model", *counts
    yield from sorted(_totals(path.removeprefix("data/results/"), json.loads(data)) for path, data in inputs.items())


def _totals(file: str, runs: dict[str, Any]) -> tuple[Any, ...]:
    environment, *folders, _ = PurePosixPath(file).parts
    named = folders or _MODEL.findall(file) or [""]
    best = [run["summary"]["max_reward"] for run in runs.values()]
    turns = [run["turn_history"] for run in runs.values()]
    valid = [one for history in turns for one in history.get("valid_action") or ()]
    actions = sum(len(history["actions"]) for history in turns)
    solved = sum(reward == 1 for reward in best)
    invalid = sum(not one for one in valid)
    return file, environment, named[0], len(runs), solved, round(sum(best), 4), actions, invalid, len(valid)


def _trial_outcomes(inputs: Inputs) -> Rows:
    tests = ("tests", "passed", "failed")
    counts = ("n_steps", "n_tool_calls", "n_observation_results")
    yield "trial", "reward", "tests", "tests_passed", "tests_failed", "exception", *counts, "started_at", "finished_at"
    for trial in (path.removesuffix(_TRAJECTORY) for path in inputs if path.endswith(_TRAJECTORY)):
        run, steps = (json.loads(inputs[trial + file]) for file in ("/result.json", _TRAJECTORY))
        tested = inputs.get(f"{trial}/verifier/ctrf.json")
        summary = {} if tested is None else json.loads(tested)["results"]["summary"]
        yield (
            *(_name(trial), float(inputs[f"{trial}/verifier/reward.txt"])),
            *(summary.get(name, "") for name in tests),
            (run.get("exception_info") or {}).get("exception_type", ""),
            len(steps["steps"]),
            sum(len(step.get("tool_calls") or ()) for step in steps["steps"]),
            sum(len((step.get("observation") or {}).get("results", ())) for step in steps["steps"]),
            *(run["started_at"], run["finished_at"]),
        )


def _patches(inputs: Inputs) -> Iterator[tuple[str, str, bool, str]]:
    """File, bug, whether the bug is listed as fixed, and text of `<experiment>_<bug>`, in order of path."""
    fixed = {line.strip().replace(" ", "_") for line in inputs[_FIXED].decode().splitlines()}
    for path in sorted(path for path in inputs if path != _FIXED):
        bug = _name(path).partition("_")[2]
        yield _name(path), bug, bug in fixed, inputs[path].decode()


def _root_patches(inputs: Inputs) -> Iterator[dict[str, Any]]:
    fields = ("file", "bug", "in_fixed_list", "text")
    return (dict(zip(fields, patch, strict=True)) for patch in _patches(inputs))


def _root_patch_counts(inputs: Inputs) -> Rows:
    yield "file", "experiment", "bug", "fix_blocks", "bytes", "in_fixed_list"
    for file, bug, fixed, text in _patches(inputs):
        yield file, file.partition("_")[0], bug, text.count(_FIX), len(text.encode()), int(fixed)


def _repair_runs(inputs: Inputs) -> Iterator[dict[str, Any]]:
    resolved = _resolved(inputs).get("RepairAgent", ())
    labelled = {PurePosixPath(path).stem for path in inputs if path.endswith(".csv")}
    for run in sorted(_name(path) for path in inputs if "/thoughts_actions/" in path):
        bug, kinds = _EXPERIMENT.sub("", run), ("thoughts_actions", "results_actions")
        texts = {kind: inputs[f"trajectories/repairagent/parsed/{kind}/{run}"].decode() for kind in kinds}
        yield {"id": run, "bug": bug, "resolved": bug in resolved if run in labelled else None} | texts


def _repair_categories(inputs: Inputs) -> Rows:
    yield "bug", "iteration", "category"
    for path in sorted(inputs):
        rows = _csv_rows(inputs[path])
        yield from ((PurePosixPath(path).stem, row["iteration"], row["category"]) for row in rows)


def _judged(kind: str, fields: tuple[str, ...], inputs: Inputs) -> Rows:
    """Yield what people and an agent judged, a row each; `preferences` are the optional ones of the same tasks.

    The files lie in `<agent>/<judge>/`; a task is called as the people's judgement calls it, which its file may not be.
    """
    yield "developer_agent", "instance", *fields, "human_satisfied", "agent_judge_satisfied"
    for path, data in inputs.items():
        agent, _, task = path.removeprefix("benchmark/judgment/").partition("/human_as_a_judge/")
        if task:
            people = json.loads(data)
            judge = json.loads(inputs[path.replace("/human_as_a_judge/", "/agent_as_a_judge/gray_box/")])
            for one, other in zip(people.get(kind, ()), judge.get(kind, ()), strict=True):
                about = one | {"prerequisites": " ".join(map(str, one.get("prerequisites", ())))}
                answers = (one.get("satisfied"), other.get("satisfied"))
                yield agent, people["name"], *(about.get(field) for field in fields), *answers


def _mini_runs(inputs: Inputs) -> Rows:
    """The runs of mini-swe-agent with their outcomes in `results_summary.csv`, in order of instance."""
    counts = ("exit_status", "n_messages", "n_assistant", "api_calls", "cost_usd", "nonzero_returncodes")
    yield "instance_id", "resolved", "patch_applied", *counts, "repeated_commands", "adjacent_repeats", "bytes"
    (summary,) = (data for path, data in inputs.items() if path.endswith(".csv"))
    outcomes = {row["instance_id"]: tuple(row.values()) for row in _csv_rows(summary)}
    runs = [(json.loads(data), len(data)) for path, data in inputs.items() if path.endswith(".json")]
    for run, length in sorted(runs, key=lambda one: str(one[0]["instance_id"])):
        yield *outcomes[run["instance_id"]], *_counts(run["info"], run["messages"]), length


def _counts(info: dict[str, Any], messages: list[dict[str, str]]) -> tuple[Any, ...]:
    turns = [message["content"] for message in messages if message["role"] == "assistant"]
    commands = [command for command in map(_command, turns) if command is not None]
    codes = [_RETURN_CODE.match(message["content"]) for message in messages if message["role"] == "user"]
    stats = info["model_stats"]
    called = stats["api_calls"], round(float(stats["instance_cost"]), 6)
    failed = sum(code is not None and int(code[1]) != 0 for code in codes)
    repeated = len(commands) - len(set(commands)), sum(first == second for first, second in pairwise(commands))
    return info["exit_status"], len(messages), len(turns), *called, failed, *repeated


def _command(turn: str) -> str | None:
    _, opened, rest = turn.partition("```bash")
    block, closed, _ = rest.partition("\n```")
    return block.strip() if opened and closed else None


class _KeptRow(Struct, frozen=True):
    file: str
    id: str


def _kept_ids(name: str, file: str) -> set[str]:
    rows = csv_rows(data_folder() / "datasets" / f"{name}.kept.csv", _KeptRow)
    return {row.id for row in rows if row.file == file}


def _kept_rows(name: str, file: str, inputs: Inputs) -> bytes:
    """The header and some rows of a CSV file, byte for byte; rows end in CRLF, lines within cells in LF."""
    names = _kept_ids(name, file)
    (data,) = inputs.values()
    header, *rows = data.split(b"\r\n")
    return b"".join(
        row + b"\r\n" for row in (header, *(row for row in rows if row.partition(b",")[0].decode() in names))
    )


def _kept_keys(name: str, file: str, inputs: Inputs) -> bytes:
    """Some keys of a JSON object, in upstream's order and laid out anew."""
    names = _kept_ids(name, file)
    part = {key: value for key, value in _document(inputs).items() if key in names}
    return (json.dumps(part, indent=1) + "\n").encode()


_REQUIREMENT = ("requirement_id", "category", "prerequisites")

DERIVATIONS: dict[str, dict[str, Derive]] = {
    "agent_as_a_judge": {
        "judgements.csv": _table(partial(_judged, "requirements", _REQUIREMENT)),
        "preferences.csv": _table(partial(_judged, "preferences", ("preference_id",))),
    },
    "agentless_classes": {"classifications.csv.gz": partial(_kept_rows, "agentless_classes", "classifications.csv.gz")},
    "aider_swe_bench_lite": {
        "chats.jsonl.gz": _lines(_chats),
        "records.jsonl.gz": _lines(lambda inputs: map(json.loads, inputs.values())),
    },
    "codetracer_runs": {"outcomes.csv": _table(_trial_outcomes)},
    "devin": {"diffs.jsonl.gz": _lines(_diff_texts), "outcomes.csv": _table(_diff_outcomes)},
    "intercode": {"summary.csv": _table(_result_totals)},
    "judge_bench_raters": {
        "dices_350_crowdsourced.csv.gz": _table(_ratings),
        "inferential_strategies.csv": _table(_ratings),
        "newsroom.csv": _table(_ratings),
    },
    "llm_agents_study": {
        "action_categories.csv": _table(_study_categories),
        "relation_labels.csv": _table(_relation_labels),
        "thoughts_actions_autocoderover.jsonl.gz": _lines(_texts),
        "thoughts_actions_openhands.jsonl.gz": _lines(_texts),
        "thoughts_actions_repairagent.jsonl.gz": _lines(_texts),
    },
    "mast": {"human_labels.csv": _table(_human_labels)},
    "mini_swe_agent_runs": {"runs.csv": _table(_mini_runs)},
    "repairagent": {
        "action_categories.csv": _table(_repair_categories),
        "root_patch_counts.csv": _table(_root_patch_counts),
        "root_patches.jsonl.gz": _lines(_root_patches),
        "trajectories.jsonl.gz": _lines(_repair_runs),
    },
    "taubench": {"rewards.csv": _table(_rewards)},
    "transcript_formats": {"openai_chat/airline_chats.jsonl": _lines(_airline_chats)},
    "utboost": {
        file: partial(_kept_keys, "utboost", file)
        for file in ("augmented_tests.json", "reparsed_lite.json.gz", "reparsed_verified.json.gz")
    },
}
"""Set → derived file → how it is made of the inputs that the catalogue lists for it."""
