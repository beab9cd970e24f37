"""A judge's grades beside people's: the figures are scikit-learn's and scipy's, and none where there is no order."""

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.assessment import assess, assessment_document, assessment_tables
from misstep_analysis.judging.grades import graded, nearer_sentences
from misstep_analysis.judging.sample import JudgedSample, judged_sample
from misstep_harness.verdict import Verdict

SCALE = ("1", "2", "3", "4", "5")


def sample(gold: list[str], answers: list[str | None], labels: tuple[str, ...] = SCALE) -> JudgedSample:
    return judged_sample(verdicts(answers), of_people(gold), labels, level="ordinal")


def verdicts(answers: list[str | None]) -> list[Verdict]:
    return [
        Verdict(str(item), "judge", answer, status="failed" if answer is None else "answered")
        for item, answer in enumerate(answers)
    ]


def of_people(gold: list[str]) -> list[GoldLabel]:
    return [GoldLabel(str(item), "ann", label) for item, label in enumerate(gold)]


def drawn(seed: int, scale: tuple[str, ...], n: int = 60) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, len(scale), n)
    answers = np.clip(gold + rng.integers(-2, 3, n), 0, len(scale) - 1)
    return [scale[place] for place in gold], [scale[place] for place in answers]


@pytest.mark.parametrize("scale", [SCALE, ("0", "1", "2", "3", "4", "5", "6"), ("-1", "0", "1"), ("5", "4", "3", "1")])
@pytest.mark.parametrize("seed", [0, 1])
def test_figures_are_those_of_other_software(scale: tuple[str, ...], seed: int) -> None:
    gold, answers = drawn(seed, scale)
    grades = graded(sample(gold, list(answers), scale), 200)
    first, second = (np.array(list(map(int, of))) for of in (gold, answers))
    whole = np.arange(min(map(int, scale)), max(map(int, scale)) + 1)
    assert grades.weighted_kappa.value == pytest.approx(
        cohen_kappa_score(first, second, weights="quadratic", labels=whole)
    )
    assert grades.rank_correlation.value == pytest.approx(kendalltau(first, second).statistic)
    assert grades.within_one.value == np.mean(np.abs(first - second) <= 1)
    for one in (grades.weighted_kappa, grades.rank_correlation):
        assert one.low is not None
        assert one.high is not None
        assert one.low < (one.value or 0) < one.high


def test_words_in_an_order_are_their_places() -> None:
    gold, answers = drawn(3, ("low", "mid", "high", "top"))
    numbered = [[str(("low", "mid", "high", "top").index(label)) for label in of] for of in (gold, answers)]
    of_words = graded(sample(gold, list(answers), ("low", "mid", "high", "top")), 50)
    assert of_words == graded(sample(numbered[0], list(numbered[1]), ("0", "1", "2", "3")), 50)


def test_an_item_without_an_answer_or_with_no_grade_is_not_counted() -> None:
    grades = graded(sample(["1", "5", "3", "2"], ["2", None, "x", "2"]), 50)
    assert (grades.within_one.value, grades.within_one.n, grades.mean_distance.value) == (1.0, 2, 0.5)


@pytest.mark.parametrize(
    ("gold", "answers", "reason"),
    [(["3", "3"], ["3", "3"], "all alike"), (["1", "2"], [None, None], "no item with a gold label was answered")],
)
def test_what_is_undefined_says_why(gold: list[str], answers: list[str | None], reason: str) -> None:
    grades = graded(sample(gold, answers), 50)
    assert grades.rank_correlation.value is None
    assert reason in grades.rank_correlation.reason


def test_a_benchmark_of_grades_is_headed_by_them_and_one_of_names_has_none() -> None:
    gold, answers = drawn(5, SCALE)
    of = {
        "ordinal": assess(verdicts(list(answers)), of_people(gold), SCALE, level="ordinal"),
        "nominal": assess(verdicts(list(answers)), of_people(gold), SCALE),
    }
    table = assessment_tables(of["ordinal"], "grades.csv")[0]
    assert "within one grade of people's" in table.finding
    assert "weighted kappa (quadratic) is" in table.finding
    assert "Always answering" not in table.finding
    assert "Always answering" in assessment_tables(of["nominal"], "grades.csv")[0].finding
    assert set(assessment_document(of["ordinal"])["grades"]) == {
        "weighted_kappa", "within_one", "rank_correlation", "mean_distance",
    }  # fmt: skip
    assert "grades" not in assessment_document(of["nominal"])


def test_of_two_judges_the_nearer_is_named_with_its_interval() -> None:
    gold = ["1", "2", "3", "4", "5"] * 4
    near, far = list(gold), ["3"] * 20
    [sentence] = nearer_sentences({"far": sample(gold, far), "near": sample(gold, near)})
    assert sentence.startswith("near is 1.2 grades nearer to people's than far on 20 items (95% interval 0.")
    [same] = nearer_sentences({"a": sample(gold, near), "b": sample(gold, near)})
    assert same.startswith("a and b are equally near")
    [none] = nearer_sentences({"a": sample(gold, [None] * 20), "b": sample(gold, near)})
    assert none == "a and b cannot be compared: no item was graded by both."
