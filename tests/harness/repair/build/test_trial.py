"""One run says which tests newly fail, and lasts no longer than the answer needs."""

from pathlib import Path

import pytest

from misstep.harness.repair.build import finding
from misstep.harness.repair.build.finding import oracle_of
from misstep.harness.repair.build.tracing import Traced, failing_files, untouched
from misstep.harness.repair.build.writing import CaseSource
from misstep.harness.repair.scoring import open_case
from misstep.harness.workspace import Sandbox
from misstep.harness.workspace.suite_report import SuiteReport
from tests.harness.repair.build.made_up_package import FILES, case_source

TESTS = [f"tests/test_shop.py::test_{name}" for name in ("nothing", "taxed", "small", "cheapest")]
_, TAXED, SMALL, _ = TESTS
TRACED = Traced({test: {"src/shop.py": [1]} for test in TESTS}, (), 1.0)


@pytest.fixture
def source(tmp_path: Path) -> CaseSource:
    return case_source(tmp_path)


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[SuiteReport]:
    """What each run of a suite in a trial found."""
    seen: list[SuiteReport] = []
    run = finding.run_suite

    def noted(*given: object) -> SuiteReport:
        seen.append(run(*given))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(finding, "run_suite", noted)
    return seen


def _broken(old: str, new: str) -> dict[str, bytes]:
    assert old in FILES["src/shop.py"]
    return {"src/shop.py": FILES["src/shop.py"].replace(old, new).encode()}


def test_the_oracle_is_what_newly_fails(source: CaseSource, sandbox: Sandbox) -> None:
    broken = _broken("found += price", "found = None")
    assert oracle_of(source, broken, TESTS, TRACED, sandbox) == (SMALL, TAXED)
    known = Traced(TRACED.lines, (SMALL,), 1.0)
    assert oracle_of(source, broken, TESTS, known, sandbox) == (TAXED,)


def test_a_module_of_tests_that_cannot_be_imported_is_the_oracle_as_a_file(
    source: CaseSource, sandbox: Sandbox
) -> None:
    broken = _broken("def cheapest", "def dearest")
    assert oracle_of(source, broken, [TAXED], TRACED, sandbox) == ("tests/test_shop.py",)


def test_where_more_fails_than_an_oracle_has_the_run_ends_and_nothing_is_found(
    source: CaseSource, sandbox: Sandbox, reports: list[SuiteReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "MOST_TESTS", 1)
    broken = _broken("    if not prices:", "    if prices or tax:\n        raise ValueError")
    assert oracle_of(source, broken, TESTS, TRACED, sandbox) == ()
    assert [report.ran for report in reports] == [2]


def test_tests_that_hang_are_no_oracle(
    source: CaseSource, sandbox: Sandbox, reports: list[SuiteReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_START", 0.5)
    monkeypatch.setattr(finding, "_TIMES", 0.0)
    assert oracle_of(source, _broken("found = 0\n", "found = 0\n    while True: pass\n"), TESTS, TRACED, sandbox) == ()
    assert [report.ended for report in reports] == ["time"]


def test_test_files_of_javascript_are_run_until_too_many_have_failed(source: CaseSource, sandbox: Sandbox) -> None:
    missing = ["a.test.js", "b.test.js", "c.test.js"]
    with open_case(untouched(source.tree, source.package), sandbox) as workspace:
        assert failing_files(workspace, missing) == {*missing}
        assert failing_files(workspace, missing, 1) == {*missing[:2]}
