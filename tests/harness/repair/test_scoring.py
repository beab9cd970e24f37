"""A case is laid out alike each time, and tests beside the oracle's say what a patch does that passes."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from misstep_harness.repair.scoring import affirm, open_case, score
from misstep_harness.workspace import Sandbox
from misstep_harness.workspace.suite.report import FailedTest, SuiteReport
from tests.harness.repair.cases import GOLDEN, price_case


def test_hashes_are_the_same_in_every_run_of_a_case(tmp_path: Path, sandbox: Sandbox) -> None:
    with open_case(price_case(tmp_path / "price"), sandbox) as workspace:
        results = [workspace.run(["python", "-c", "print(hash('a'))"]) for _ in range(2)]
    assert results[0].output == results[1].output
    assert results[0].exit_code == 0


RIGHT = "def total(prices):\n    return sum(prices)\n"
BY_ACCIDENT = "def total(prices):\n    return 3\n"
HELD_OUT = (
    "import sys\nsys.path.insert(0, '.')\nfrom price import total\n\n\ndef test_other():\n    assert total([4]) == 4\n"
)


@pytest.mark.parametrize(("text", "held_out"), [(RIGHT, True), (BY_ACCIDENT, False)])
def test_tests_that_no_agent_sees_tell_a_patch_that_passes_by_accident(text, held_out, tmp_path, sandbox) -> None:
    case = price_case(tmp_path / "price")
    (case.folder / "held_out/tests").mkdir(parents=True)
    (case.folder / "held_out/tests/test_more.py").write_text(HELD_OUT)
    report, signals = score(case, {"price.py": text.encode()}, "", sandbox)
    assert report.passed
    assert {one.validator: one.passed for one in signals}["held_out"] is held_out


def test_a_suite_that_is_the_oracle_alone_is_no_second_opinion(tmp_path: Path, sandbox: Sandbox) -> None:
    case = price_case(tmp_path / "price", oracle=("tests/test_price.py",))
    (case.before / "tests/test_label.py").unlink()
    _, signals = score(case, {"price.py": RIGHT.encode()}, "", sandbox)
    assert {one.validator: one.passed for one in signals}["suite"] is None


def test_a_case_holds_that_fails_and_that_its_golden_patch_mends_if_it_has_one(tmp_path, sandbox) -> None:
    case = price_case(tmp_path / "price")
    outcome = affirm(case, sandbox, runs=2)
    assert (outcome.holds, outcome.reason) == (True, "")
    (case.folder / "golden.patch").unlink()
    assert affirm(case, sandbox, runs=1).holds


def test_a_case_that_does_not_hold_says_why(tmp_path: Path, sandbox: Sandbox) -> None:
    passing = price_case(tmp_path / "a", oracle=("tests/test_label.py",))
    assert "passes on the broken tree" in affirm(passing, sandbox).reason
    useless = price_case(tmp_path / "b")
    (useless.folder / "golden.patch").write_text(GOLDEN.replace("+= price", "+= 2 * price"))
    assert "fails with the golden patch" in affirm(useless, sandbox).reason
    stale = price_case(tmp_path / "c")
    (stale.folder / "golden.patch").write_text(GOLDEN.replace("found -= price", "found /= price"))
    assert "does not apply" in affirm(stale, sandbox).reason


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ([True, False, False], "on the broken tree it fails in 2 of 3 runs"),
        ([False, False, False, True, True, False], "with the golden patch it fails in 1 of 3 runs"),
        ([(1,), (1, 2), (1,)], "on the broken tree it fails with 1 or 2 tests in 3 runs"),
    ],
)
def test_an_oracle_that_does_not_answer_alike_each_time_is_flaky(runs, text, tmp_path, sandbox, monkeypatch) -> None:
    answers = iter(runs)

    def oracle(*_: object) -> SuiteReport:
        answer = next(answers)
        failed = () if isinstance(answer, bool) else tuple(FailedTest(f"t{n}") for n in answer)
        return SuiteReport(answer is True, failed=failed)

    monkeypatch.setattr("misstep_harness.repair.scoring.oracle_report", oracle)
    result = affirm(price_case(tmp_path / "price"), sandbox)
    assert (result.holds, result.flaky, result.reason) == (False, True, f"the oracle is flaky: {text}")


def test_the_environment_that_a_case_names_is_shown_only_if_the_user_shows_it(tmp_path: Path, sandbox: Sandbox) -> None:
    case, project = price_case(tmp_path / "price"), tmp_path / "shop"
    (project / "node_modules/fruit").mkdir(parents=True)
    (project / "node_modules/fruit/price").write_text("7")
    (project / ".env").write_text("KEY=1")
    named = replace(case, case=replace(case.case, extra={"checkout": str(project)}))
    line = f"cat node_modules/fruit/price; ls -A {project}"
    with open_case(named, sandbox) as workspace:
        assert workspace.run(["sh", "-c", line]).exit_code != 0
    with open_case(named, sandbox.showing([project])) as workspace:
        output = workspace.run(["sh", "-c", line]).output
    assert (output[0], ".env" in output) == ("7", False)
