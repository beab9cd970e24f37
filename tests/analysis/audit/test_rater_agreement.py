"""Three raters: the overall agreement is the mean over pairs, and Fleiss' kappa is never greater."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from misstep_analysis.audit.checks import Pairs, check_all, check_rater_agreement
from misstep_analysis.published import Figure, load_paper
from misstep_analysis.stats.raters.agreement import fleiss_kappa
from misstep_analysis.stats.raters.patterns import category_counts
from misstep_analysis.tables import Unit
from tests.analysis.audit.printing import SOUND_RULES, Rule, rounded

PAIRS = ((0, 1), (0, 2), (1, 2))


def figure(printed: str, unit: Unit = "coefficient", **more: object) -> Figure:
    return Figure(id="k", place="Table 2", row="Pears", column="kappa", printed=printed, unit=unit, **more)  # type: ignore[arg-type]


def pairs(n: int, agreements: tuple[str, ...]) -> Pairs:
    return Pairs(figure(str(n), "count"), tuple(figure(share, "share") for share in agreements))


def shares(codes: np.ndarray, digits: int, rule: Rule) -> tuple[tuple[str, ...], str]:
    """The agreement of each pair, and overall, as printed."""
    alike = [int((codes[:, one] == codes[:, other]).sum()) for one, other in PAIRS]
    printed = [f"{rounded(Fraction(100 * count, len(codes)), digits, rule)}%" for count in alike]
    return tuple(printed), f"{rounded(Fraction(100 * sum(alike), 3 * len(codes)), digits, rule)}%"


RATINGS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=60).map(np.array)


@settings(deadline=None)
@given(codes=RATINGS, digits=st.integers(1, 3), rule=st.sampled_from(SOUND_RULES))
def test_the_agreement_of_any_three_raters_is_reproduced(codes: np.ndarray, digits: int, rule: Rule) -> None:
    each, overall = shares(codes, digits, rule)
    assert check_rater_agreement(figure(overall, "share"), pairs(len(codes), each)).status == "reproduced"


@settings(deadline=None)
@given(codes=RATINGS, digits=st.integers(1, 3), rule=st.sampled_from(SOUND_RULES))
def test_the_fleiss_kappa_of_any_three_raters_is_never_called_wrong(codes: np.ndarray, digits: int, rule: Rule) -> None:
    kappa = fleiss_kappa(category_counts(codes, 4)).overall.value
    assume(kappa is not None)
    each, _ = shares(codes, digits, rule)
    result = check_rater_agreement(figure(rounded(Fraction(kappa), digits, rule)), pairs(len(codes), each))
    assert result.status == "underdetermined"


def test_pairs_whose_disagreements_cannot_go_together_are_impossible() -> None:
    result = check_rater_agreement(figure("90.0%", "share"), pairs(50, ("98%", "98%", "74%")))
    assert result.status == "impossible"
    assert (
        result.sentence == "No three raters disagree in pairs on 1, 1 and 13 of 50 items: the three cannot go together."
    )


def test_an_overall_agreement_that_is_not_the_mean_differs() -> None:
    result = check_rater_agreement(figure("93.0%", "share"), pairs(50, ("98%", "96%", "94%")))
    assert result.status == "differs"
    assert result.sentence == "(49 + 48 + 47) / 150 comparisons is 96.0%, not 93.0%."


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (pairs(0, ("98%", "96%", "94%")), "How many items"),
        (pairs(50, ("98%", "96%")), "each pair"),
        (pairs(50, ()), "each pair"),
        (pairs(100_000, ("98%", "96%", "94%")), "too many"),
        (pairs(50, ("98%",)), "how often each rater used each label"),
    ],
)
def test_what_the_figures_do_not_say_is_told(printed: Pairs, reason: str) -> None:
    result = check_rater_agreement(figure("0.9"), printed)
    assert result.status == "underdetermined"
    assert reason in result.sentence


def test_a_share_that_no_count_prints_is_impossible() -> None:
    assert check_rater_agreement(figure("95%", "share"), pairs(50, ("98%", "96%", "93.1%"))).status == "impossible"


def test_the_annotators_of_autotriage_have_ratings_that_print_all_their_figures() -> None:
    results = {
        (figure.id, checked.check): checked.status
        for figure, checked in check_all(load_paper("autotriage"))
        if figure.id.startswith("annotation.")
    }
    assert results["annotation.fleiss.agreement", "rater_agreement"] == "reproduced"
    assert results["annotation.fleiss.kappa", "rater_agreement"] == "underdetermined"
    assert {results[f"annotation.{pair}.kappa", "kappa"] for pair in ("a1a2", "a1a3", "a2a3")} == {"underdetermined"}
