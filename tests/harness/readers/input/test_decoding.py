"""Bytes to JSON values: what is let through, what is named, and that nothing else is raised."""

import json
import math
from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import UnreadableTrajectory
from misstep_harness.readers.input.decoding import convert, decode_document_or_lines, decode_json, decode_lines
from misstep_harness.readers.input.fields import filled, rest_of
from misstep_harness.trajectory import Source

SOURCE = Source("any", "runs/a.jsonl", 7)


class Row(msgspec.Struct):
    """A row of two fields."""

    name: str
    count: int | None = None


def test_what_the_standard_forbids_and_recorders_write_is_let_through_as_what_can_be_written_again() -> None:
    value = decode_json(b'{"a": NaN, "b": -Infinity, "c": "\\ud800 x", "\\udfff": 1e999, "d": -0.5}', SOURCE)
    assert value == {"a": None, "b": None, "c": "\ufffd x", "\ufffd": None, "d": -0.5}
    assert decode_json(msgspec.json.encode(value), SOURCE) == value


def test_of_a_key_written_twice_the_last_stands_strictly_and_leniently() -> None:
    assert decode_json(b'{"a": 1, "a": 2}', SOURCE) == {"a": 2}
    assert decode_json(b'{"a": NaN, "a": 2}', SOURCE) == {"a": 2}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b'{"a": ', "no JSON"),
        (b"", "no JSON"),
        (b'{"a": 1}\x00', "no JSON"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deep"),
        (b'{"n": NaN, "a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deep"),
        (b"1" * 5000, "no JSON"),
    ],
)
def test_what_is_no_json_is_said_with_file_and_line(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableTrajectory, match=message) as raised:
        decode_json(data, SOURCE)
    assert raised.value.file == "runs/a.jsonl"
    assert raised.value.line_number == 7


@given(st.binary(max_size=60))
def test_whatever_the_bytes_nothing_but_unreadable_is_raised(data: bytes) -> None:
    for read in (decode_json, decode_lines, decode_document_or_lines, lambda d, s: convert(decode_json(d, s), Row, s)):
        with suppress(UnreadableTrajectory):
            read(data, SOURCE)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_what_json_writes_is_read_back_also_beside_nan(value: object) -> None:
    assert decode_json(json.dumps(value).encode(), SOURCE) == value
    assert decode_json(json.dumps([math.nan, value]).encode(), SOURCE)[1] == value


def test_a_field_of_the_wrong_type_is_named_also_beside_nan() -> None:
    with pytest.raises(UnreadableTrajectory, match=r"Expected `int \| null`, got `str` - at `\$.count`"):
        convert(decode_json(b'[NaN, {"name": "a", "count": "b"}]', SOURCE)[1], Row, SOURCE)
    with pytest.raises(UnreadableTrajectory, match=r"\$.name"):
        convert(decode_json(b'{"name": NaN}', SOURCE), Row, SOURCE)
    with pytest.raises(UnreadableTrajectory, match=r"\$.name") as raised:
        convert({"name": 3}, Row, SOURCE, 12)
    assert raised.value.line_number == 12


def test_the_rest_is_what_neither_the_type_nor_the_caller_places_and_what_says_something() -> None:
    value = {"name": "a", "count": 1, "more": 2, "off": False, "nothing": None, "empty": [], "placed": 3}
    assert rest_of(value, Row, "placed") == {"more": 2, "off": False}
    assert filled([("a", 0), ("b", ""), ("c", {}), ("d", None)]) == {"a": 0}


def test_lines_are_numbered_from_one_with_the_blank_ones() -> None:
    assert decode_lines(b'\n{"a": 1}\r\n\n \n[2]\n', SOURCE).values == ((2, {"a": 1}), (5, [2]))


def test_a_last_line_that_a_crash_cut_off_is_kept_as_text() -> None:
    lines = decode_lines(b'{"a": 1}\n{"b": "unfin\xc3', SOURCE)
    assert lines.values == ((1, {"a": 1}),)
    assert lines.unfinished == '{"b": "unfin\ufffd'
    assert decode_lines(b'{"a": 1}\n{"b": 2}', SOURCE).unfinished is None


@pytest.mark.parametrize(
    "data", [b'{"a": 1}\n{"b": \n', b'{"a": 1}\n{"b": \n{"c": 2}', b'{"a": 1}\n{"b": \n\n{"c": 2}\n']
)
def test_a_broken_line_that_is_not_the_last_or_ends_is_no_crash_but_an_error_at_that_line(data: bytes) -> None:
    with pytest.raises(UnreadableTrajectory) as raised:
        decode_lines(data, SOURCE)
    assert raised.value.line_number == 2


def test_a_file_of_which_no_line_is_whole_is_an_error() -> None:
    for data in (b"", b"\n \n"):
        with pytest.raises(UnreadableTrajectory, match="empty"):
            decode_lines(data, SOURCE)
    with pytest.raises(UnreadableTrajectory) as raised:
        decode_lines(b'{"half": ', SOURCE)
    assert raised.value.line_number == 1


def test_a_document_may_stand_on_many_lines() -> None:
    assert decode_document_or_lines(b'{\n "a": [\n1]\n}\n', SOURCE).values == ((1, {"a": [1]}),)
    assert decode_document_or_lines(b'{"a": 1}\n', SOURCE).values == ((1, {"a": 1}),)
    assert decode_document_or_lines(b'{"a": NaN}\n{"a": 2}\n', SOURCE).values[1] == (2, {"a": 2})
    with pytest.raises(UnreadableTrajectory, match="no JSON"):
        decode_document_or_lines(b'{\n"a": [1,\n}\n', SOURCE)


@given(st.lists(st.sampled_from([r"\ud83d", r"\ude00", r"\uDBFF", r"\\", r"\u0041", "ud800", r"\n", "é", "x"])))
def test_lone_surrogates_are_told_from_pairs_and_from_what_only_looks_like_them(parts: list[str]) -> None:
    written = f'["{"".join(parts)}"]'
    [text] = json.loads(written)
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    expected = "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in whole)
    assert decode_json(written.encode(), SOURCE) == [expected]
