"""Applying a hostile reply takes no longer than n log n."""

import pytest

from misstep_harness.edits import EDIT_FORMATS
from tests.benchmarks.growth import QUADRATIC, growth
from tests.families.test_edit_formats import PATH, applied

HOSTILE = {
    "one line over and over": lambda n: ("    x = 1\n" * n, "    x = 1\n" * (n // 2) + "y\n"),
    "two lines in turn": lambda n: ("a\nb\n" * n, "a\nb\n" * (n // 2) + "a\n"),
    "blank lines": lambda n: ("\n" * n, "\n" * (n // 2) + "y\n"),
    "all lines differ": lambda n: ("".join(f"{i}\n" for i in range(n)), "".join(f"{i} \n" for i in range(n // 2))),
}


def hostile_case(name: str, shape: str, n: int) -> tuple[str, str]:
    """A reply and its file."""
    text, block = HOSTILE[shape](n)
    lines = block.splitlines()
    marked = "".join(f" {line}\n" for line in lines) + "+z\n"
    replies = {
        "search_replace": f"<<<<<<< SEARCH\n{block}=======\n{block}z\n>>>>>>> REPLACE\n",
        "unified_diff": f"@@ @@\n{marked}",
        "line_diff": "".join(f"-{number} {line}\n" for number, line in enumerate(lines, 1)),
        "patch_envelope": f"*** Begin Patch\n*** Update File: {PATH}\n@@\n{marked}*** End Patch\n",
    }
    return replies[name], text


@pytest.mark.parametrize("shape", HOSTILE)
@pytest.mark.parametrize("name", EDIT_FORMATS)
def test_time_grows_no_faster_than_n_log_n(name: str, shape: str) -> None:
    ratio = growth(lambda n: hostile_case(name, shape, n), lambda case: applied(name, case[0], {PATH: case[1]}), 200)
    assert ratio < QUADRATIC


@pytest.mark.parametrize("name", EDIT_FORMATS)
@pytest.mark.parametrize(
    "piece", ["<<<<<<< SEARCH\n", "=======\n", "@@ -1,9 +1,9 @@\n", "*** Begin Patch\n", "+1 a\n", "```\n"]
)
def test_time_grows_no_faster_than_n_log_n_on_markers_alone(name: str, piece: str) -> None:
    assert growth(lambda n: piece * n, lambda reply: applied(name, reply, {PATH: "a\n"}), 200) < QUADRATIC
