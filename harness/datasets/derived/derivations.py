"""How derived files are made of upstream files, where Misstep can make them.

A derivation takes upstream path → bytes and gives the content of one file; whoever calls it compares that content
with the registered hash, so that a file which upstream has changed is refused and not silently other.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from misstep.harness.datasets.derived import derived_parts, derived_runs
from misstep.harness.datasets.derived.derived_runs import Inputs, table

Derive = Callable[[Inputs], bytes]


def derivation_of(name: str, file: str) -> Derive | None:
    """Return how a file of a set is made; `None` where it must be made by hand, by the rule in the catalogue."""
    return DERIVATIONS.get(name, {}).get(file)


_AGENTS = {"autocoderover": "AutoCodeRover", "openhands": "OpenHands", "repairagent": "RepairAgent"}
_EXPERIMENT = re.compile(r"^experiment_\d+_")
_RESOLVED = re.compile(r"^### (\w++)[^\n]* Instances\nResolved instances:\n```\n(.*?)```", re.MULTILINE | re.DOTALL)


def relation_labels(inputs: Inputs) -> bytes:
    """`<agent>_csv/<relation>/<instance>.csv`, a column `label` each, as one table."""
    resolved = _resolved(inputs)
    return table(
        ("agent", "instance", "resolved", "relation", "position", "label"),
        (
            (agent, instance, _outcome(agent, instance, resolved), folder, position, row["label"])
            for agent, instance, folder, rows in _label_files(inputs)
            for position, row in enumerate(rows)
        ),
    )


def action_categories(inputs: Inputs) -> bytes:
    """`<agent>_csv/actions_categories/<instance>.csv`, columns `iteration` and `category` each, as one table."""
    resolved = _resolved(inputs)
    return table(
        ("agent", "instance", "resolved", "iteration", "category"),
        (
            (agent, instance, _outcome(agent, instance, resolved), row["iteration"], row["category"])
            for agent, instance, _, rows in _label_files(inputs)
            for row in rows
        ),
    )


def _label_files(inputs: Inputs) -> Iterable[tuple[str, str, str, list[dict[str, str]]]]:
    for path in sorted(path for path in inputs if path.endswith(".csv")):
        top, folder, file = PurePosixPath(path).parts
        instance = _EXPERIMENT.sub("", file.removesuffix(".csv"))
        rows = list(csv.DictReader(io.StringIO(inputs[path].decode(), newline="")))
        yield _AGENTS[top.removesuffix("_csv")], instance, folder, rows


def _resolved(inputs: Inputs) -> set[tuple[str, str]]:
    """(agent, instance) of what upstream's page lists as resolved."""
    page = inputs["README.md"].decode()
    return {(agent, instance) for agent, listed in _RESOLVED.findall(page) for instance in listed.split()}


def _outcome(agent: str, instance: str, resolved: set[tuple[str, str]]) -> str:
    return "resolved" if (agent, instance) in resolved else "unresolved"


def texts_as_lines(inputs: Inputs) -> bytes:
    """Text files as JSON Lines of their name, without `.txt`, and text, in order of name."""
    return "".join(
        json.dumps(
            {"instance": PurePosixPath(path).name.removesuffix(".txt"), "text": inputs[path].decode()},
            ensure_ascii=False,
        )
        + "\n"
        for path in sorted(inputs)
    ).encode()


class _Mode(Struct, rename={"mode": "failure mode"}):
    mode: str
    annotator_1: Any = None
    annotator_2: Any = None
    annotator_3: Any = None


class _Annotated(Struct):
    trace_id: int
    round: str
    mas_name: str
    benchmark_name: str
    annotations: list[_Mode]


def human_labels(inputs: Inputs) -> bytes:
    """Return a list of annotated traces as one row a trace and mode; a mode's text opens with its code and its name."""
    (data,) = inputs.values()
    rows = []
    for trace in msgspec.convert(json.loads(data), list[_Annotated]):
        for mode in trace.annotations:
            code, _, name = mode.mode.partition("\n")[0].strip().partition(" ")
            marks = (_mark(mode.annotator_1), _mark(mode.annotator_2), _mark(mode.annotator_3))
            rows.append((trace.trace_id, trace.round, trace.mas_name, trace.benchmark_name, code, name.strip(), *marks))
    header = ("trace_id", "round", "mas_name", "benchmark_name", "mode_code", "mode_name")
    return table((*header, "annotator_1", "annotator_2", "annotator_3"), rows)


def _mark(value: object) -> str:
    """Return a mark as 0 or 1; NaN and null are not mark."""
    return str(int(value)) if isinstance(value, bool) or value in (0, 1) else ""


class _Scores(Struct):
    individual_human_scores: list[Any]
    majority_human: Any = None
    mean_human: Any = None


class _Instance(Struct):
    id: Any
    annotations: dict[str, _Scores]


class _Rated(Struct):
    instances: list[_Instance]


def ratings(inputs: Inputs) -> bytes:
    """A JUDGE-BENCH document as one row an item and metric: the mean, or else the majority, and the single ratings."""
    (data,) = inputs.values()
    instances = msgspec.json.decode(data, type=_Rated).instances
    raters = max(
        len(scores.individual_human_scores) for instance in instances for scores in instance.annotations.values()
    )
    rows = []
    for instance in instances:
        for metric, scores in instance.annotations.items():
            aggregate = scores.majority_human if scores.mean_human is None else scores.mean_human
            single = [_cell(score) for score in scores.individual_human_scores]
            rows.append((instance.id, metric, _cell(aggregate), *single, *[""] * (raters - len(single))))
    return table(("item_id", "metric", "aggregate", *(f"r{number}" for number in range(1, raters + 1))), rows)


def _cell(value: object) -> str:
    return "" if value is None else str(value)


class _Message(Struct):
    role: str
    tool_calls: list[Any] | None = None


class _Cost(Struct):
    user_cost: float | None


class _Run(Struct):
    task_id: int
    trial: int
    reward: float
    traj: list[_Message]
    info: _Cost


def rewards(inputs: Inputs) -> bytes:
    """Return a tau-bench file, named for its model and domain, as one row a task and trial."""
    ((path, data),) = inputs.items()
    model, _, domain = PurePosixPath(path).stem.rpartition("-")
    return table(
        ("env", "model", "task_id", "trial", "reward", "n_messages", "n_assistant", "n_tool_calls", "user_cost_usd"),
        (
            (
                domain,
                model,
                run.task_id,
                run.trial,
                f"{run.reward:g}",
                len(run.traj),
                sum(message.role == "assistant" for message in run.traj),
                sum(len(message.tool_calls or ()) for message in run.traj),
                "" if run.info.user_cost is None else f"{run.info.user_cost:.7f}",
            )
            for run in msgspec.json.decode(data, type=list[_Run])
        ),
    )


DERIVATIONS: dict[str, dict[str, Derive]] = {
    "agent_as_a_judge": {
        "judgements.csv": derived_runs.judgements,
        "preferences.csv": derived_runs.preferences,
    },
    "agentless_classes": {
        "classifications.csv.gz": derived_parts.kept_rows("agentless_classes", "classifications.csv.gz")
    },
    "aider_swe_bench_lite": {
        "chats.jsonl.gz": derived_runs.chats_as_lines,
        "records.jsonl.gz": derived_runs.documents_as_lines,
    },
    "codetracer_runs": {"outcomes.csv": derived_runs.trial_outcomes},
    "devin": {"diffs.jsonl.gz": derived_runs.diffs_as_lines, "outcomes.csv": derived_runs.diff_outcomes},
    "intercode": {"summary.csv": derived_runs.result_totals},
    "judge_bench_raters": {
        "dices_350_crowdsourced.csv.gz": ratings,
        "inferential_strategies.csv": ratings,
        "newsroom.csv": ratings,
    },
    "llm_agents_study": {
        "action_categories.csv": action_categories,
        "relation_labels.csv": relation_labels,
        "thoughts_actions_autocoderover.jsonl.gz": texts_as_lines,
        "thoughts_actions_openhands.jsonl.gz": texts_as_lines,
        "thoughts_actions_repairagent.jsonl.gz": texts_as_lines,
    },
    "mast": {"human_labels.csv": human_labels},
    "mini_swe_agent_runs": {"runs.csv": derived_parts.mini_runs},
    "repairagent": {
        "action_categories.csv": derived_runs.repair_categories,
        "root_patch_counts.csv": derived_runs.root_patch_counts,
        "root_patches.jsonl.gz": derived_runs.root_patches,
        "trajectories.jsonl.gz": derived_runs.repair_runs,
    },
    "taubench": {"rewards.csv": rewards},
    "transcript_formats": {"openai_chat/airline_chats.jsonl": derived_runs.airline_chats},
    "utboost": {
        file: derived_parts.kept_keys("utboost", file)
        for file in ("augmented_tests.json", "reparsed_lite.json.gz", "reparsed_verified.json.gz")
    },
}
"""Set → derived file → how it is made of the inputs that the catalogue lists for it."""
