"""Sets of outcomes: who solved which task, as counts that give the figures their own pages state."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from misstep_analysis.stats.pass_at_k import pass_at_k, pass_hat_k
from misstep_harness.catalogue import data_sets
from misstep_harness.datasets import OUTCOMES, outcomes_of
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Attempts
from tests.harness.datasets.loaded import write

SUBMISSIONS = {
    "swebench_verified_responses.jsonl.gz": '{"subject_id": "a", "responses": {"t-1": 1, "t-2": 0}}\n',
    "gso_responses.jsonl.gz": '{"subject_id": "b", "responses": {"t-3": 0}}\n',
    "terminalbench_responses.jsonl.gz": '{"subject_id": "c", "responses": {"t-4": 1}}\n',
    "terminalbench_trials.jsonl.gz": '{"subject_id": "d", "responses": {"t-4": {"successes": 2, "trials": 5}}}\n',
}
RUNS = "metadata.instance_id,metadata.model_name,metadata.resolved,metadata.turns\n"
SAMPLES = {
    "counts.csv": "task_id,n,c,n_unique\nHumanEval/3,5,2,4\n",
    "outcomes.csv": "task_id,outcomes\nHumanEval/3,PASPE\n",
}

CONTRADICTING = SAMPLES | {"outcomes.csv": "task_id,outcomes\nHumanEval/3,PAPPE\n"}
SWE_BENCH = "swe_bench_resolved_submissions"
WRONG_COUNT = '{"subject_id": "b", "responses": {"t-3": 2}}\n'
TOO_MANY = '{"subject_id": "d", "responses": {"": {"successes": 6, "trials": 5}}}'
REPAIRS = "model,mode,language,file_bug_type,n,passed\n"


def solved(rows: list[Attempts], table: str) -> dict[str, tuple[int, int]]:
    """System → (tasks, solved) of a table of single attempts."""
    own = [row for row in rows if row.table == table]
    tasks = Counter(row.system for row in own)
    return {name: (n, sum(row.solved for row in own if row.system == name)) for name, n in tasks.items()}


def loaded(name: str, data_folder: Path) -> list[Attempts]:
    return list(outcomes_of(name, data_folder / name))


def mean(values: list[Fraction]) -> float:
    return float(sum(values) / len(values))


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_set_of_outcomes_is_in_the_catalogue(name: str) -> None:
    assert name in data_sets()


def test_a_set_without_outcomes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="devin"):
        outcomes_of("mast", tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("name", OUTCOMES)
def test_a_system_has_one_row_a_task_and_solves_it_no_more_often_than_it_tries(name: str, data_folder: Path) -> None:
    rows = loaded(name, data_folder)
    assert len({(row.table, row.system, row.task) for row in rows}) == len(rows) > 0
    assert all(0 <= row.solved <= row.tried and row.tried > 0 for row in rows)


@pytest.mark.data
def test_submissions_to_verified(data_folder: Path) -> None:
    rows = loaded("swe_bench_resolved_submissions", data_folder)
    verified = solved(rows, "verified")
    assert len(verified) == 134
    assert {tasks for tasks, _ in verified.values()} == {500}
    assert verified["20240402_sweagent_gpt4"] == (500, 112)
    assert verified["20231010_rag_claude2"] == (500, 22)
    assert sorted((count for _, count in verified.values()), reverse=True)[:3] == [396, 396, 394]
    at_all = {row.task for row in rows if row.table == "verified" and row.solved}
    assert len(at_all) == 468
    gso, terminal = solved(rows, "gso"), solved(rows, "terminal_bench")
    assert (len(gso), len(terminal)) == (15, 112)
    assert gso["claude-opus-4.6"] == (102, 34)


@pytest.mark.data
def test_trials_of_terminal_bench(data_folder: Path) -> None:
    rows = [row for row in loaded(SWE_BENCH, data_folder) if row.table == "terminal_bench_trials"]
    tried = Counter(row.tried for row in rows)
    assert {times: n for times, n in tried.items() if times >= 4} == {5: 7060, 4: 142, 6: 94}
    assert sum(row.tried < 4 for row in rows) == 8
    one = [row for row in rows if row.system == "factory_droid_gpt-5_2_at_openai"]
    assert len(one) == 88
    assert round(100 * sum(row.solved / row.tried for row in one) / 89, 2) == 63.82
    assert round(100 * sum(row.solved for row in one) / sum(row.tried for row in one), 2) == 64.69


@pytest.mark.data
def test_samples_of_human_eval(data_folder: Path) -> None:
    rows = loaded("humaneval_codegen16b_samples", data_folder)
    assert (len(rows), sum(row.tried for row in rows), sum(row.solved for row in rows)) == (164, 16400, 3626)
    at_k = ([pass_at_k(row.tried, row.solved, k) for row in rows] for k in (1, 2, 5, 10, 50, 100))
    assert [round(100 * mean(values), 2) for values in at_k] == [22.11, 30.79, 42.03, 50.38, 68.69, 73.78]


@pytest.mark.data
def test_trials_of_tau_bench(data_folder: Path) -> None:
    rows = loaded("taubench", data_folder)
    every, any_ = (
        [round(mean([chance(row.tried, row.solved, k) for row in rows]), 4) for k in (1, 2, 3, 4)]
        for chance in (pass_hat_k, pass_at_k)
    )
    assert every == [0.42, 0.2733, 0.22, 0.2]
    assert any_ == [0.42, 0.5667, 0.66, 0.72]


@pytest.mark.data
def test_runs_of_swe_bench_pro_and_devins(data_folder: Path) -> None:
    runs = solved(loaded("swe_bench_pro", data_folder), "runs")
    assert len(runs) == 14
    assert runs["Claude 4 Sonnet - 10132025"] == (562, 240)
    assert runs["Claude 4.5 Sonnet - 10132025"] == (730, 319)
    diffs = loaded("devin", data_folder)
    assert solved(diffs, "all")["devin"] == (570, 79)
    assert solved(diffs, "with_diff")["devin"] == (551, 79)


def test_each_table_of_submissions_has_its_name(tmp_path: Path) -> None:
    rows = list(outcomes_of("swe_bench_resolved_submissions", write(tmp_path, SUBMISSIONS)))
    assert [(row.table, row.system, row.task, row.tried, row.solved) for row in rows] == [
        ("verified", "a", "t-1", 1, 1),
        ("verified", "a", "t-2", 1, 0),
        ("gso", "b", "t-3", 1, 0),
        ("terminal_bench", "c", "t-4", 1, 1),
        ("terminal_bench_trials", "d", "t-4", 5, 2),
    ]


@pytest.mark.parametrize(
    ("name", "files", "words"),
    [
        (SWE_BENCH, SUBMISSIONS | {"gso_responses.jsonl.gz": WRONG_COUNT}, ("gso_responses.jsonl.gz:1",)),
        (SWE_BENCH, SUBMISSIONS | {"terminalbench_trials.jsonl.gz": TOO_MANY}, ("terminalbench_trials", "6 times")),
        ("humaneval_codegen16b_samples", CONTRADICTING, ("outcomes.csv", "3 of 5 passed here and 2 of 5")),
        ("humaneval_codegen16b_samples", SAMPLES | {"outcomes.csv": "task_id,outcomes\n"}, ("outcomes.csv", "0 of 0")),
        ("swe_bench_pro", {"runs.csv.gz": f"{RUNS}t-1,M,true,3\nt-1,M,false,3\n"}, ("t-1", "M has a second result")),
        ("taubench", {"rewards.csv": "task_id,trial,reward\n3,0,0.5\n"}, ("rewards.csv", "0.5")),
        ("debugbench", {"model_results.csv": f"{REPAIRS}a,debug,cpp,double,2,3\n"}, ("3 of 2 repairs passed",)),
    ],
)
def test_a_table_that_contradicts_itself_is_an_error_that_says_where(tmp_path, name, files, words) -> None:
    with pytest.raises(InputError) as raised:
        list(outcomes_of(name, write(tmp_path, files)))
    assert all(word in raised.value.line() for word in words)


@pytest.mark.data
def test_debugbench_gives_the_pass_counts_of_its_models(data_folder: Path) -> None:
    rows = loaded("debugbench", data_folder)
    for language, counts in {"cpp": (1084, 1454), "java": (1047, 1483), "python3": (993, 1468)}.items():
        own = [row for row in rows if row.table == "results" and row.system == f"gpt-4, debug, {language}"]
        assert (sum(row.solved for row in own), sum(row.tried for row in own)) == counts
    assert solved(rows, "python3_cases") == {"gpt-4": (200, 130), "gpt-35-turbo": (200, 96)}


@pytest.mark.data
def test_every_correct_program_of_humanevalfix_passes_and_no_broken_one(data_folder: Path) -> None:
    programs = solved(loaded("humanevalfix", data_folder), "programs")
    assert (programs["correct programs"], programs["broken programs"]) == ((82, 82), (82, 0))
    assert programs["broken programs, examples of the docstring alone"][1] > 0


@pytest.mark.data
def test_quixbugs_programs_pass_all_their_tests_when_correct_and_67_of_183_when_broken(data_folder: Path) -> None:
    rows = loaded("quixbugs", data_folder)
    passed = {name: sum(row.solved for row in rows if row.system == name) for name in {row.system for row in rows}}
    assert passed == {"correct programs": 183, "broken programs": 67}
    assert sum(row.solved < row.tried for row in rows if row.system == "broken programs") == 28
