"""A judge with several labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.stats import diagnostic
from analysis.stats.diagnostic import Confusion
from analysis.stats.multiclass import ABSENT, NEITHER, NEVER_PREDICTED, matthews_correlation, multiclass_scores
from harness.errors import UsageError

MATRICES = arrays(np.int64, (3, 3), elements=st.integers(0, 20)).filter(np.any)


@given(tp=st.integers(0, 20), fp=st.integers(0, 20), fn=st.integers(0, 20), tn=st.integers(1, 20))
def test_two_classes_score_as_the_two_by_two_table(tp: int, fp: int, fn: int, tn: int) -> None:
    table = Confusion(tp, fp, fn, tn)
    found = multiclass_scores([[tp, fn], [fp, tn]])
    assert found.classes[0].precision == diagnostic.precision(table) or tp + fp == 0
    assert found.classes[0].f1.value == diagnostic.f1(table).value
    assert found.accuracy == diagnostic.accuracy(table)
    binary = diagnostic.matthews_correlation(table).value
    assert found.mcc.value == (None if binary is None else pytest.approx(binary))
    assert found.macro_recall.value == diagnostic.balanced_accuracy(table).value


@given(MATRICES, st.permutations(range(3)))
def test_the_order_of_the_classes_changes_no_average(matrix: np.ndarray, order: list[int]) -> None:
    one, other = multiclass_scores(matrix), multiclass_scores(matrix[np.ix_(order, order)])
    for name in ("macro_precision", "macro_recall", "macro_f1", "weighted_f1", "mcc"):
        value = getattr(one, name).value
        assert getattr(other, name).value == (None if value is None else pytest.approx(value))


@given(MATRICES)
def test_a_perfect_judge_correlates_fully_and_no_judge_more(matrix: np.ndarray) -> None:
    value = matthews_correlation(matrix).value
    assert value is None or -1 - 1e-12 <= value <= 1 + 1e-12
    perfect = matthews_correlation(np.diag(matrix.sum(axis=1))).value
    assert perfect is None or perfect == pytest.approx(1)


def test_a_class_without_labels_or_answers_says_which_is_missing() -> None:
    one, two, three, four = multiclass_scores([[5, 0, 0, 1], [2, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]).classes
    assert one.precision.value == pytest.approx(5 / 7)
    assert (two.precision.reason, two.f1.value) == (NEVER_PREDICTED, 0.0)
    assert (three.precision.reason, three.recall.reason, three.f1.reason) == (NEVER_PREDICTED, ABSENT, NEITHER)
    assert (four.recall.reason, four.f1.value) == (ABSENT, 0.0)


def test_an_average_over_undefined_classes_is_undefined_and_the_other_one_says_over_how_many_it_is() -> None:
    found = multiclass_scores([[5, 1, 0], [2, 6, 0], [0, 0, 0]])
    assert (found.macro_f1.value, found.macro_f1.reason) == (None, "1 of 3 classes undefined")
    assert found.macro_f1_defined_only.method == "mean of 2 of 3 classes"


@pytest.mark.parametrize("matrix", [[[1, 2]], [[0, 0], [0, 0]], [[1, -1], [0, 2]], [1, 2]])
def test_a_matrix_that_cannot_be_is_refused(matrix: list[list[int]]) -> None:
    with pytest.raises(UsageError):
        multiclass_scores(matrix)
