"""Public data sets that say who solved which task, and nothing that a judge could be asked about.

`devin`: a random quarter of SWE-bench, 570 tasks. An empty diff (0 bytes) is a failure like any other.

    instance_id,outcome,diff_bytes                               # outcomes.csv
    some__project-123,fail,841

`debugbench`: how often two models repaired programs with faults of known kinds, and what became of either model's
repair of 200 Python cases. The results hold more cases than the benchmark, which was cleaned later.

    model,mode,language,file_bug_type,n,passed                   # model_results.csv
    gpt-4,debug,python3,double,250,140
    {"id": "c1", "repairs": [{"model": "gpt-4", "passed": true}]}    # python3_cases.jsonl.gz

`humaneval_codegen16b_samples`: 100 samples a task, each run once; in letters one a sample in order (P passed, A an
assertion failed, E another error, S no syntax, T over the time limit). Who made the set here ran them.

    task_id,n,c,n_unique,n_assertion,n_other_error,n_syntax_error,n_timeout      # counts.csv
    HumanEval/3,5,2,4,1,1,1,0
    task_id,outcomes                                             # outcomes.csv
    HumanEval/3,PASPE

`humanevalfix`: whether a broken program passes its tests, the correct one does, and the docstring's examples tell.
Outcomes are `pass`, `timeout` (10 s) or the name of an exception; who made the set here ran the programs.

    {"id": "Python/7", "canonical_outcome": "pass", "buggy_outcome": "AssertionError", "buggy_example_outcome": "pass"}

`quixbugs`: how many tests of a program its broken and its correct version pass, a row a test that ran.

    program,test,buggy_outcome,correct_outcome                   # test_outcomes.csv
    gcd,test3,failed,passed

`swe_bench_pro`: runs are incomplete, and a task without a row was not attempted. The tables `eval_results/` hold the
same results under other names, one of them a wrong one, and are not read.

    agent_run_id,metadata.instance_id,metadata.model_name,metadata.resolved,metadata.turns,created_at    # runs.csv.gz
    some-uuid,instance_some__project-0a1b,Some Model - paper,false,40,"Oct 1, 2025, 10:00 AM UTC"

`swe_bench_resolved_submissions`: SWE-bench Verified, GSO and Terminal-Bench, where 0 is unsolved, not run and crashed
alike, and the trials of Terminal-Bench, which lack one of the 89 tasks. Its two tables name systems differently and
cannot be joined.

    {"subject_id": "20250101_some-agent_some-model", "responses": {"some__project-1": 1, "some__project-2": 0}}
    {"subject_id": "some-agent_some-model_at_some-maker", "responses": {"some-task": {"successes": 2, "trials": 5}}}
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from misstep_harness.datasets.upstream import csv_rows, json_lines
from misstep_harness.errors import InputError
from misstep_harness.items import Attempts


class _Outcomes(Struct, frozen=True):
    NAME: str
    outcomes: Callable[[Path], Iterator[Attempts]]


class _Diff(Struct, frozen=True):
    instance_id: str
    outcome: Literal["pass", "fail"]
    diff_bytes: int


def _devin(folder: Path) -> Iterator[Attempts]:
    """Every task in the table `all`, and once more in the table `with_diff` where something was produced."""
    for diff in csv_rows(folder / "outcomes.csv", _Diff):
        for table in ("all", "with_diff") if diff.diff_bytes else ("all",):
            yield Attempts(table, "devin", diff.instance_id, 1, int(diff.outcome == "pass"))


class _Results(Struct, frozen=True):
    model: str
    mode: str
    language: str
    file_bug_type: str
    n: int
    passed: int


class _Repair(Struct, frozen=True):
    model: str
    passed: bool


class _Repaired(Struct, frozen=True):
    id: str
    repairs: tuple[_Repair, ...]


def _debugbench(folder: Path) -> Iterator[Attempts]:
    """Each kind of fault as a task tried once a case (`results`), and each of 200 cases (`python3_cases`)."""
    path = folder / "model_results.csv"
    for row in csv_rows(path, _Results):
        if row.passed > row.n:
            raise InputError(f"{row.passed} of {row.n} repairs passed", file=path, field=row.file_bug_type)
        system = f"{row.model}, {row.mode.replace('_', ' ')}, {row.language}"
        yield Attempts("results", system, row.file_bug_type, row.n, row.passed)
    for case in json_lines(folder / "python3_cases.jsonl.gz", _Repaired):
        for repair in case.repairs:
            yield Attempts("python3_cases", repair.model, case.id, 1, int(repair.passed))


class _Counts(Struct, frozen=True):
    task_id: str
    n: int
    c: int


class _Letters(Struct, frozen=True):
    task_id: str
    outcomes: str


def _humaneval(folder: Path) -> Iterator[Attempts]:
    """Every task with its samples and how many passed, in the table `samples`."""
    path = folder / "outcomes.csv"
    letters = {row.task_id: row.outcomes for row in csv_rows(path, _Letters)}
    for row in csv_rows(folder / "counts.csv", _Counts):
        samples = letters.get(row.task_id, "")
        if (len(samples), samples.count("P")) != (row.n, row.c):
            message = f"{samples.count('P')} of {len(samples)} passed here and {row.c} of {row.n} in counts.csv"
            raise InputError(message, file=path, field=row.task_id)
        yield Attempts("samples", "CodeGen-Mono-16B, temperature 0.8", row.task_id, row.n, row.c)


class _Fixed(Struct, frozen=True):
    id: str
    canonical_outcome: str
    buggy_outcome: str
    buggy_example_outcome: str


def _humanevalfix(folder: Path) -> Iterator[Attempts]:
    for case in json_lines(folder / "cases.jsonl.gz", _Fixed):
        for system, outcome in (
            ("correct programs", case.canonical_outcome),
            ("broken programs", case.buggy_outcome),
            ("broken programs, examples of the docstring alone", case.buggy_example_outcome),
        ):
            yield Attempts("programs", system, case.id, 1, int(outcome == "pass"))


class _Test(Struct, frozen=True):
    program: str
    buggy_outcome: Literal["passed", "failed"]
    correct_outcome: Literal["passed", "failed"]


def _quixbugs(folder: Path) -> Iterator[Attempts]:
    tests = list(csv_rows(folder / "test_outcomes.csv", _Test))
    tried = Counter(test.program for test in tests)
    broken = Counter(test.program for test in tests if test.buggy_outcome == "passed")
    correct = Counter(test.program for test in tests if test.correct_outcome == "passed")
    for system, passed in (("broken programs", broken), ("correct programs", correct)):
        for program, count in tried.items():
            yield Attempts("tests", system, program, count, passed[program])


class _ProRun(Struct, frozen=True):
    instance_id: str = field(name="metadata.instance_id")
    model_name: str = field(name="metadata.model_name")
    resolved: bool = field(name="metadata.resolved")


def _swe_bench_pro(folder: Path) -> Iterator[Attempts]:
    path = folder / "runs.csv.gz"
    seen: set[tuple[str, str]] = set()
    for run in csv_rows(path, _ProRun):
        if (run.model_name, run.instance_id) in seen:
            raise InputError(f"{run.model_name} has a second result", file=path, field=run.instance_id)
        seen.add((run.model_name, run.instance_id))
        yield Attempts("runs", run.model_name, run.instance_id, 1, int(run.resolved))


class _Submission(Struct, frozen=True):
    subject_id: str
    responses: dict[str, Literal[0, 1]]


class _Cell(Struct, frozen=True):
    successes: int
    trials: int


class _Trials(Struct, frozen=True):
    subject_id: str
    responses: dict[str, _Cell]


_SINGLE = {"verified": "swebench_verified", "gso": "gso", "terminal_bench": "terminalbench"}


def _submissions(folder: Path) -> Iterator[Attempts]:
    for table, file in _SINGLE.items():
        for submission in json_lines(folder / f"{file}_responses.jsonl.gz", _Submission):
            for task, solved in submission.responses.items():
                yield Attempts(table, submission.subject_id, task, 1, solved)
    path = folder / "terminalbench_trials.jsonl.gz"
    for system in json_lines(path, _Trials):
        for task, cell in system.responses.items():
            if not 0 <= cell.successes <= cell.trials:
                message = f"{system.subject_id} solved it {cell.successes} times in {cell.trials} trials"
                raise InputError(message, file=path, field=task)
            yield Attempts("terminal_bench_trials", system.subject_id, task, cell.trials, cell.successes)


DEBUGBENCH = _Outcomes("debugbench", _debugbench)
DEVIN = _Outcomes("devin", _devin)
HUMANEVAL = _Outcomes("humaneval_codegen16b_samples", _humaneval)
HUMANEVALFIX = _Outcomes("humanevalfix", _humanevalfix)
QUIXBUGS = _Outcomes("quixbugs", _quixbugs)
SWE_BENCH_PRO = _Outcomes("swe_bench_pro", _swe_bench_pro)
SUBMISSIONS = _Outcomes("swe_bench_resolved_submissions", _submissions)
