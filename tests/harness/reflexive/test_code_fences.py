"""A line in a code fence is quoted, however fences are nested; one around all of a reply quotes nothing."""

from misstep_harness.reflexive.memory import is_fenced, unwrapped


def test_a_fence_is_closed_by_its_own_marks_alone_or_goes_on_to_the_end_and_code_in_a_line_opens_none() -> None:
    assert is_fenced(["~~~", "```", "a", "~~~~", "b"]) == [True, True, True, True, False]
    assert is_fenced(["```python", "``` a", "a"]) == [True, True, True]
    assert is_fenced(["a", "```", "b"]) == [False, True, True]
    assert is_fenced(["`a`", "    ```", "b"]) == [False, False, False]


def test_one_fence_around_all_is_taken_off() -> None:
    assert unwrapped(["", "```text", "a", "", "b", "```", ""]) == ["a", "", "b"]


def test_other_fences_stay() -> None:
    for lines in (["a", "```", "b", "```"], ["```", "a", "```", "```", "b", "```"], ["```", "a"], []):
        assert unwrapped(lines) == lines
