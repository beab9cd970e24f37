"""Which whole counts a printed percentage allows."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.printed.audit import counts_that_print, denominators_that_print, prints_as, steps_that_print


@given(n=st.integers(1, 5000), data=st.data(), places=st.integers(0, 3))
def test_a_count_is_among_those_that_its_own_rounded_percentage_allows(n, data, places) -> None:
    count = data.draw(st.integers(0, n))
    printed = f"{100 * count / n:.{places}f}"
    if prints_as(count, n, printed):  # binary rounding of an exact tie may print neither rule's digits
        assert count in counts_that_print(printed, n)


@given(n=st.integers(1, 300), printed=st.decimals(0, 100, places=1).map(str))
def test_all_counts_that_print_the_percentage_are_found_and_no_other(n: int, printed: str) -> None:
    every = tuple(count for count in range(n + 1) if prints_as(count, n, printed))
    assert tuple(counts_that_print(printed, n)) == every


@given(n=st.integers(1, 300), items=st.integers(1, 4), data=st.data())
def test_a_sum_is_among_those_that_its_own_rounded_mean_allows(n: int, items: int, data: st.DataObject) -> None:
    steps = data.draw(st.integers(-5 * n * items, 5 * n * items))
    mean = Fraction(steps, n * items)
    printed = str((Decimal(mean.numerator) / Decimal(mean.denominator)).quantize(Decimal("0.01"), ROUND_HALF_UP))
    assert steps in steps_that_print(printed, Fraction(1, n * items))


def test_a_tie_is_printed_up_or_to_the_even_neighbour() -> None:
    assert counts_that_print("13", 8) == counts_that_print("12", 8) == range(1, 2)
    assert not counts_that_print("37", 8)


def test_only_denominators_that_can_give_the_percentage_are_listed() -> None:
    assert denominators_that_print("33.3", 7) == {3: range(1, 2), 6: range(2, 3)}
