"""Derived files: what is made of upstream files is, byte for byte, what the registry has a hash of.

Where the derived files hold upstream's texts these are taken out of them again, and checked against the hashes of the
inputs; what is made of them has the registered hash. Where they hold counts alone, files of upstream's shape are made
up for them, or the rows that can be made of what is available are compared.
"""

import csv
import gzip
import io
import json
from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.catalogue import data_sets, files_of, inputs_of, made_by_hand
from misstep_harness.datasets.derived import DERIVATIONS, LEFT_OUT
from misstep_harness.datasets.upstream import file_bytes

BY_HAND = {"condefects", "debugbench", "gemmaforge", "humaneval_codegen16b_samples", "humanevalfix"}


def test_all_sets_but_seven_can_be_fetched_whole() -> None:
    assert {name for name in data_sets() if made_by_hand(name)} == BY_HAND | {"quixbugs", "utboost"}
    assert len(data_sets()) == 27


def registered(name: str, file: str) -> str:
    return next(one.sha256 for one in files_of(name) if one.file == file)


def hash_of(name: str, file: str, inputs: dict[str, bytes]) -> str:
    return sha256(DERIVATIONS[name][file](inputs)).hexdigest()


def lines_of(name: str, file: str, inputs: dict[str, bytes]) -> list[str]:
    return DERIVATIONS[name][file](inputs).decode().splitlines()


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file_bytes(path).decode(), newline="")))


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file_bytes(path).splitlines()]


def page(resolved: Iterable[tuple[str, Iterable[str]]]) -> bytes:
    return "".join(
        f"### {agent} / Other Instances\nResolved instances:\n```\n{chr(10).join(names)}\n```\n"
        for agent, names in resolved
    ).encode()


def label_files(labels: dict[Any, list[str]], header: str) -> list[bytes]:
    return ["".join(f"{line}\r\n" for line in (header, *lines)).encode() for lines in labels.values()]


@pytest.fixture(scope="module")
def upstream(data_folder: Path) -> dict[str, bytes]:
    """Upstream files that are available, whole or in a derived file, by their hash."""
    aider, repair, study = (data_folder / name for name in ("aider_swe_bench_lite", "repairagent", "llm_agents_study"))
    texts = [json.dumps(record, indent=4).encode() for record in records(aider / "records.jsonl.gz")]
    texts += [record["chat_markdown"].encode() for record in records(aider / "chats.jsonl.gz")]
    texts += [(one["diff"] or "").encode() for one in records(data_folder / "devin" / "diffs.jsonl.gz")]
    texts += [record["text"].encode() for record in records(repair / "root_patches.jsonl.gz")]
    for run in records(repair / "trajectories.jsonl.gz"):
        texts += [run[kind].encode() for kind in ("thoughts_actions", "results_actions")]
    for path in study.glob("thoughts_actions_*.jsonl.gz"):
        texts += [record["text"].encode() for record in records(path)]
    labelled, categories, related = (defaultdict(list) for _ in range(3))
    for row in rows(repair / "action_categories.csv"):
        labelled[row["bug"]].append(f"{row['iteration']},{row['category']}")
    for row in rows(study / "action_categories.csv"):
        categories[row["agent"], row["instance"]].append(f"{row['iteration']},{row['category']}")
    for row in rows(study / "relation_labels.csv"):
        related[row["agent"], row["relation"], row["instance"]].append(row["label"])
    texts += label_files(labelled | categories, "iteration,category") + label_files(related, "label")
    texts.append((repair / "final_list_of_fixed_bugs.txt").read_bytes())
    packed = [data_folder / "taubench" / "gpt-4o-airline.json.gz", *(data_folder / "intercode" / "results").iterdir()]
    texts += [gzip.decompress(path.read_bytes()) for path in packed]
    texts += [path.read_bytes() for path in (data_folder / "codetracer_runs" / "trajectories").iterdir()]
    return {sha256(text).hexdigest(): text for text in texts}


def at_hand(name: str, file: str, upstream: dict[str, bytes]) -> dict[str, bytes]:
    return {
        known.upstream_path: LEFT_OUT if known.left_out else upstream[known.sha256]
        for known in inputs_of(name)
        if known.file == file and (known.left_out or known.sha256 in upstream)
    }


WHOLE = [
    *(("llm_agents_study", file) for file in DERIVATIONS["llm_agents_study"]),
    *(("aider_swe_bench_lite", file) for file in DERIVATIONS["aider_swe_bench_lite"]),
    *(("repairagent", file) for file in ("action_categories.csv", "root_patches.jsonl.gz", "trajectories.jsonl.gz")),
    ("devin", "diffs.jsonl.gz"),
    ("taubench", "rewards.csv"),
    ("transcript_formats", "openai_chat/airline_chats.jsonl"),
]


@pytest.mark.data
@pytest.mark.parametrize(("name", "file"), WHOLE)
def test_a_file_that_is_made_of_its_inputs_has_the_registered_hash(name, file, upstream, data_folder) -> None:
    inputs = at_hand(name, file, upstream)
    if file == "trajectories.jsonl.gz":
        runs = records(data_folder / name / file)
        inputs["README.md"] = page([("RepairAgent", (run["bug"] for run in runs if run["resolved"]))])
    elif file in ("action_categories.csv", "relation_labels.csv") and name == "llm_agents_study":
        solved: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for row in rows(data_folder / name / file):
            if row["resolved"] == "resolved":
                solved[row["agent"]][row["instance"]] = None
        inputs["README.md"] = page(solved.items())
    assert len(inputs) == sum(known.file == file for known in inputs_of(name)), "each of them is available"
    assert hash_of(name, file, inputs) == registered(name, file)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "count"),
    [("devin", "outcomes.csv", 528), ("intercode", "summary.csv", 36), ("repairagent", "root_patch_counts.csv", 60)],
)
def test_the_rows_that_can_be_made_of_what_is_at_hand_are_those_of_the_file(name, file, count, upstream, data_folder):
    made = lines_of(name, file, at_hand(name, file, upstream))
    assert len(made) >= count
    assert set(made) <= set((data_folder / name / file).read_text().splitlines())


@pytest.mark.data
@pytest.mark.parametrize("file", sorted(DERIVATIONS["judge_bench_raters"]))
def test_ratings_are_written_as_registered(file: str, data_folder: Path) -> None:
    """The documents are not available: this holds for the shape; their hash is checked when they are fetched."""
    items: dict[int, dict[str, Any]] = {}
    for row in rows(data_folder / "judge_bench_raters" / file):
        values = [value for column, value in row.items() if column.startswith("r") and value]
        single = [json.loads(value) if value.isdecimal() else value for value in values]
        graded = row["aggregate"].replace(".", "").isdecimal()
        aggregate = {"mean_human": json.loads(row["aggregate"])} if graded else {"majority_human": row["aggregate"]}
        item = items.setdefault(int(row["item_id"]), {"id": int(row["item_id"]), "annotations": {}})
        item["annotations"][row["metric"]] = aggregate | {"individual_human_scores": single}
    document = json.dumps({"dataset": "any", "instances": list(items.values())}).encode()
    assert hash_of("judge_bench_raters", file, {"a.json": document}) == registered("judge_bench_raters", file)


@pytest.mark.data
def test_marks_are_written_as_registered(data_folder: Path) -> None:
    """As for ratings: for the shape alone."""
    traces: dict[str, dict[str, Any]] = {}
    for row in rows(data_folder / "mast" / "human_labels.csv"):
        about = {key: row[key] for key in ("round", "mas_name", "benchmark_name")}
        trace = traces.setdefault(row["trace_id"], about | {"trace_id": int(row["trace_id"]), "annotations": []})
        marks = {rater: {"0": False, "1": True, "": float("nan")}[row[rater]] for rater in row if "annotator" in rater}
        trace["annotations"].append({"failure mode": f"{row['mode_code']} {row['mode_name']}\nIts meaning."} | marks)
    document = json.dumps(list(traces.values())).encode()
    assert hash_of("mast", "human_labels.csv", {"a.json": document}) == registered("mast", "human_labels.csv")


@pytest.mark.data
def test_trials_are_counted_as_in_the_file(upstream: dict[str, bytes], data_folder: Path) -> None:
    """Rewards, times and test counts are put into files of upstream's shape; the trajectories are its own."""
    file = data_folder / "codetracer_runs" / "outcomes.csv"
    inputs = at_hand("codetracer_runs", file.name, upstream)
    folders = {Path(path).parent.parent.name: Path(path).parent.parent for path in inputs}
    for row in rows(file):
        folder = folders[row["trial"]]
        times = {name: row[name] for name in ("started_at", "finished_at")}
        inputs[f"{folder}/result.json"] = json.dumps(times | {"exception_info": None}).encode()
        inputs[f"{folder}/verifier/reward.txt"] = row["reward"].encode() + b"\n"
        if row["tests"]:
            counts = {"tests": row["tests"], "passed": row["tests_passed"], "failed": row["tests_failed"]}
            summary = {name: int(value) for name, value in counts.items()}
            inputs[f"{folder}/verifier/ctrf.json"] = json.dumps({"results": {"summary": summary}}).encode()
    assert hash_of("codetracer_runs", file.name, inputs) == registered("codetracer_runs", file.name)


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
    for file in ("judgements.csv", "preferences.csv"):
        assert hash_of("agent_as_a_judge", file, inputs) == registered("agent_as_a_judge", file)


def _judged(row: dict[str, str], satisfied: str) -> dict[str, Any]:
    numbers = {name: int(row[name]) for name in ("requirement_id", "preference_id") if name in row}
    verdict = {"satisfied": {"True": True, "False": False, "": None}[satisfied], "criteria": "It is there."}
    if "category" not in row:
        return numbers | verdict
    prerequisites = [int(one) for one in row["prerequisites"].split()]
    return numbers | verdict | {"category": row["category"] or None, "prerequisites": prerequisites}


@pytest.mark.data
def test_rows_are_cut_out_of_a_table_that_has_others_between_them(data_folder: Path) -> None:
    name, file = "agentless_classes", "classifications.csv.gz"
    header, *known = file_bytes(data_folder / name / file).split(b"\r\n")[:-1]
    other = b'made__up-%d,"a text\nof two lines","x ""y""",,none,none,,,'
    whole = [header, *(one for number, row in enumerate(known) for one in (other % number, row))]
    assert hash_of(name, file, {"any.csv": b"".join(row + b"\r\n" for row in whole)}) == registered(name, file)


@pytest.mark.data
@pytest.mark.parametrize("file", DERIVATIONS["utboost"])
def test_keys_are_cut_out_of_an_object_however_it_is_laid_out(data_folder: Path, file: str) -> None:
    whole: dict[str, Any] = {"made__up-1": {}}
    for number, (key, value) in enumerate(json.loads(file_bytes(data_folder / "utboost" / file)).items()):
        whole |= {key: value, f"another__one-{number}": value}
    document = json.dumps(whole, indent=4).encode()
    assert hash_of("utboost", file, {"any.json": document}) == registered("utboost", file)


@pytest.mark.data
def test_the_runs_at_hand_have_the_rows_of_the_registered_table(data_folder: Path) -> None:
    folder = data_folder / "mini_swe_agent_runs"
    paths = {one.upstream_path.rpartition("/")[2]: one.upstream_path for one in inputs_of(folder.name)}
    instances = [row["instance_id"] for row in rows(folder / "runs.csv")]
    assert list(paths) == ["results_summary.csv", *(f"{instance}.traj.json" for instance in instances)]
    inputs = {paths[file.name.removesuffix(".gz")]: file_bytes(file) for file in (folder / "trajectories").iterdir()}
    inputs[paths["results_summary.csv"]] = (folder / "results_summary.csv").read_bytes()
    made = lines_of(folder.name, "runs.csv", inputs)
    assert len(made) == 17
    assert set(made) <= set((folder / "runs.csv").read_text().splitlines())


SCORES = {
    "Fluency": {"mean_human": 2.5, "majority_human": 3, "individual_human_scores": [2, None, 3]},
    "X": {"majority_human": "no", "individual_human_scores": ["no"]},
}
RATED = {
    "instances": [{"id": number, "annotations": {name: SCORES[name]}} for number, name in ((4, "Fluency"), (5, "X"))]
}
MODE = {"failure mode": "1.3 Step repetition\nAgain.", "annotator_1": True, "annotator_2": float("nan")}
TRACE = {"trace_id": 3, "round": "Round 1", "mas_name": "S", "benchmark_name": "B", "annotations": [MODE]}
MESSAGES = [{"role": "user"}, {"role": "assistant", "tool_calls": [{}, {}]}, {"role": "assistant"}]
RUN = {"task_id": 2, "trial": 1, "reward": 1.0, "traj": MESSAGES, "info": {"user_cost": None}}
LABELS = {
    "openhands_csv/action_action/repo-1.csv": b"label\r\nRepetition\r\nFollow-up\r\n",
    "repairagent_csv/action_action/experiment_3_Lang_1.csv": b"label\r\nDivergence\r\n",
    "README.md": page([("OpenHands", ["repo-1"])]),
}
JOINED = [
    "OpenHands,repo-1,resolved,action_action,0,Repetition",
    "OpenHands,repo-1,resolved,action_action,1,Follow-up",
    "RepairAgent,Lang_1,unresolved,action_action,0,Divergence",
]
TEXTS = {"b/Two.txt": b"zwei\n", "b/One": "größer".encode()}
DIFFS = {"out/pass/b-diff.txt": LEFT_OUT, "out/fail/a-diff.txt": b"", "out/fail/c-diff.txt": b"left out"}
DIFF_LINES = [
    '{"instance_id": "b", "outcome": "pass", "diff": null}',
    '{"instance_id": "c", "outcome": "fail", "diff": "left out"}',
]


@pytest.mark.parametrize(
    ("file", "inputs", "lines"),
    [
        ("llm_agents_study/relation_labels.csv", LABELS, JOINED),
        ("llm_agents_study/thoughts_actions_openhands.jsonl.gz", TEXTS, ['{"instance": "Two", "text": "zwei\\n"}']),
        ("judge_bench_raters/newsroom.csv", {"a.json": RATED}, ["4,Fluency,2.5,2,,3", "5,X,no,no,,"]),
        ("mast/human_labels.csv", {"a.json": [TRACE]}, ["3,Round 1,S,B,1.3,Step repetition,1,,"]),
        ("taubench/rewards.csv", {"runs/some-model-retail.json": [RUN]}, ["retail,some-model,2,1,1,3,2,2,"]),
        ("devin/diffs.jsonl.gz", DIFFS, DIFF_LINES),
    ],
)
def test_lines_are_made_by_the_rule_of_their_file(file: str, inputs: dict[str, Any], lines: list[str]) -> None:
    """Files are joined and named without folder and ending; fewer ratings and missing marks are empty cells."""
    packed = {path: one if isinstance(one, bytes) else json.dumps(one).encode() for path, one in inputs.items()}
    assert lines_of(*file.split("/"), packed)[1:] == lines


@pytest.mark.parametrize("document", [b"[1]", b"{}", b"[{}]", b"no JSON"])
def test_an_upstream_file_of_another_shape_raises_what_a_fetch_expects(document: bytes) -> None:
    for name, file in (
        ("mast", "human_labels.csv"),
        ("taubench", "rewards.csv"),
        ("judge_bench_raters", "newsroom.csv"),
    ):
        if document != b"{}" or name == "judge_bench_raters":
            with pytest.raises((ValueError, LookupError, TypeError)):
                DERIVATIONS[name][file]({"a-b.json": document})
