"""A value is written and told apart by its content, however deep, in memory that grows as its size does."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.values import as_json, digest, plain

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


def nested(depth: int, inside: Any = "x") -> Any:
    """A value that many objects and lists deep, in turn."""
    for level in range(depth):
        inside = {"next": inside, "at": level} if level % 2 else [inside]
    return inside


@given(VALUES)
def test_what_is_written_is_the_json_of_the_value(value: Any) -> None:
    assert as_json(value) == json.dumps(value, ensure_ascii=False, indent=1)
    assert as_json(value, indented=False) == json.dumps(value, ensure_ascii=False)


@given(VALUES)
def test_the_keys_of_an_object_may_stand_in_any_order(value: Any) -> None:
    assert digest({"a": value, "b": 1}) == digest({"b": 1, "a": value})


@given(VALUES, VALUES)
def test_only_equal_values_have_one_digest(one: Any, other: Any) -> None:
    evened = [json.dumps(_evened(value), sort_keys=True) for value in (one, other)]
    assert (digest(one) == digest(other)) == (evened[0] == evened[1])


def _evened(value: Any) -> Any:
    """Figures as the text that they print as, texts without spaces around them."""
    if isinstance(value, dict):
        return {key: _evened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_evened(item) for item in value]
    return value.strip() if isinstance(value, str) else plain(value)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, "1"), (0, -0.0), (True, "true"), (" a", "a\n"), ((1,), [1])])
def test_values_that_say_the_same_have_one_digest(one: Any, other: Any) -> None:
    assert digest([one]) == digest([other])


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), (1, "1.0"), (None, ""), ([], {}), (["a", "b"], ["ab"]), ([["a"], "b"], [["a", "b"]]),
     ({"a": "b"}, ["a", "b"])],
)  # fmt: skip
def test_values_that_say_something_else_have_another(one: Any, other: Any) -> None:
    assert digest([one]) != digest([other])


def test_no_value_is_too_odd() -> None:
    for odd in (10**6000, -(10**6000), float("nan"), float("inf"), "\ud800", {1: 2}, {None: 1}, {1, 2}, b"\xff", 1j):
        assert digest({"k": [odd]}) == digest({"k": [odd]})
        assert isinstance(as_json({"k": [odd]}), str)


def test_no_value_is_too_deep() -> None:
    deep = nested(20_000)
    hash_, text = digest(deep), as_json(deep)
    assert hash_ == digest(nested(20_000))
    assert hash_ != digest(nested(20_000, "y"))
    assert text.count("x") == 1 + text.count("next")


@pytest.mark.parametrize("work", [digest, as_json])
def test_memory_grows_as_the_depth_does(work: Callable[[Any], object]) -> None:
    def most(depth: int) -> int:
        value = nested(depth)
        tracemalloc.start()
        work(value)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert most(4000) < 6 * most(1000)
