"""Derived files of recorded runs: made of upstream's files they are, byte for byte, what the registry has a hash of.

Where the derived file holds upstream's texts these are taken out of it again and checked against the hashes of the
inputs; what is made of them has to have the registered hash. Where it holds counts, the rows that can be made of what
is available are compared.
"""

import csv
import gzip
import hashlib
import io
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from misstep.harness.datasets.catalogue import data_sets, files_of, inputs_of, made_by_hand
from misstep.harness.datasets.derived.derivations import DERIVATIONS
from misstep.harness.datasets.derived.derived_runs import (
    LEFT_OUT,
    diffs_as_lines,
    judgements,
    preferences,
    trial_outcomes,
)

BY_HAND = {
    "condefects",
    "debugbench",
    "gemmaforge",
    "humaneval_codegen16b_samples",
    "humanevalfix",
    "patch_corpora",
    "quixbugs",
    "utboost",
}


def test_all_sets_but_eight_can_be_fetched_whole() -> None:
    assert {name for name in data_sets() if made_by_hand(name)} == BY_HAND
    assert len(data_sets()) - len(BY_HAND) == 21


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def unpacked(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(), newline="")))


@pytest.fixture(scope="module")
def upstream(data_folder: Path) -> dict[str, bytes]:
    """Upstream files that are available, whole or in a derived file, by their hash."""
    aider, repair = data_folder / "aider_swe_bench_lite", data_folder / "repairagent"
    texts = [json.dumps(record, indent=4).encode() for record in unpacked(aider / "records.jsonl.gz")]
    texts += [record["chat_markdown"].encode() for record in unpacked(aider / "chats.jsonl.gz")]
    texts += [
        one["diff"].encode() for one in unpacked(data_folder / "devin" / "diffs.jsonl.gz") if one["diff"] is not None
    ]
    texts += [record["text"].encode() for record in unpacked(repair / "root_patches.jsonl.gz")]
    for run in unpacked(repair / "trajectories.jsonl.gz"):
        texts += [run[kind].encode() for kind in ("thoughts_actions", "results_actions")]
    labelled: defaultdict[str, str] = defaultdict(lambda: "iteration,category\r\n")
    for row in rows(repair / "action_categories.csv"):
        labelled[row["bug"]] += f"{row['iteration']},{row['category']}\r\n"
    texts += [text.encode() for text in labelled.values()]
    texts.append((repair / "final_list_of_fixed_bugs.txt").read_bytes())
    packed = [data_folder / "taubench" / "gpt-4o-airline.json.gz", *(data_folder / "intercode" / "results").iterdir()]
    texts += [gzip.decompress(path.read_bytes()) for path in packed]
    texts += [path.read_bytes() for path in (data_folder / "codetracer_runs" / "trajectories").iterdir()]
    return {sha256(text): text for text in texts}


def at_hand(name: str, file: str, upstream: dict[str, bytes]) -> dict[str, bytes]:
    """The inputs of a derived file that are available."""
    return {
        known.upstream_path: LEFT_OUT if known.left_out else upstream[known.sha256]
        for known in inputs_of(name)
        if known.file == file and (known.left_out or known.sha256 in upstream)
    }


def registered(name: str, file: str) -> str:
    return next(one.sha256 for one in files_of(name) if one.file == file)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("aider_swe_bench_lite", "chats.jsonl.gz"),
        ("aider_swe_bench_lite", "records.jsonl.gz"),
        ("devin", "diffs.jsonl.gz"),
        ("repairagent", "action_categories.csv"),
        ("repairagent", "root_patches.jsonl.gz"),
        ("repairagent", "trajectories.jsonl.gz"),
        ("transcript_formats", "openai_chat/airline_chats.jsonl"),
    ],
)
def test_a_file_that_is_made_of_its_inputs_has_the_registered_hash(
    name: str, file: str, upstream: dict[str, bytes], data_folder: Path
) -> None:
    inputs = at_hand(name, file, upstream)
    if (name, file) == ("repairagent", "trajectories.jsonl.gz"):
        runs = unpacked(data_folder / name / file)
        resolved = "\n".join(run["bug"] for run in runs if run["resolved"])
        page = f"### RepairAgent Instances\nResolved instances:\n```\n{resolved}\n```\n"
        inputs["README.md"] = page.encode()
    assert len(inputs) == sum(known.file == file for known in inputs_of(name)), "each of them is available"
    assert sha256(DERIVATIONS[name][file](inputs)) == registered(name, file)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "count"),
    [("devin", "outcomes.csv", 528), ("intercode", "summary.csv", 36), ("repairagent", "root_patch_counts.csv", 60)],
)
def test_the_rows_that_can_be_made_of_what_is_at_hand_are_those_of_the_file(
    name: str, file: str, count: int, upstream: dict[str, bytes], data_folder: Path
) -> None:
    made = DERIVATIONS[name][file](at_hand(name, file, upstream)).decode().splitlines()
    assert len(made) >= count
    assert set(made) <= set((data_folder / name / file).read_text().splitlines())


@pytest.mark.data
def test_trials_are_counted_as_in_the_file(upstream: dict[str, bytes], data_folder: Path) -> None:
    """Rewards, times and test counts are put into files of upstream's shape; the trajectories are its own."""
    file = data_folder / "codetracer_runs" / "outcomes.csv"
    inputs = at_hand("codetracer_runs", "outcomes.csv", upstream)
    folders = {Path(path).parent.parent.name: str(Path(path).parent.parent) for path in inputs}
    for row in rows(file):
        folder = folders[row["trial"]]
        times = {name: row[name] for name in ("started_at", "finished_at")}
        inputs[f"{folder}/result.json"] = json.dumps(times | {"exception_info": None}).encode()
        inputs[f"{folder}/verifier/reward.txt"] = row["reward"].encode() + b"\n"
        if row["tests"]:
            counts = {"tests": row["tests"], "passed": row["tests_passed"], "failed": row["tests_failed"]}
            summary = {name: int(value) for name, value in counts.items()}
            inputs[f"{folder}/verifier/ctrf.json"] = json.dumps({"results": {"summary": summary}}).encode()
    assert trial_outcomes(inputs) == file.read_bytes()


@pytest.mark.data
def test_judgements_of_the_shape_that_upstream_has_make_the_files(data_folder: Path) -> None:
    """The judgements are not available: this holds for the shape, the hash is checked when they are fetched."""
    folder = data_folder / "agent_as_a_judge"
    listed = [one.upstream_path for one in inputs_of("agent_as_a_judge") if one.file == "judgements.csv"]
    people = [path for path in listed if "/human_as_a_judge/" in path]
    called = dict.fromkeys((row["developer_agent"], row["instance"]) for row in rows(folder / "judgements.csv"))
    path_of = dict(zip(called, people, strict=True))
    documents: dict[str, dict[str, Any]] = {path: {"requirements": [], "preferences": []} for path in listed}
    for kind, file in (("requirements", "judgements.csv"), ("preferences", "preferences.csv")):
        for row in rows(folder / file):
            path = path_of[row["developer_agent"], row["instance"]]
            for judge, column in (("human_as_a_judge", "human"), ("agent_as_a_judge/gray_box", "agent_judge")):
                document = documents[path.replace("human_as_a_judge", judge)]
                document["name"] = row["instance"]
                document[kind].append(_judged(row, row[f"{column}_satisfied"]))
    inputs = {path: json.dumps(document).encode() for path, document in documents.items()}
    assert judgements(inputs) == (folder / "judgements.csv").read_bytes()
    assert preferences(inputs) == (folder / "preferences.csv").read_bytes()


def _judged(row: dict[str, str], satisfied: str) -> dict[str, Any]:
    numbers = {name: int(row[name]) for name in ("requirement_id", "preference_id") if name in row}
    said = {"satisfied": {"True": True, "False": False, "": None}[satisfied], "criteria": "It is there."}
    if "category" not in row:
        return numbers | said
    prerequisites = [int(one) for one in row["prerequisites"].split()]
    return numbers | said | {"category": row["category"] or None, "prerequisites": prerequisites}


def test_a_text_that_is_left_out_is_null_and_an_empty_one_is_empty() -> None:
    made = diffs_as_lines(
        {"out/pass/b-diff.txt": LEFT_OUT, "out/fail/a-diff.txt": b"", "out/fail/c-diff.txt": b"left out"}
    )
    assert [json.loads(line) for line in made.splitlines()] == [
        {"instance_id": "a", "outcome": "fail", "diff": ""},
        {"instance_id": "b", "outcome": "pass", "diff": None},
        {"instance_id": "c", "outcome": "fail", "diff": "left out"},
    ]
