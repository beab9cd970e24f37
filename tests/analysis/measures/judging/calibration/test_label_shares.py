"""Without gold labels there is the share of each label, and no accuracy."""

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.judging.assessment import assess, assessment_tables
from misstep.harness.verdict import Verdict

VERDICTS = [Verdict(f"i{place}", "judge", "yes" if place < 3 else "no") for place in range(12)]
VERDICTS += [Verdict("i12", "judge", None, "failed")]


def _assess(gold: list[GoldLabel]):
    return assess(VERDICTS, gold, ("no", "yes"), judge="judge", benchmark="mine", positive="yes", resamples=10)


def test_the_shares_are_of_the_answered_and_the_label_that_is_looked_for_comes_first() -> None:
    found = _assess([]).given
    assert (found.answered, found.unanswered, found.labelled) == (12, 1, 0)
    assert [(label, share.value, share.n) for label, share in found.shares.items()] == [
        ("yes", 0.25, 12),
        ("no", 0.75, 12),
    ]


def test_without_gold_labels_the_finding_is_the_share_and_no_table_scores_anything() -> None:
    assessment = _assess([])
    names = [table.name for table in assessment_tables(assessment, "mine")]
    assert names[0] == "label_shares"
    assert not {"scores", "bias", "prevalence"} & set(names)
    finding = assessment_tables(assessment, "mine")[0].finding
    assert finding.startswith("judge says “yes” of 25.0% (95% interval ")
    assert "how often it is right is not known" in finding


def test_with_some_gold_labels_the_scores_come_first_and_the_share_is_corrected() -> None:
    assessment = _assess([GoldLabel(f"i{place}", "kim", "yes" if place < 2 else "no") for place in range(6)])
    names = [table.name for table in assessment_tables(assessment, "mine")]
    assert (names[0], "prevalence" in names) == ("scores", True)
    assert assessment.scores.accuracy.n == 6
