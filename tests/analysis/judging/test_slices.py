"""On which kinds of item a judge errs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.sample import JudgedSample
from misstep_analysis.judging.slices import LENGTH, Lengths, SlicedField, sliced, slices_table
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.marginal_homogeneity import pearson_shares
from misstep_analysis.stats.significance import holm
from tests.analysis.judging.samples import judged

GOLD = ["yes", "no"] * 20


def fields(sample: JudgedSample, **values: Sequence[Any]) -> dict[str, SlicedField]:
    """The slices by fields of the items, a value an item."""
    items = [
        BenchmarkItem(f"i{place}", extra={name: column[place] for name, column in values.items()})
        for place in range(len(sample.verdicts))
    ]
    return {field.field: field for field in sliced(sample, items)}


def wrong_on(places: Sequence[int], unanswered: Sequence[int] = ()) -> JudgedSample:
    answers: list[str | None] = [
        None if place in unanswered else ("no" if label == "yes" else "yes") if place in places else label
        for place, label in enumerate(GOLD)
    ]
    return judged(answers, GOLD)


def test_each_value_of_a_field_has_its_accuracy_and_the_field_one_test() -> None:
    languages = ["python"] * 20 + ["rust"] * 20
    field = fields(wrong_on(range(20, 32)), language=languages)["language"]
    assert [(one.value, one.n) for one in field.slices] == [("python", 20), ("rust", 20)]
    assert [one.accuracy for one in field.slices] == [wilson(20, 20), wilson(8, 20)]
    assert field.p_value == pearson_shares([20, 8], [20, 20], np.random.default_rng(0)).p_value
    assert field.p_value < 0.001


def test_p_values_are_adjusted_over_the_fields() -> None:
    result = fields(wrong_on(range(6)), first=["a"] * 20 + ["b"] * 20, second=["c", "d"] * 20)
    raw = [field.p_value for field in result.values()]
    assert [field.p_adjusted for field in result.values()] == list(holm(raw).p_values)


def test_the_unanswered_are_left_out_and_again_counted_as_wrong() -> None:
    (first, _) = fields(wrong_on([0], unanswered=[1, 2]), half=["a"] * 20 + ["b"] * 20)["half"].slices
    assert (first.accuracy, first.accuracy_all) == (wilson(17, 18), wilson(17, 20))


def test_a_field_has_two_to_twelve_different_texts() -> None:
    result = fields(
        wrong_on([]),
        same=["a"] * 40,
        many=[str(place % 13) for place in range(40)],
        twelve=[str(place % 12) for place in range(40)],
        number=[place % 2 for place in range(40)],
        some=["a", None, "b", ""] * 10,
    )
    assert set(result) == {"twelve", "some"}
    assert result["some"].n == 20


def test_a_field_that_says_the_gold_label_is_none_whatever_it_calls_it() -> None:
    result = fields(wrong_on([3]), outcome=["good", "bad"] * 20, nearly=["good", "bad"] * 19 + ["good", "good"])
    assert set(result) == {"nearly"}


def test_lengths_are_cut_into_thirds_and_equal_ones_stay_together() -> None:
    lengths = Lengths("steps", {f"i{place}": 10 * (place // 10) for place in range(40)})
    (field,) = sliced(wrong_on(range(30, 40)), [], lengths)
    assert field.field == LENGTH
    assert [one.value for one in field.slices] == ["0 steps", "10 to 20 steps", "30 steps"]
    assert [one.accuracy.value for one in field.slices] == [1.0, 1.0, 0.0]


def test_a_field_that_is_called_length_stands_beside_the_lengths() -> None:
    items = [BenchmarkItem(f"i{place}", extra={"length": "short" if place % 3 else "long"}) for place in range(40)]
    lengths = Lengths("steps", {item.id: place for place, item in enumerate(items)})
    result = sliced(wrong_on([1]), items, lengths)
    assert [(field.field, len(field.slices)) for field in result] == [(LENGTH, 3), ("length", 2)]


@pytest.mark.parametrize("of_item", [{}, {f"i{place}": 7 for place in range(40)}])
def test_lengths_that_do_not_differ_are_no_field(of_item: dict[str, int]) -> None:
    assert sliced(wrong_on([1]), [], Lengths("steps", of_item)) == ()


def test_items_without_a_gold_label_are_in_no_slice() -> None:
    sample = judged(["yes"] * 4, ["yes", "no", "yes", None])
    field = fields(sample, half=["a", "b", "b", "a"])["half"]
    assert [one.n for one in field.slices] == [1, 2]


def test_runs_are_the_sample_where_items_are_of_runs() -> None:
    answers = (["yes"] * 15 + ["no"] * 5) * 5 + ["no"] * 20
    sample = judged(answers, ["yes"] * 120, runs=20)
    (field,) = fields(sample, half=["a"] * 60 + ["b"] * 60).values()
    assert field.test == "score test over 6 clusters, F with 1 and 5 degrees of freedom"
    # Each item by itself would be evidence; one run in three that fails is none.
    alone = fields(judged(answers, ["yes"] * 120), half=["a"] * 60 + ["b"] * 60)["half"]
    assert alone.p_value < 0.01 < 0.1 < field.p_value
    assert "3 clusters" in field.slices[0].accuracy.method


def test_kinds_of_item_with_one_accuracy_are_not_ranked() -> None:
    even = fields(wrong_on([0, 20]), language=["python"] * 20 + ["rust"] * 20)
    finding = slices_table(list(even.values()), "x").finding
    assert finding == "By language the accuracy is the same on all kinds of item, 95.0%."
    uneven = fields(wrong_on([0, 1, 20]), language=["python"] * 20 + ["rust"] * 20)
    assert "runs from 90.0%" in slices_table(list(uneven.values()), "x").finding
