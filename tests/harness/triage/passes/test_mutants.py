"""Mutants: wrong variants of a result, and tests that do not tell them from it."""

import ast
from pathlib import Path

import pytest

from misstep_harness.triage.passes import attribute_pass
from misstep_harness.triage.passes.comparison import mutants, try_mutants
from misstep_harness.triage.passes.record import parsed
from misstep_harness.workspace import Sandbox
from tests.harness.triage.passes.made_up_passes import passed

PROGRAM = """def total(values):
    result = 0
    for value in values:
        if value > 3:
            result = result + 1
        result = result + value
    return result
"""
WEAK = "from price import total\n\nassert total([1, 2]) is not ...\n"
COMMAND = {"case.toml": 'id = "one"\ntest_command = "PYTHONPATH=. python tests/check.py"\n', "tests/check.py": WEAK}


def test_each_mutant_is_a_program_in_which_one_thing_differs() -> None:
    results = list(mutants("price.py", PROGRAM))
    plain = ast.unparse(ast.parse(PROGRAM))
    assert {one.change for one in results} == {
        "another comparison", "another operation", "a number one higher", "nothing returned", "a statement left out",
    }  # fmt: skip
    for one in results:
        ast.parse(one.text)
        assert one.text != plain
    assert len({one.text for one in results}) == len(results)


def test_a_shell_script_has_mutants_too() -> None:
    (one,) = mutants("check.sh", 'if [ "$1" -gt 3 ]; then echo big; fi\n')
    assert (one.line, "-ge" in one.text) == (1, True)


def test_what_cannot_be_read_has_no_mutant() -> None:
    assert not list(mutants("price.py", "def total(:"))


def test_tests_that_check_their_results_let_no_mutant_pass(tmp_path: Path, sandbox: Sandbox) -> None:
    tried = try_mutants(passed(tmp_path, sandbox), "workspace")
    assert tried.wrong
    assert not tried.passed


def test_weak_tests_alone_make_a_pass_unearned(tmp_path: Path, sandbox: Sandbox) -> None:
    run = passed(tmp_path, sandbox, {**COMMAND, "workspace/price.py": PROGRAM})
    (tmp_path / "solution" / "price.py").unlink()
    (tmp_path / "solution").rmdir()
    result = attribute_pass(run)
    assert (result.label, result.subcategory, result.score) == ("task", "weak_tests", 0.5)
    assert result.evidence[0].kind == "assertion"


def test_a_result_like_gold_stays_earned_under_weak_tests(tmp_path: Path, sandbox: Sandbox) -> None:
    result = attribute_pass(
        passed(tmp_path, sandbox, {**COMMAND, "solution/price.py": PROGRAM, "workspace/price.py": PROGRAM + "\n"})
    )
    assert (result.label, result.score) == ("pass", 0.85)
    assert any(one.kind == "assertion" for one in result.evidence)


@pytest.mark.parametrize("text", ["x = 1" + " + 1" * 20_000, "x = " + "-" * 50_000 + "1", "x = " + "(" * 5_000])
def test_code_that_is_nested_too_deeply_has_no_mutants_and_no_nodes(text: str) -> None:
    assert list(mutants("a.py", text)) == []
    assert isinstance(parsed(text), list)
