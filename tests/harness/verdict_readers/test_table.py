"""A table of verdicts, row by row."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_harness.errors import InputError
from misstep_harness.verdict_readers import Place, WrittenVerdict, reader_of, table

PLACE = Place("verdicts.csv", 7)


def row(**cells: Any) -> WrittenVerdict:
    (result,) = table.verdicts({"item": "run-1", "label": "yes"} | cells, PLACE)
    return result


def test_a_row_needs_an_item_and_a_label_and_may_say_more() -> None:
    result = row(judge="mine", score="0.9", reason="it loops", model="small-1")
    verdict = WrittenVerdict("run-1", "yes", PLACE, "mine", "answered", 0.9, "it loops", "small-1", names=result.names)
    assert result == verdict
    assert result.names["item"] == "run-1"
    assert reader_of({"item": "a", "label": "b"}) is table
    assert reader_of({"item": "a", "score": 1}) is None
    assert reader_of(["item", "label"]) is None


@pytest.mark.parametrize("label", ["", "  ", None])
def test_an_empty_label_is_no_label(label: str | None) -> None:
    result = row(label=label)
    assert (result.label, result.status, result.error) == (None, "unreadable", "the label is empty")


def test_why_there_is_no_label_is_kept_where_the_row_says_it() -> None:
    result = row(label=None, status="refused", error="the model refused")
    assert (result.status, result.error) == ("refused", "the model refused")
    assert row(label=None, status="answered").status == "unreadable"


@pytest.mark.parametrize(("text", "label"), [(True, "true"), (0, "0"), (1.0, "1"), (" yes ", "yes")])
def test_a_label_that_is_no_text_is_what_json_writes(text: Any, label: str) -> None:
    assert row(label=text).label == label


@pytest.mark.parametrize("score", ["7", "-0.1", "1,5", "high", True, [1], 10**400])
def test_a_score_outside_0_to_1_is_an_error_that_names_file_line_field_and_cure(score: Any) -> None:
    with pytest.raises(InputError, match=r"verdicts\.csv:7: score: .*divide it by the highest one"):
        row(score=score)


@pytest.mark.parametrize(("cell", "score"), [("0,9", 0.9), (" ,5 ", 0.5), ("NaN", None), ("", None), (1, 1.0)])
def test_a_score_may_have_a_decimal_comma_and_none_is_what_programs_write_for_a_missing_number(cell, score) -> None:
    assert row(score=cell).score == score


def test_a_list_for_a_label_is_an_error() -> None:
    with pytest.raises(InputError, match=r"verdicts\.csv:7: label: a list where a text is expected"):
        row(label=["yes", "no"])


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3)


@given(st.dictionaries(st.sampled_from(["judge", "score", "reason", "model", "status", "error"]), JSON), JSON)
def test_whatever_a_row_holds_it_has_a_label_exactly_when_it_is_answered(cells: dict[str, Any], label: Any) -> None:
    try:
        result = row(**cells, label=label)
    except InputError:
        return
    assert (result.label is not None) == (result.status == "answered")
    assert result.score is None or 0 <= result.score <= 1
