"""Which paths a user's words name: patterns are compared from every part of a path on, in work that grows with it."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.classifiers.prose import names

PARTS = st.lists(st.sampled_from(["a", "b", "ab", "src", "a.py", "b.py"]), min_size=1, max_size=7)
PATTERN_PARTS = st.lists(st.sampled_from(["a", "src", "*", "*.py", "a*", "?", "[ab]", "*b*"]), min_size=2, max_size=4)


@pytest.mark.parametrize(
    ("target", "path", "covered"),
    [
        ("src/*.py", "/home/me/shop/src/a.py", True),
        ("src/*.py", "/home/me/shop/src/a.txt", False),
        ("src/*.py", "/home/me/resrc/a.py", False),
        ("src/**/a.py", "src/b/c/a.py", True),
        ("*.py", "src/a.py", True),
        ("s?c/*.py", "x/src/a.py", True),
    ],
)
def test_a_pattern_covers_the_paths_that_end_as_it_says(target: str, path: str, covered: bool) -> None:
    assert names(target, path) is covered


@given(pattern=PATTERN_PARTS.map("/".join).filter(lambda pattern: "*" in pattern), parts=PARTS)
def test_one_look_finds_what_a_look_from_every_part_finds(pattern: str, parts: list[str]) -> None:
    every = (fnmatchcase("/".join(parts[start:]), pattern.replace("**/", "*")) for start in range(len(parts)))
    assert names(pattern, "/".join(parts)) == any(every)


@pytest.mark.parametrize(("target", "part"), [("src/*.py", "a/"), ("src/*.py", "src/"), ("*a*/*a*/*b", "a/")])
def test_a_path_of_very_many_parts_takes_work_that_grows_with_it(target: str, part: str) -> None:
    """What takes the square of it would not end."""
    assert not names(target, part * 200_000)
