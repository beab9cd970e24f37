"""Python literals to JSON values: whatever a framework prints of its calls can be written as JSON."""

import json
import warnings

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.readers.interchange.span_messages import json_value_of_literal

LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.sets(st.integers() | st.text() | st.binary(), max_size=3)
        | st.dictionaries(st.text() | st.integers() | st.binary() | st.none() | st.tuples(st.text()), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(LITERALS)
def test_whatever_python_prints_becomes_a_value_that_json_has(value: object) -> None:
    read = json_value_of_literal(repr(value))
    assert json.loads(json.dumps(read, allow_nan=False)) == read
    assert msgspec.json.decode(msgspec.json.encode(read)) == read


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("{'a': (1, [2.5, None, True])}", {"a": [1, [2.5, None, True]]}),
        ("{'b', 'a'}", ["a", "b"]),
        ("{1: b'x\\xff', None: 1j, (1,): ...}", {"1": "x\\xff", "None": "1j", "[1]": "Ellipsis"}),
        ("[1e999, -1e999]", ["inf", "-inf"]),
        (r"'\ud800 x'", "\ufffd x"),
        (f"0x1{'0' * 4000}", f"0x1{'0' * 4000}"),
        ("{'a': open}", None),
        ("[" * 5000, None),
        ("'\ud800'", None),
        ("1\0", None),
        ("{[]: 1}", None),
    ],
)
def test_what_json_does_not_have_becomes_what_is_nearest(literal: str, value: object) -> None:
    assert json_value_of_literal(literal) == value


def test_a_literal_from_outside_warns_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert json_value_of_literal(r"{'pattern': '\d+'}") == {"pattern": r"\d+"}
