"""Failures of one cause are one group: the same message at the same place, or one blamed change."""

import pytest

from misstep_harness.repair.failure_bot.tasks import Frame, group_failures, innermost, joined, normalised
from misstep_harness.workspace.suite.report import FailedTest

PATHS = ["src/price.py", "tests/test_price.py", "lib/sum.js", "pkg/sum.go"]

PYTEST = """
    def test_total():
>       assert total([1]) == 1
tests/test_price.py:4:
src/price.py:2: in total
    return helper(prices)
/usr/lib/python3.11/functools.py:909: in wrapper
    return dispatch(args[0].__class__)(*args, **kw)
E   ZeroDivisionError: division by zero
"""
NATIVE = """Traceback (most recent call last):
  File "/ws/tests/test_price.py", line 4, in test_total
    total([1])
  File "/ws/src/price.py", line 2, in total
    return 1 / 0
  File "/usr/lib/python3.11/functools.py", line 909, in wrapper
ZeroDivisionError: division by zero
"""


@pytest.mark.parametrize(
    ("trace", "frame"),
    [
        (PYTEST, Frame("src/price.py", 2)),
        (NATIVE, Frame("src/price.py", 2, "total")),
        ("Error: no\n    at sum (/ws/lib/sum.js:3:11)\n    at node:internal/main:1:1", Frame("lib/sum.js", 3)),
        ("--- FAIL: TestSum\n    pkg/sum.go:12: got 3", Frame("pkg/sum.go", 12)),
        ("Segmentation fault", None),
    ],
)
def test_the_innermost_place_is_the_last_in_the_projects_own_code(trace: str, frame: Frame | None) -> None:
    assert innermost(trace, PATHS) == frame


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<Price object at 0x7f3a2b> is not a price", "<Price object at 0x7f0000> is not a price"),
        ("timed out after 1.53 seconds", "timed out after 2.01 seconds"),
        ("no file /tmp/pytest-1/a.txt", "no file /tmp/pytest-2/b.txt"),
        ("AssertionError: 3 != 4\nmore", "AssertionError: 5 != 6\nother"),
    ],
)
def test_what_differs_from_run_to_run_is_no_part_of_a_message(one: str, other: str) -> None:
    assert normalised(one) == normalised(other) != ""
    assert normalised("KeyError: 'a1'") != normalised("KeyError: 'b1'")


def test_failures_of_one_message_and_place_are_one_group() -> None:
    failures = [
        FailedTest("a", "ZeroDivisionError: division by zero", PYTEST),
        FailedTest("b", "KeyError: 'x'", NATIVE),
        FailedTest("c", "ZeroDivisionError: division by zero", NATIVE),
    ]
    groups = group_failures(failures, PATHS)
    assert [[test.id for test in group] for group in groups] == [["a", "c"], ["b"]]


def test_groups_with_one_blamed_change_are_joined_and_those_without_stay() -> None:
    groups = group_failures([FailedTest(name, f"{name} is wrong", "") for name in "abcd"], PATHS)
    result = joined(groups, ["c1", "", "c1", ""])
    assert [[test.id for test in group] for group in result] == [["a", "c"], ["b"], ["d"]]
