"""Three raters: the overall agreement is the mean over pairs, and all printed figures come from one set of ratings."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.audit.generated_tables import SOUND_RULES, Rule, rounded
from misstep.analysis.audit.agreement import Pairs, check_rater_agreement
from misstep.analysis.audit.checks import check_all
from misstep.analysis.published import Figure, load_paper
from misstep.analysis.stats.raters.agreement import cohen_kappa, fleiss_kappa
from misstep.analysis.stats.raters.patterns import category_counts, contingency_table
from misstep.analysis.tables import Unit

PAIRS = ((0, 1), (0, 2), (1, 2))


def figure(printed: str, unit: Unit = "coefficient", **more: object) -> Figure:
    return Figure(id="k", place="Table 2", row="Pears", column="kappa", printed=printed, unit=unit, **more)  # type: ignore[arg-type]


def pairs(n: int, agreements: tuple[str, ...], kappas: tuple[str, ...] = (), labels: int | None = None) -> Pairs:
    return Pairs(
        figure(str(n), "count"),
        None if labels is None else figure(str(labels), "count"),
        tuple(figure(share, "share") for share in agreements),
        tuple(figure(kappa) for kappa in kappas),
    )


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


@given(
    unanimous=st.lists(st.integers(1, 12), min_size=3, max_size=3),
    split=st.lists(st.tuples(*[st.integers(0, 2)] * 3).filter(lambda labels: len(set(labels)) > 1), max_size=4),
    digits=st.integers(2, 3),
    known=st.booleans(),
)
def test_kappas_of_one_set_of_ratings_are_never_called_wrong(unanimous, split, digits, known) -> None:
    agreed = [[label] * 3 for label, count in enumerate(unanimous) for _ in range(count)]
    codes = np.array([*agreed, *map(list, split)])
    kappas = [cohen_kappa(contingency_table(codes[:, one], codes[:, other], 3)).value for one, other in PAIRS]
    fleiss = fleiss_kappa(category_counts(codes, 3)).overall.value
    assert fleiss is not None
    each, _ = shares(codes, 1, "half_up")
    printed = pairs(len(codes), each, tuple(f"{kappa:.{digits}f}" for kappa in kappas), 3 if known else None)
    result = check_rater_agreement(figure(f"{fleiss:.{digits}f}"), printed)
    assert result.status == "underdetermined"
    assert "gave up" not in result.sentence


def test_a_fleiss_kappa_that_no_ratings_print_beside_the_pairs_is_impossible() -> None:
    codes = np.array([[0, 0, 0]] * 20 + [[1, 1, 1]] * 9 + [[0, 1, 1], [1, 1, 0]])
    each, _ = shares(codes, 1, "half_up")
    kappas = tuple(f"{cohen_kappa(contingency_table(codes[:, a], codes[:, b], 2)).value:.3f}" for a, b in PAIRS)
    fleiss = f"{fleiss_kappa(category_counts(codes, 2)).overall.value:.3f}"
    sound = check_rater_agreement(figure(fleiss), pairs(len(codes), each, kappas, 2))
    assert sound.status == "underdetermined"
    assert "all three agree on 29 items, and the three label 1, 0 and 1 alone" in sound.sentence
    wrong = check_rater_agreement(figure("0.750"), pairs(len(codes), each, kappas, 2))
    assert wrong.status == "impossible"
    assert wrong.sentence == (
        f"30, 29 and 30 of 31 agree in pairs, but no ratings of three raters on 2 labels print the kappas "
        f"{kappas[0]}, {kappas[1]}, {kappas[2]} and 0.750 together."
    )


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
        (pairs(50, ("98%",)), "other than three raters"),
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
