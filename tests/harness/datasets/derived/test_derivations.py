"""Derived files: what is made of upstream files is, byte for byte, what the registry has a hash of."""

import csv
import gzip
import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.datasets.catalogue import files_of, inputs_of
from misstep.harness.datasets.derived.derivations import (
    DERIVATIONS,
    human_labels,
    ratings,
    relation_labels,
    rewards,
    texts_as_lines,
)


def registered(name: str, file: str) -> str:
    return next(one.sha256 for one in files_of(name) if one.file == file)


def made(name: str, file: str, inputs: dict[str, bytes]) -> str:
    return hashlib.sha256(DERIVATIONS[name][file](inputs)).hexdigest()


def rows_of(path: Path) -> list[dict[str, str]]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return list(csv.DictReader(text.decode().splitlines()))


@pytest.fixture(scope="module")
def study(data_folder: Path) -> dict[str, bytes]:
    """The upstream files of the study, put together again from the derived ones; each is checked against its hash."""
    folder = data_folder / "llm_agents_study"
    contents: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    resolved: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for row in rows_of(folder / "relation_labels.csv"):
        contents[row["agent"].lower(), row["relation"], row["instance"]].append(row["label"])
        if row["resolved"] == "resolved":
            resolved[row["agent"]][row["instance"]] = None
    for row in rows_of(folder / "action_categories.csv"):
        contents[row["agent"].lower(), "actions_categories", row["instance"]].append(
            f"{row['iteration']},{row['category']}"
        )
    by_hash = {}
    for (_, kind, _), lines in contents.items():
        header = "iteration,category" if kind == "actions_categories" else "label"
        data = "".join(f"{line}\r\n" for line in (header, *lines)).encode()
        by_hash[hashlib.sha256(data).hexdigest()] = data
    for path in folder.glob("thoughts_actions_*.jsonl.gz"):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            data = json.loads(line)["text"].encode()
            by_hash[hashlib.sha256(data).hexdigest()] = data
    page = "".join(
        f"### {agent} / Other Instances\nResolved instances:\n```\n{chr(10).join(names)}\n```\n"
        for agent, names in resolved.items()
    )
    files = {one.upstream_path: by_hash[one.sha256] for one in inputs_of("llm_agents_study") if one.sha256}
    return files | {"README.md": page.encode()}


@pytest.mark.data
@pytest.mark.parametrize("file", sorted(DERIVATIONS["llm_agents_study"]))
def test_the_files_of_the_study_are_made_of_upstreams_860(file: str, study: dict[str, bytes]) -> None:
    wanted = {one.upstream_path: study[one.upstream_path] for one in inputs_of("llm_agents_study") if one.file == file}
    assert made("llm_agents_study", file, wanted) == registered("llm_agents_study", file)


@pytest.mark.data
def test_the_rewards_of_taubench_are_made_of_its_runs(data_folder: Path) -> None:
    (known,) = inputs_of("taubench")
    data = gzip.decompress((data_folder / "taubench" / "gpt-4o-airline.json.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == known.sha256
    assert made("taubench", "rewards.csv", {known.upstream_path: data}) == registered("taubench", "rewards.csv")


def document(rows: list[dict[str, str]]) -> dict[str, Any]:
    """A JUDGE-BENCH document that has the ratings in `rows`."""
    items: dict[int, dict[str, Any]] = {}
    for row in rows:
        values = [value for column, value in row.items() if column.startswith("r") and value]
        single = [json.loads(value) if value.isdecimal() else value for value in values]
        graded = row["aggregate"].replace(".", "").isdecimal()
        aggregate = {"mean_human": json.loads(row["aggregate"])} if graded else {"majority_human": row["aggregate"]}
        item = items.setdefault(int(row["item_id"]), {"id": int(row["item_id"]), "annotations": {}})
        item["annotations"][row["metric"]] = aggregate | {"individual_human_scores": single}
    return {"dataset": "any", "annotations": [], "instances": list(items.values())}


@pytest.mark.data
@pytest.mark.parametrize("file", sorted(DERIVATIONS["judge_bench_raters"]))
def test_ratings_are_written_as_registered(file: str, data_folder: Path) -> None:
    """The documents are not available: this holds for the shape; their hash is checked when they are fetched."""
    rebuilt = json.dumps(document(rows_of(data_folder / "judge_bench_raters" / file))).encode()
    assert made("judge_bench_raters", file, {"a.json": rebuilt}) == registered("judge_bench_raters", file)


@pytest.mark.data
def test_marks_are_written_as_registered(data_folder: Path) -> None:
    """As for ratings: for the shape alone."""
    traces: dict[str, dict[str, Any]] = {}
    for row in rows_of(data_folder / "mast" / "human_labels.csv"):
        trace = traces.setdefault(
            row["trace_id"],
            {key: row[key] for key in ("round", "mas_name", "benchmark_name")}
            | {"trace_id": int(row["trace_id"]), "annotations": []},
        )
        marks = {rater: {"0": False, "1": True, "": float("nan")}[row[rater]] for rater in row if "annotator" in rater}
        mode = f"{row['mode_code']} {row['mode_name']}\nWhat it means."
        trace["annotations"].append({"failure mode": mode} | marks)
    rebuilt = json.dumps(list(traces.values())).encode()
    assert made("mast", "human_labels.csv", {"a.json": rebuilt}) == registered("mast", "human_labels.csv")


def test_label_files_are_joined_by_agent_relation_and_instance() -> None:
    page = "### OpenHands / CodeActAgent Instances\nResolved instances:\n```\nrepo-1\n```\nUnresolved instances:\n```\n"
    files = {
        "openhands_csv/action_action/repo-1.csv": b"label\r\nRepetition\r\nFollow-up\r\n",
        "repairagent_csv/action_action/experiment_3_Lang_1.csv": b"label\r\nDivergence\r\n",
        "README.md": page.encode(),
    }
    assert relation_labels(files).decode().splitlines() == [
        "agent,instance,resolved,relation,position,label",
        "OpenHands,repo-1,resolved,action_action,0,Repetition",
        "OpenHands,repo-1,resolved,action_action,1,Follow-up",
        "RepairAgent,Lang_1,unresolved,action_action,0,Divergence",
    ]


def test_text_files_become_lines_named_without_their_folder_and_ending() -> None:
    lines = texts_as_lines({"b/Two.txt": b"zwei\n", "b/One": "größer".encode()})
    assert lines.decode() == '{"instance": "One", "text": "größer"}\n{"instance": "Two", "text": "zwei\\n"}\n'


def test_fewer_ratings_than_raters_leave_empty_cells_and_a_mean_goes_before_a_majority() -> None:
    scores = {"mean_human": 2.5, "majority_human": 3, "individual_human_scores": [2, None, 3]}
    other = {"majority_human": "no", "individual_human_scores": ["no"]}
    data = json.dumps({"instances": [{"id": 4, "annotations": {"Fluency": scores, "Sound": other}}]}).encode()
    assert ratings({"a.json": data}).decode().splitlines() == [
        "item_id,metric,aggregate,r1,r2,r3",
        "4,Fluency,2.5,2,,3",
        "4,Sound,no,no,,",
    ]


def test_a_mark_that_is_not_there_is_an_empty_cell() -> None:
    mode = {"failure mode": "1.3 Step repetition\nAgain.", "annotator_1": True, "annotator_2": float("nan")}
    trace = {"trace_id": 3, "round": "Round 1", "mas_name": "S", "benchmark_name": "B", "annotations": [mode]}
    assert human_labels({"a.json": json.dumps([trace]).encode()}).decode().splitlines()[1] == (
        "3,Round 1,S,B,1.3,Step repetition,1,,"
    )


def test_rewards_name_the_model_and_the_domain_of_the_file() -> None:
    messages = [{"role": "user"}, {"role": "assistant", "tool_calls": [{}, {}]}, {"role": "assistant"}]
    run = {"task_id": 2, "trial": 1, "reward": 1.0, "traj": messages, "info": {"user_cost": None}}
    lines = rewards({"runs/some-model-retail.json": json.dumps([run]).encode()}).decode().splitlines()
    assert lines[1] == "retail,some-model,2,1,1,3,2,2,"
