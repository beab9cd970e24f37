"""Where raters disagree, which way and by whom: what is planted is found, and what cannot be told says so."""

import pytest
from msgspec import structs

from misstep_analysis.annotation.disagreement import annotation_tables, disagreement, disputes_table, rater_agreement
from misstep_analysis.annotation.plan import AnnotatedStudy
from misstep_analysis.tables.text import table_text
from misstep_harness.annotation import Phase, RaterAnswer

LABELS = ("task", "agent", "infrastructure", "pass")
RATERS = ("ann", "ben", "cho")


def _study(*rows: str, phase: Phase = "independent", after: dict[int, str] | None = None) -> AnnotatedStudy:
    """A study of rows such as `aat`: a letter a rater, `-` where a rater cannot tell."""
    named = {"a": "agent", "t": "task", "i": "infrastructure", "p": "pass", "-": None}
    raters = RATERS[: len(rows[0])]
    answers = [
        RaterAnswer(f"case {number}", rater, phase, named[letter], certainty="high")
        for number, row in enumerate(rows)
        for rater, letter in zip(raters, row, strict=True)
    ]
    for number, row in (after or {}).items():
        answers += [
            RaterAnswer(f"case {number}", rater, "reconciliation", named[letter])
            for rater, letter in zip(raters, row, strict=True)
        ]
    return AnnotatedStudy(tuple(f"case {number}" for number in range(len(rows))), raters, tuple(answers), LABELS)


def _found(study: AnnotatedStudy):
    return disagreement(study, resamples=0)


def test_the_border_at_which_most_disputes_are_comes_first() -> None:
    result = _found(_study("aat", "tta", "aai", "aaa"))
    assert [(one.labels, one.n) for one in result.boundaries] == [
        (("agent", "task"), 2),
        (("agent", "infrastructure"), 1),
    ]
    assert result.boundaries[0].share.value == pytest.approx(2 / 3)
    assert result.disputed == ("case 0", "case 1", "case 2")


def test_a_lean_to_task_is_told_from_a_lean_to_agent() -> None:
    result = _found(_study(*["aat"] * 8, *["aaa"] * 8, "tta", *["ttt"] * 15)).lean
    assert (result.n_to_task, result.n_to_agent) == (8, 1)
    assert (result.to_task.value, result.to_agent.value) == (0.5, 1 / 16)
    assert result.share.value == pytest.approx(8 / 9)
    # Mid-p of 1 of 9: 2 (P(0) + P(1) / 2) = 2 (1 + 4.5) / 512.
    assert result.sign_test.p_value == pytest.approx(11 / 512)
    assert result.rates_test.p_value < 0.05


def test_two_raters_have_no_majority_to_lean_away_from() -> None:
    result = _found(_study("at", "aa", "ta", "at"))
    assert result.lean.share.value is None
    assert "three raters" in result.lean.share.reason
    assert result.raters[0].task_use.value == pytest.approx(-0.25)
    assert result.raters_alike.p_value is None


def test_a_rater_who_stands_apart_is_named() -> None:
    result = _found(_study(*["aat"] * 12, *["aaa"] * 8))
    assert [one.apart.value for one in result.raters] == [0, 0, 0.6]
    assert result.raters[2].task_use.value == pytest.approx(0.6)
    assert result.raters[2].task_use.low > 0
    assert result.raters_alike.p_value < 0.001


def test_labels_of_the_calibration_set_are_compared_and_not_mixed_with_the_others() -> None:
    first, later = _study("aai", "aat", phase="calibration"), _study("aaa", "aaa", "ttt", "tta")
    renamed = tuple(structs.replace(one, item=f"later {one.item}") for one in later.answers)
    study = AnnotatedStudy(
        (*first.items, *(f"later {item}" for item in later.items)), RATERS, (*first.answers, *renamed), LABELS
    )
    result = _found(study)
    assert (result.n, len(result.disputed), result.report.categories) == (4, 1, ["task", "agent"])
    assert [one.unanimous.value for one in result.phases] == [0, 0.75]
    assert result.phases_difference.value == 0.75
    assert len(result.consensus) == 6


def test_reconciliation_is_measured_beside_the_blind_labels_and_changes_none() -> None:
    before = _found(_study("aat", "tta", "ait", "aaa"))
    result = _found(_study("aat", "tta", "ait", "aaa", after={0: "ttt", 1: "ttt", 2: "aat"}))
    assert result.report.fleiss_kappa == before.report.fleiss_kappa
    again = result.reconciled
    assert (again.n, again.settled.value) == (3, pytest.approx(2 / 3))
    assert (again.to_task, again.to_agent) == (3, 0)
    assert again.flows == {("agent", "task"): 3, ("infrastructure", "agent"): 1}
    assert again.majority_changed == 2
    assert [one.how for one in result.consensus] == ["reconciled", "reconciled", "majority", "unanimous"]


def test_subcategories_are_compared_where_the_label_is_agreed_on() -> None:
    study = _study("aaa", "aaa", "aat")
    finer = {"ann": "timeout", "ben": "timeout", "cho": "knowledge_gap"}
    study = structs.replace(
        study, answers=tuple(structs.replace(one, subcategory=finer[one.rater]) for one in study.answers)
    )
    whole, of_agent = _found(study).subcategories
    assert (whole.label, whole.n, whole.agreement) == ("", 2, pytest.approx(1 / 3))
    assert (of_agent.label, of_agent.n) == ("agent", 2)


def test_raw_agreement_of_all_is_over_pairs_with_an_interval_over_cases() -> None:
    result = _found(_study("aaa", "aat", "ttt", "ata"))
    together, *pairs = rater_agreement(result.labels, result.report)
    assert together.agreement.value == pytest.approx(8 / 12)
    assert "4 clusters" in together.agreement.method
    assert [one.agreement.value for one in pairs] == [0.75, 0.75, 0.5]
    assert together.agreement.value == pytest.approx(result.report.percent_agreement)


def test_the_time_for_a_case_is_the_median_of_those_that_were_recorded() -> None:
    study = _study("aaa", "aaa", "aaa")
    times = {"case 0": 60, "case 1": 100, "case 2": 900}
    timed = (structs.replace(one, seconds=times[one.item]) if one.rater == "ann" else one for one in study.answers)
    study = structs.replace(study, answers=tuple(timed))
    result = disagreement(study, resamples=200)
    assert (result.seconds["ann"].value, result.seconds["ben"].value) == (100, None)
    assert any(table.name == "seconds" for table in annotation_tables(result, "made up"))


@pytest.mark.parametrize(
    "study",
    [_study("a"), _study("a-", "--"), _study("aa", phase="calibration"), _study("aaa"), _study("---", "aaa")],
    ids=["one rater", "few", "calibration only", "one case", "cannot tell"],
)
def test_a_study_with_little_in_it_says_what_cannot_be_told(study: AnnotatedStudy) -> None:
    text = "\n".join(table_text(table) for table in annotation_tables(_found(study), "made up"))
    assert "nan" not in text.lower().split()
    assert table_text(disputes_table(study, "made up"))


def test_a_planted_lean_is_found() -> None:
    result = _found(_study(*["aat"] * 24, *["tta"] * 3, *["aaa"] * 60, *["ttt"] * 13))
    assert result.lean.sign_test.p_value < 0.001
    assert result.lean.share.value == pytest.approx(24 / 27)
