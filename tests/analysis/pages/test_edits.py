"""Edits as diffs: what a tool replaced is one diff, and a patch is known as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.analysis.pages.edits import replacement, with_diffs


@pytest.mark.parametrize("names", [("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text")])
def test_a_text_and_what_replaces_it_become_one_diff(names: tuple[str, str]) -> None:
    old, new = names
    given_ = {"path": "a.py", old: "def f():\n    return 1", new: "def f():\n    return 2"}
    path, edit = with_diffs(given_)
    assert path == ("path", "a.py", False)
    assert edit[:1] + edit[2:] == ("edit", True)
    assert edit[1].splitlines()[1:] == [" def f():", "-    return 1", "+    return 2"]


@pytest.mark.parametrize("patch", ["*** Begin Patch\n*** End Patch", "--- a/x\n+++ b/x\n", "diff --git a/x b/x\n"])
def test_a_patch_is_a_diff_already(patch: str) -> None:
    assert list(with_diffs({"input": patch, "why": "--- it is late"})) == [
        ("input", patch, True),
        ("why", "--- it is late", False),
    ]


def test_arguments_without_both_texts_stay_as_they_are() -> None:
    arguments = {"old_str": None, "new_str": "x", "count": 3}
    assert list(with_diffs(arguments)) == [(name, value, False) for name, value in arguments.items()]


def test_long_texts_are_shown_whole_and_not_compared() -> None:
    diff = replacement("a\n" * 1_000, "b\n" * 2).splitlines()
    assert diff == ["-a"] * 1_000 + ["+b"] * 2


_TEXTS = st.lists(st.sampled_from(["a", "b", "-", "+ x", ""]), max_size=12).map("\n".join)


@given(_TEXTS, _TEXTS)
def test_every_line_that_goes_or_comes_stands_in_the_diff(before: str, after: str) -> None:
    lines = replacement(before, after).splitlines()
    gone = sum(line.startswith("-") for line in lines)
    come = sum(line.startswith("+") for line in lines)
    assert len(after.splitlines()) - len(before.splitlines()) == come - gone
