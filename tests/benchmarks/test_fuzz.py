"""Mutated recordings through everything: a slice of `benchmarks.fuzz`, and that it finds what it looks for."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.fuzz import cases
from benchmarks.fuzz.__main__ import fuzz, main
from misstep_harness.readers import READERS

CASES = 280
SEED = 1_000_003


def test_nothing_but_the_projects_own_errors_comes_of_mutated_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    failed, read = fuzz(SEED, range(CASES))
    assert failed == 0, capsys.readouterr().out
    assert read > CASES // 2, "most cases are still read as something"


def test_every_form_is_mutated_and_a_case_follows_from_seed_and_number() -> None:
    made = [cases.case_of(SEED, number) for number in range(2 * len(cases.FORMS))]
    assert {form for form, _ in made} == {*READERS, "items", "parquet"}
    assert made == [cases.case_of(SEED, number) for number in range(2 * len(cases.FORMS))]
    assert made != [cases.case_of(SEED + 1, number) for number in range(2 * len(cases.FORMS))]
    for form in cases.FORMS:
        assert any(data != cases.sample_of(form) for one, data in made if one == form)


def test_what_fails_or_takes_too_long_is_printed_with_the_command_that_makes_it_again(capsys, monkeypatch) -> None:
    def broken(_: object) -> None:
        raise ValueError("no page 7")

    def endless(_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(cases, "SECONDS", 0.05)
    for fault, said in ((broken, "ValueError in broken"), (endless, "TooSlow in ")):
        monkeypatch.setattr(cases, "_work_through", fault)
        assert main(["--n", "14", "--seed", "5"]) == 1
        out = capsys.readouterr().out
        assert "python -m benchmarks fuzz --seed 5 --only " in out
        assert said in out


def test_a_benchmark_is_run_with_its_options_by_the_line_that_the_documents_give() -> None:
    line = [sys.executable, "-m", "benchmarks", "fuzz", "--n", "3", "--seed", "7"]
    done = subprocess.run(line, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert "3 mutated inputs, seed 7" in done.stdout
