"""Write the cases of public data sets of broken programs as folders, when they are needed."""

import gzip
import json
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError, UsageError
from misstep_harness.repair.case import BEFORE, CASE, CaseFolder, RepairCase, read_case, write_case
from misstep_harness.repair.scoring import open_case, oracle_report
from misstep_harness.workspace import Sandbox

_TEST_SECONDS = 1.0
"""Processor time of one test: where the machine is busy, a clock would call a right program too slow."""
_LIMITED = f"""
import signal

import pytest


def _too_long(number, frame):
    raise TimeoutError("the test took longer than {_TEST_SECONDS:g} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    signal.signal(signal.SIGVTALRM, _too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, {_TEST_SECONDS:g})
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
"""
_COMMAND = "env PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q --tb=short"
"""No test of the sets uses a plugin; those beside pytest would take most of the time of each run."""


class Program(Struct, frozen=True):
    """One broken program: its files, the oracle's files, and its patch."""

    id: str
    files: dict[str, str]
    oracle: tuple[str, ...]
    golden: str
    timeout_seconds: float


def quixbugs(folder: Path) -> Iterator[Program]:
    """Return the programs of QuixBugs' Python half, with what their pytest files import."""
    support = json.loads((folder / "support.json").read_bytes())
    for case in _lines(folder / "cases.jsonl.gz"):
        name = case["id"]
        files = {
            # One file has a carriage return in a remark, which the set's own patch does not know of.
            f"python_programs/{name}.py": case["buggy"].replace("\r\n", "\n"),
            f"python_testcases/test_{name}.py": case["pytest"],
            "python_testcases/load_testdata.py": support["load_testdata"],
            "python_testcases/node.py": support["testcases_node"],
            "conftest.py": support["conftest"] + _LIMITED,
        }
        if case["json_testcases"]:
            files[f"json_testcases/{name}.json"] = case["json_testcases"]
        if case["kind"] == "graph":
            files["python_programs/node.py"] = support["programs_node"]
        # Every test may loop for ever, and each then takes its limit.
        seconds = 10 + 5 * case["n_cases"]
        yield Program(name, files, (f"python_testcases/test_{name}.py",), case["gold_diff"], seconds)


def humanevalfix(folder: Path) -> Iterator[Program]:
    """Return the tasks of HumanEvalFix in Python: a function and its check as one test."""
    for case in _lines(folder / "cases.jsonl.gz"):
        before, after = (case["declaration"] + case[key] for key in ("buggy", "correct"))
        lines = case["test"].rstrip().splitlines()
        if not lines[-1].startswith("check("):
            raise InputError(f"the check of {case['id']} is not called at its end", file=folder)
        test = "\n".join(["from program import *\n", *lines[:-1], "", f"def test_check():\n    {lines[-1]}\n"])
        files = {"program.py": before, "test_program.py": test, "conftest.py": _LIMITED.lstrip()}
        diff = unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), "a/program.py", "b/program.py"
        )
        yield Program(case["id"].replace("/", "-"), files, ("test_program.py",), "".join(diff), 30.0)


SETS: dict[str, Callable[[Path], Iterator[Program]]] = {"quixbugs": quixbugs, "humanevalfix": humanevalfix}


def drawn(name: str, folder: Path, n: int | None, seed: int) -> set[str] | None:
    """Return the ids of `n` cases of a set by chance; `None`, for all of them, without a number."""
    ids = [program.id for program in SETS[name](folder)] if n is not None else []
    return None if n is None else set(Random(seed).sample(ids, min(n, len(ids))))  # noqa: S311 -- no secret


@contextmanager
def threads(workers: int) -> Iterator[ThreadPoolExecutor]:
    """Give a pool of threads; if one of them fails, what still waits is not begun."""
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def write_cases(
    name: str, folder: Path, to: Path, sandbox: Sandbox, only: Collection[str] | None = None, workers: int = 1
) -> list[CaseFolder]:
    """Return the cases of a data set as folders below `to`; those that are there already are taken as they are."""
    if name not in SETS:
        raise UsageError(f"no data set {name!r} of broken programs", f"Known: {', '.join(SETS)}.")
    programs = [program for program in SETS[name](folder) if only is None or program.id in only]

    def case_folder(program: Program) -> CaseFolder:
        if not (to / program.id / CASE).is_file():
            _write(program, name, to / program.id, sandbox)
        return read_case(to / program.id)

    with threads(workers) as pool:
        return list(pool.map(case_folder, programs))


def _write(program: Program, name: str, folder: Path, sandbox: Sandbox) -> None:
    for path, text in program.files.items():
        file = folder / BEFORE / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    extra = {"dataset": name}
    case = RepairCase(program.id, "python", "", _COMMAND, program.oracle, program.timeout_seconds, extra=extra)
    with open_case(CaseFolder(case, folder), sandbox) as workspace:
        failure = oracle_report(workspace, case).feedback()
    write_case(msgspec.structs.replace(case, task=f"Tests fail:\n{failure}"), folder, program.golden)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as opened:
            yield from (json.loads(line) for line in opened)
    except (OSError, ValueError) as error:
        raise InputError("is not gzipped JSON lines", file=file) from error
