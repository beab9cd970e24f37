"""The files of an oracle are told by its ids, so that a patch that weakens them mends nothing."""

import pytest

from misstep_harness.repair.validators import changed_tests_signal, oracle_files, pytest_id

PATHS = ("checks/price_check.py", "tests/test_price.py", "price.py", "test/sum.test.js")


@pytest.mark.parametrize(
    ("oracle", "files"),
    [
        ("checks/price_check.py::Price::test_total", {"checks/price_check.py"}),
        ("checks.price_check.Price.test_total", {"checks/price_check.py"}),
        ("checks/price_check.py", {"checks/price_check.py"}),
        ("price_check.Price.test_total", {"checks/price_check.py"}),
        ("unittest.loader._FailedTest.test_price", {"tests/test_price.py"}),
        ("test/sum.test.js::adds", {"test/sum.test.js"}),
        ("adds", set()),
        ("", {"tests/test_price.py", "test/sum.test.js"}),
    ],
)
def test_the_files_of_an_oracle_are_told_by_its_ids(oracle: str, files: set[str]) -> None:
    assert oracle_files([oracle], PATHS) == files
    assert changed_tests_signal([*files, "price.py"], [oracle]).passed == (not files)


@pytest.mark.parametrize(
    ("test", "named"),
    [
        ("price_check.Price.test_total", "checks/price_check.py::Price::test_total"),
        ("tests.test_price.Price.setUpClass", "tests/test_price.py::Price"),
        ("tests/test_price.py::test_total", "tests/test_price.py::test_total"),
        ("other.Price.test_total", ""),
    ],
)
def test_pytest_runs_a_test_of_unittest_under_its_own_name(test: str, named: str) -> None:
    assert pytest_id(test, PATHS) == named
