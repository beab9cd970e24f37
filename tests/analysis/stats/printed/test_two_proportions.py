"""Two independent proportions: what ties the tests together, and if there is nothing to test."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.stats.printed import two_proportions
from misstep_analysis.stats.printed.two_proportions import fisher_exact, newcombe, pooled_z
from misstep_analysis.stats.proportions import wilson
from misstep_harness.errors import UsageError

SIZES = st.integers(1, 40)
FUNCTIONS = [pooled_z, fisher_exact, newcombe]


@st.composite
def samples(draw: st.DrawFn) -> tuple[int, int, int, int]:
    n1, n2 = draw(SIZES), draw(SIZES)
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


def test_without_variation_there_is_no_z() -> None:
    assert pooled_z(0, 5, 0, 7).reason == two_proportions.NO_VARIATION


@given(samples())
def test_newcombes_interval_is_made_of_the_wilson_limits(counts: tuple[int, int, int, int]) -> None:
    x1, n1, x2, n2 = counts
    one, other, difference = wilson(x1, n1), wilson(x2, n2), newcombe(*counts)
    down = ((one.value - one.low) ** 2 + (other.high - other.value) ** 2) ** 0.5
    up = ((one.high - one.value) ** 2 + (other.value - other.low) ** 2) ** 0.5
    assert difference.low == pytest.approx(max(-1, difference.value - down), abs=1e-12)
    assert difference.high == pytest.approx(min(1, difference.value + up), abs=1e-12)
    assert difference.low < difference.high


def test_an_odds_ratio_that_is_undefined_says_why_and_keeps_its_p_value() -> None:
    assert (fisher_exact(0, 5, 0, 7).statistic, fisher_exact(0, 5, 0, 7).p_value) == (None, 1.0)
    assert "0/0" in fisher_exact(0, 5, 0, 7).reason
    assert "infinite" in fisher_exact(5, 5, 0, 7).reason


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("counts", [(0, 0, 1, 2), (1, 2, 0, 0), (3, 2, 1, 2), (1, 2, -1, 2)])
def test_a_sample_that_cannot_be_is_refused(function, counts) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        function(*counts)
