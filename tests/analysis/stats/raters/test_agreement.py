"""Rules that every coefficient of agreement keeps, whatever the ratings."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import cohens_kappa

from misstep_analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa, gwet_ac
from misstep_analysis.stats.raters.coefficients import Weighting
from misstep_analysis.stats.raters.patterns import IntArray, category_counts, contingency_table, distinct_rows
from tests.analysis.stats.quantities.agreement import krippendorff_alpha

CATEGORIES = 4


def codes(raters: int | None = None, lowest: int = -1) -> st.SearchStrategy[IntArray]:
    width = st.integers(2, 5) if raters is None else st.just(raters)
    shapes = st.tuples(st.integers(2, 30), width)
    return shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(lowest, CATEGORIES - 1)))


def all_coefficients(matrix: IntArray, categories: int = CATEGORIES) -> list[float | None]:
    counts = category_counts(matrix, categories)
    values = np.arange(categories) ** 2
    return [
        fleiss_kappa(counts).overall.value,
        gwet_ac(counts).value,
        *(krippendorff_alpha(counts, level, values).value for level in ("nominal", "ordinal", "interval", "ratio")),
    ]


def same(first: list[float | None], second: list[float | None]) -> bool:
    pairs = zip(first, second, strict=True)
    return all((a is None and b is None) or (a is not None and b == pytest.approx(a, abs=1e-9)) for a, b in pairs)


def rated_twice(matrix: IntArray) -> bool:
    return bool(np.any((matrix >= 0).sum(axis=1) >= 2))


@given(codes(), st.randoms(use_true_random=False))
def test_the_order_of_items_and_of_raters_does_not_matter(matrix: IntArray, random: object) -> None:
    assume(rated_twice(matrix))
    rng = np.random.default_rng(random.randrange(2**32))  # type: ignore[attr-defined]
    shuffled = rng.permuted(rng.permutation(matrix), axis=1)
    assert same(all_coefficients(matrix), all_coefficients(shuffled))


@given(codes())
def test_the_names_of_nominal_categories_do_not_matter(matrix: IntArray) -> None:
    assume(rated_twice(matrix))
    renamed = np.where(matrix >= 0, (matrix + 1) % CATEGORIES, matrix)
    for kappa in (fleiss_kappa, gwet_ac, krippendorff_alpha):
        one, other = (kappa(category_counts(version, CATEGORIES)) for version in (matrix, renamed))
        value, renamed_value = (getattr(result, "overall", result).value for result in (one, other))
        assert same([value], [renamed_value])


@given(codes())
def test_patterns_with_counts_give_what_the_items_themselves_give(matrix: IntArray) -> None:
    assume(rated_twice(matrix))
    patterns = distinct_rows(matrix)
    assert np.array_equal(patterns.rows[patterns.of_item], matrix)
    assert patterns.items.sum() == len(matrix)
    counts = category_counts(matrix, CATEGORIES)
    merged = category_counts(patterns.rows, CATEGORIES)
    whole, weighted = fleiss_kappa(counts), fleiss_kappa(merged, patterns.items)
    assert same([whole.overall.value, *whole.by_category], [weighted.overall.value, *weighted.by_category])
    assert same([whole.overall.se], [weighted.overall.se])
    for level in ("nominal", "ordinal"):
        items = krippendorff_alpha(counts, level)
        assert same([items.value], [krippendorff_alpha(merged, level, items=patterns.items).value])
    assert gwet_ac(merged, items=patterns.items).se == pytest.approx(gwet_ac(counts).se)


@given(codes())
def test_items_without_a_rating_change_nothing(matrix: IntArray) -> None:
    assume(rated_twice(matrix))
    empty = np.full((3, matrix.shape[1]), -1)
    assert same(all_coefficients(matrix), all_coefficients(np.concatenate([empty, matrix])))


@given(st.lists(st.integers(0, CATEGORIES - 1), min_size=2, max_size=20), st.integers(2, 5))
def test_perfect_agreement_is_one_and_of_one_category_undefined_with_a_reason(labels: list[int], raters: int) -> None:
    counts = category_counts(np.repeat(np.array(labels)[:, None], raters, axis=1), CATEGORIES)
    results = [fleiss_kappa(counts).overall, krippendorff_alpha(counts), krippendorff_alpha(counts, "ordinal")]
    for coefficient in results:
        if len(set(labels)) == 1:
            assert coefficient.value is None
            assert coefficient.reason
        else:
            assert coefficient.value == pytest.approx(1, abs=1e-12)
    assert gwet_ac(counts).value == 1


@given(codes())
def test_no_coefficient_is_above_one_and_ac1_not_below_minus_one(matrix: IntArray) -> None:
    assume(rated_twice(matrix))
    assert all(value <= 1 + 1e-9 for value in all_coefficients(matrix) if value is not None)
    ac1 = gwet_ac(category_counts(matrix, CATEGORIES)).value
    assert ac1 >= -1


@settings(deadline=None)  # the first example waits for statsmodels to load
@given(codes(raters=2, lowest=0))
def test_cohens_kappa_does_not_change_when_the_raters_change_places(matrix: IntArray) -> None:
    table = contingency_table(matrix[:, 0], matrix[:, 1], CATEGORIES)
    for weighting in ("unweighted", "linear", "quadratic"):
        one, other = cohen_kappa(table, weighting), cohen_kappa(table.T, weighting)
        assert same([one.value, one.se], [other.value, other.se])


def test_a_category_that_nobody_used_has_no_kappa_of_its_own() -> None:
    assert fleiss_kappa([[2, 0, 0], [0, 2, 0], [1, 1, 0]]).by_category[2] is None


def test_a_table_with_a_single_cell_has_no_kappa_but_an_agreement() -> None:
    kappa = cohen_kappa([[7, 0], [0, 0]])
    assert (kappa.value, kappa.observed, kappa.n) == (None, 1.0, 7)
    assert kappa.reason
    assert kappa.z_interval() is None


def test_unequal_numbers_of_ratings_have_no_null_error() -> None:
    kappa = fleiss_kappa([[2, 0], [1, 2], [0, 2]])
    assert kappa.overall.se_null is None
    assert kappa.by_category_se_null is None
    assert kappa.z is None


def test_a_standard_error_of_zero_is_said_to_be_none() -> None:
    kappa = cohen_kappa([[8, 0], [2, 0]])
    estimate = kappa.estimate(kappa.z_interval(), "by formula")
    assert (estimate.value, estimate.low, estimate.high) == (0, None, None)
    assert "without width" in estimate.reason


def test_a_scale_of_one_category_has_no_ac1() -> None:
    coefficient = gwet_ac([[2], [3]])
    assert coefficient.value is None
    assert coefficient.reason


@given(st.lists(st.lists(st.integers(-1, 60), min_size=14, max_size=14), min_size=1, max_size=12))
def test_distinct_rows_are_exact_beyond_64_bits(rows: list[list[int]]) -> None:
    matrix = np.array(rows, dtype=np.int64)
    patterns = distinct_rows(matrix)
    assert sorted(map(tuple, patterns.rows.tolist())) == sorted({tuple(row) for row in rows})
    assert np.array_equal(patterns.rows[patterns.of_item], matrix)


@pytest.mark.parametrize(
    "table",
    [[[100_000, 0], [1, 0]], [[100_000, 1], [0, 0]], [[100_000, 0], [0, 1]], [[0, 1, 0], [0, 15, 0], [0, 1, 0]]],
)
def test_a_rater_with_one_category_and_perfect_agreement_leave_no_error_however_rare_the_other_categories(table):
    assert cohen_kappa(table).se == 0
    assert cohen_kappa(np.transpose(table)).se == 0


tables = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=size, max_size=size)
)


@given(tables, st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_kappa_and_both_errors_are_those_of_the_library(table: list[list[int]], weighting: Weighting) -> None:
    cells = np.array(table)
    assume(min(np.count_nonzero(cells.sum(axis=axis)) for axis in (0, 1)) > 1)
    assume(np.trace(cells) < cells.sum())
    ours = cohen_kappa(cells, weighting)
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs = cohens_kappa(cells, wt=None if weighting == "unweighted" else weighting)
    assert ours.value == pytest.approx(theirs.kappa, abs=1e-9)
    assert ours.se**2 == pytest.approx(theirs.var_kappa, rel=1e-6, abs=1e-12)  # type: ignore[operator]
    assert ours.se_null**2 == pytest.approx(theirs.var_kappa0, rel=1e-6, abs=1e-12)  # type: ignore[operator]


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=6), st.sampled_from(["unweighted", "linear", "quadratic"]))
def test_a_rater_with_one_category_has_a_kappa_of_0_and_no_error(column: list[int], weighting: Weighting) -> None:
    assume(np.count_nonzero(column) > 1)
    table = np.zeros((len(column), len(column)), dtype=np.int64)
    table[:, 0] = column
    kappa = cohen_kappa(table, weighting)
    assert kappa.value == pytest.approx(0, abs=1e-12)
    assert (kappa.se, kappa.se_null) == (0, 0)


def test_an_interval_holds_its_coefficient_where_incomplete_ratings_put_it_below_minus_one() -> None:
    kappa = fleiss_kappa(np.array([[1, 1], [2, 0], *[[1, 0]] * 40])).overall
    interval = kappa.t_interval()
    assert kappa.value is not None
    assert interval is not None
    assert interval[0] <= kappa.value < -1
