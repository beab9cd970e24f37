"""Precision, recall and their kin on 2 x 2 tables."""

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats import diagnostic
from misstep_analysis.stats.diagnostic import Confusion, count_confusion


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_the_counts_add_up_to_the_items(pairs: list[tuple[bool, bool]]) -> None:
    table = count_confusion([gold for gold, _ in pairs], [answer for _, answer in pairs])
    assert table.n == len(pairs)
    assert table.tp + table.fn == sum(gold for gold, _ in pairs)
    assert table.tp + table.fp == sum(answer for _, answer in pairs)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_what_is_defined_lies_within_its_interval(tp: int, fp: int, fn: int, tn: int) -> None:
    for share in (diagnostic.precision, diagnostic.recall):
        estimate = share(Confusion(tp, fp, fn, tn))
        if estimate.value is None:
            assert estimate.reason
        else:
            assert estimate.low - 1e-12 <= estimate.value <= estimate.high + 1e-12
