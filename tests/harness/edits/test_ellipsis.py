"""Lines that stand for code left out are told from Python's own dots: stubs, and examples of doctest."""

import pytest

from misstep_harness.edits.applying import left_out
from misstep_harness.edits.changes import Line


def _added(text: str, before: str = "", removed: str = "") -> list[Line]:
    parts = ((" ", before), ("-", removed), ("+", text))
    return [Line(tag, line) for tag, lines in parts for line in lines.splitlines()]


@pytest.mark.parametrize(
    "example",
    [
        ">>> for n in range(2):\n...     print(n)\n...\n0\n1\n",
        ">>> f(\n... (1, 2)\n... )\n",
        ">>> raises()\nTraceback (most recent call last):\n...\nValueError: no\n",
        ">>> long()\n[0, 1,\n...\n9]\n",
    ],
)
@pytest.mark.parametrize("removed", ["", ">>> old()\n"])
def test_dots_of_an_example_of_doctest_are_lines_of_it(example: str, removed: str) -> None:
    assert left_out(_added(example, before='"""Count."""\n', removed=removed)) == ""


@pytest.mark.parametrize(
    "text", ["    ...\n", ">>> f()\n1\n\n...\n", '>>> f()\n"""\n...\n', ">>> f()\n# ... rest of the code ...\n"]
)
def test_dots_after_an_example_stand_for_code(text: str) -> None:
    assert left_out(_added(text, before="total = 1\n", removed="total = 2\n"))


def test_a_spread_is_no_lines_left_out() -> None:
    assert left_out(_added("  ...(given ? { b: 2 } : {}),\n", before="  a: 1,\n")) == ""
    assert left_out(_added("... (rest of the code)\n", before="  a: 1,\n"))
