"""P-values of two proportions: a usual test raises no alarm, a wrong figure does, missing sizes are worked out."""

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import barnard_exact, boschloo_exact, chi2, chi2_contingency, hypergeom, norm
from scipy.stats import fisher_exact as fisher
from statsmodels.stats.contingency_tables import Table2x2
from statsmodels.stats.proportion import proportion_effectsize

from misstep_analysis.audit import p_values
from misstep_analysis.audit.p_values import check_stars, check_two_proportion_p, implied_arm_size
from misstep_analysis.audit.rounding_boxes import Checked
from misstep_analysis.published import Figure
from misstep_analysis.stats.printed.two_proportions import fisher_exact, pooled_z
from misstep_analysis.stats.printed.usual_tests import QuickTest, unpooled_p_values, yates_p_values
from misstep_analysis.stats.significance import Significance
from misstep_analysis.tables import Unit


def of_arrays(test: QuickTest) -> Callable[[int, int, int, int], Significance]:
    """A test of arrays, which the tests of `usual_tests` compare with libraries, on one pair of counts."""

    def one(*counts: int) -> Significance:
        p_value = float(test(*counts))
        return Significance(None, None if math.isnan(p_value) else p_value)

    return one


TESTS: dict[str, Callable[[int, int, int, int], Significance]] = {
    "two-proportion z, pooled": pooled_z,
    "two-proportion z, unpooled": of_arrays(unpooled_p_values),
    "chi-squared, Yates' correction": of_arrays(yates_p_values),
    "Fisher's exact, two-sided": fisher_exact,
}
RARER: dict[str, Callable[[int, int, int, int], float]] = {
    "G-test": lambda *counts: chi2_contingency(table(*counts), correction=False, lambda_="log-likelihood").pvalue,
    "chi-squared with N - 1": lambda x1, n1, x2, n2: chi2.sf(
        chi2_contingency(table(x1, n1, x2, n2), correction=False).statistic * (n1 + n2 - 1) / (n1 + n2), 1
    ),
    "Fisher's exact, mid-p": lambda x1, n1, x2, n2: (
        fisher(table(x1, n1, x2, n2)).pvalue - hypergeom.pmf(x1, n1 + n2, x1 + x2, n1) / 2
    ),
    "Fisher's exact, one-sided doubled": lambda *counts: (
        2 * min(fisher(table(*counts), alternative=one).pvalue for one in ("less", "greater"))
    ),
    "arcsine test, Cohen's h": lambda x1, n1, x2, n2: (
        2 * norm.sf(abs(proportion_effectsize(x1 / n1, x2 / n2)) / math.sqrt(1 / n1 + 1 / n2))
    ),
    "Wald test of the log odds ratio": lambda *counts: Table2x2(np.array(table(*counts))).log_oddsratio_pvalue(),
    "Barnard's exact": lambda *counts: barnard_exact(columns(*counts)).pvalue,
    "Boschloo's exact": lambda *counts: boschloo_exact(columns(*counts)).pvalue,
}
SIZES = st.integers(2, 4_000)


def table(x1: int, n1: int, x2: int, n2: int) -> list[list[int]]:
    return [[x1, n1 - x1], [x2, n2 - x2]]


def columns(x1: int, n1: int, x2: int, n2: int) -> list[list[int]]:
    return [[x1, x2], [n1 - x1, n2 - x2]]


def figure(printed: str, unit: Unit = "p", column: str = "p") -> Figure:
    return Figure(id="p", place="Table 9", row="Apples", column=column, printed=printed, unit=unit)


def of_counts(printed: Figure, x1: int, n1: int, x2: int, n2: int) -> Checked:
    counts, sizes = [tuple(figure(str(count), "count") for count in pair) for pair in ((x1, x2), (n1, n2))]
    return check_two_proportion_p(printed, counts, sizes, (None, None))


def of_shares(printed: Figure, shares: tuple[str, str], sizes: tuple[int, int] | None) -> Checked:
    known = (None, None) if sizes is None else tuple(figure(str(size), "count") for size in sizes)
    return check_two_proportion_p(printed, (None, None), known, tuple(figure(share, "share") for share in shares))


def as_printed(p_value: float, digits: int, rule: str) -> str:
    return f"{Decimal(p_value).quantize(Decimal(1).scaleb(-digits), rule):f}"


@given(
    n1=SIZES,
    n2=SIZES,
    data=st.data(),
    name=st.sampled_from(sorted(TESTS)),
    digits=st.integers(2, 4),
    rule=st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN]),
    from_shares=st.booleans(),
)
def test_the_p_value_of_any_usual_test_raises_no_alarm(n1, n2, data, name, digits, rule, from_shares) -> None:
    x1 = data.draw(st.integers(0, n1))
    x2 = data.draw(st.integers(0, n2))
    p_value = TESTS[name](x1, n1, x2, n2).p_value
    assume(p_value is not None)
    assert p_value is not None
    printed = figure("<0.001" if p_value < 0.001 else as_printed(p_value, digits, rule))
    if from_shares:
        shares = as_printed(100 * x1 / n1, 2, rule) + "%", as_printed(100 * x2 / n2, 2, rule) + "%"
        result = of_shares(printed, shares, (n1, n2))
    else:
        result = of_counts(printed, x1, n1, x2, n2)
    assert result.status in ("reproduced", "underdetermined"), result.explanation


@pytest.mark.parametrize("name", sorted(TESTS))
def test_the_sentence_names_the_test_that_prints_the_figure(name: str) -> None:
    p_value = TESTS[name](3, 20, 9, 21).p_value
    result = of_counts(figure(f"{p_value:.4f}"), 3, 20, 9, 21)
    assert result.status == "reproduced"
    assert name in result.sentence


@pytest.mark.parametrize("counts", [(3, 20, 9, 21), (17, 60, 31, 62), (2, 31, 11, 40)])
@pytest.mark.parametrize("name", sorted(RARER))
def test_the_p_value_of_a_rarer_test_is_reproduced_and_the_test_named(name, counts) -> None:
    result = of_counts(figure(f"{RARER[name](*counts):.6f}"), *counts)
    assert result.status == "reproduced", result.explanation
    assert name in result.sentence


def test_rarer_tests_are_named_only_where_no_usual_one_prints_the_figure() -> None:
    pooled = pooled_z(17, 60, 31, 62).p_value
    assert not [name for name in RARER if name in of_counts(figure(f"{pooled:.2f}"), 17, 60, 31, 62).sentence]


def test_a_sentence_names_three_tests_at_most() -> None:
    sentence = of_counts(figure("0.5"), 4_990, 10_000, 5_040, 10_000).sentence
    assert sentence.count("two-proportion z") + sentence.count("chi-squared") <= 3


def test_the_slowest_tests_are_asked_of_few_small_samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def counting(*counts: int) -> float:
        asked.append((counts[1], counts[3]))
        return 2.0

    monkeypatch.setattr(p_values, "UNCONDITIONAL", dict.fromkeys(p_values.UNCONDITIONAL, counting))
    of_counts(figure("0.777"), 300, 5_000, 400, 5_000)
    assert asked == []
    of_shares(figure("0.77777"), ("10%", "40%"), (150, 150))
    assert 0 < len(asked) <= 6


def test_an_exact_p_value_in_one_direction_is_recognised_where_the_figure_says_so() -> None:
    p_value = fisher(table(3, 20, 9, 21), alternative="less").pvalue
    result = of_counts(figure(f"{p_value:.6f}", column="p (one-sided)"), 3, 20, 9, 21)
    assert (result.status, "Fisher's exact, one-sided" in result.sentence) == ("reproduced", True)


def test_every_usual_test_that_prints_the_figure_is_named() -> None:
    result = of_counts(figure("< 0.01"), 300, 1000, 400, 1000)
    assert "so does two-proportion z, unpooled and chi-squared" in result.sentence


def test_half_the_p_value_differs_and_a_one_sided_test_is_suggested() -> None:
    half = (pooled_z(30, 100, 42, 100).p_value or 0) / 2
    result = of_counts(figure(f"{half:.4f}"), 30, 100, 42, 100)
    assert (result.status, result.suggestion) == ("differs", f"a one-sided test gives {half:.4f}")


def test_a_p_value_that_is_called_one_sided_is_halved() -> None:
    p_value = pooled_z(30, 100, 42, 100).p_value or 0
    assert of_counts(figure(f"{p_value / 2:.4f}", column="p (one-sided)"), 30, 100, 42, 100).status == "reproduced"
    result = of_counts(figure(f"{p_value:.4f}", column="p (one-sided)"), 30, 100, 42, 100)
    assert (result.status, result.suggestion) == ("differs", f"a two-sided test gives {p_value:.4f}")


def test_no_variation_has_no_p_value_and_a_number_above_1_is_none() -> None:
    assert of_counts(figure("0.5"), 0, 10, 0, 12).status == "underdetermined"
    assert of_counts(figure("1.2"), 3, 10, 4, 12).status == "impossible"


def test_shares_that_allow_very_many_counts_are_bounded_by_their_corners() -> None:
    shares, sizes = ("30%", "31%"), (100_000, 90_000)
    assert of_shares(figure("0.9"), shares, sizes).status in ("reproduced", "underdetermined")
    assert of_shares(figure("0.04"), ("30%", "60%"), sizes).status == "differs"


@given(size=st.integers(20, 50_000), first=st.floats(0.02, 0.6), gap=st.floats(0.02, 0.35))
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much])  # most large arms differ too clearly
def test_the_arm_size_that_made_a_p_value_lies_in_the_implied_range(size: int, first: float, gap: float) -> None:
    x1, x2 = round(first * size), round((first + gap) * size)
    p_value = pooled_z(x1, size, x2, size).p_value
    assume(p_value is not None and 1e-4 < p_value < 1 and x1 < x2)
    shares = [figure(f"{100 * x / size:.2f}%", "share") for x in (x1, x2)]
    implied = implied_arm_size(figure(f"{p_value:.5f}"), shares)
    assume(implied is not None)
    assert implied.low <= size <= implied.high


def test_a_p_value_printed_as_a_limit_bounds_the_arms_on_one_side() -> None:
    shares = (figure("10.0%", "share"), figure("15.0%", "share"))
    below, above = implied_arm_size(figure("<0.01"), shares), implied_arm_size(figure(">0.05"), shares)
    assert below.words.startswith("at least")
    assert math.isinf(below.high)
    assert above.low == 0
    assert below.at_printed is above.at_printed is None


def test_without_sizes_the_sentence_says_which_equal_arms_would_give_the_p_value() -> None:
    result = of_shares(figure("0.030"), ("10.0%", "15.0%"), None)
    assert result.status == "underdetermined"
    assert "with equal arms, p = 0.030 by the pooled z test needs" in result.sentence
    assert "needs" not in of_shares(figure("0.97"), ("10.0%", "10.0%"), None).sentence


LEGEND = {"one": figure("<0.05"), "two": figure("<0.01")}


@pytest.mark.parametrize(
    ("printed", "p_value", "status"),
    [
        ("-4.2%*", "0.014", "reproduced"),
        ("-4.2%**", "0.014", "differs"),
        ("-4.2%", "0.014", "differs"),
        ("-4.2%**", "<0.01", "reproduced"),
        ("-4.2%", "0.073", "reproduced"),
        ("-4.2%", "0.05", "reproduced"),
        ("-4.2%*", "0.05", "reproduced"),
        ("-4.2%*", ">0.05", "differs"),
    ],
)
def test_stars_are_those_that_the_p_value_earns_by_the_legend(printed: str, p_value: str, status: str) -> None:
    assert check_stars(figure(printed, "share"), figure(p_value), LEGEND).status == status


def test_stars_without_a_p_value_or_a_legend_are_underdetermined() -> None:
    assert check_stars(figure("5%*", "share"), None, LEGEND).status == "underdetermined"
    assert check_stars(figure("5%*", "share"), figure("0.01"), {}).status == "underdetermined"
