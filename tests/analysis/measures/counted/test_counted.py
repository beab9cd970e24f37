"""Figures from whole counts are those of the records that were counted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from misstep.analysis.gold import GoldLabel
from misstep.analysis.measures.counted.report import (
    counted_judges,
    counted_prevalence,
    counted_strata,
    counted_systems,
    counted_times,
)
from misstep.analysis.measures.judging.calibration.calibrated_scores import calibrated_scores
from misstep.analysis.measures.judging.calibration.reliability import reliability
from misstep.analysis.measures.judging.sample import judged_sample
from misstep.analysis.measures.judging.scores import score
from misstep.analysis.measures.passing.attempts import PassAttempts, SystemAttempts, TaskCounts
from misstep.analysis.measures.passing.scores import pass_report
from misstep.analysis.measures.prevalence import prevalence
from misstep.analysis.stats.estimate import Estimate
from misstep.harness.records.whole_counts import (
    AskedItems,
    Counts,
    GoldAnswer,
    ScoreBin,
    TaskAttempts,
    TimeBin,
    category_sets,
    score_bin,
    summed,
    time_bin,
)
from misstep.harness.verdict import Verdict

SESSIONS = st.dictionaries(
    st.tuples(*[st.sampled_from(["yes", "no", None])] * 2), st.integers(1, 9), min_size=1, max_size=6
)


@given(SESSIONS, SESSIONS)
def test_prevalence_is_that_of_all_sessions_and_of_each_stratum(first, second) -> None:
    categories = ("loops", "no_plan")
    rows = [category_sets(categories, patterns, "model", model) for model, patterns in (("a", first), ("b", second))]
    counts = summed(Counts(sessions=each) for each in rows)
    together = {labels: first.get(labels, 0) + second.get(labels, 0) for labels in first | second}
    assert counted_prevalence(counts.sessions) == prevalence(categories, together)
    assert counted_strata(counts.sessions)["model"] == {
        "a": prevalence(categories, first),
        "b": prevalence(categories, second),
    }


def test_a_category_that_one_machine_did_not_look_for_is_no_no_there() -> None:
    sessions = (*category_sets(("a",), {("yes",): 3}), *category_sets(("a", "b"), {("no", "no"): 2}))
    by_name = {one.category: one for one in counted_prevalence(sessions).categories}
    assert (by_name["b"].answered, by_name["b"].abstained) == (2, 3)


LABELS = ("bug", "fine", "odd")
ITEM = st.tuples(
    st.sampled_from([*LABELS, None]),
    st.sampled_from([*LABELS, "else", None]),
    st.sampled_from([None, 0.0, 0.5, 0.85, 0.999, 1.0]),
)


@given(st.lists(ITEM, min_size=4, max_size=40).filter(lambda items: any(gold for gold, _, _ in items)))
def test_the_scores_of_a_judge_are_those_of_its_verdicts(items) -> None:
    verdicts = [
        Verdict(str(place), "j", label, "answered" if label else "refused", certain)
        for place, (_, label, certain) in enumerate(items)
    ]
    gold = [GoldLabel(str(place), "ann", label) for place, (label, _, _) in enumerate(items) if label]
    counts = summed(_counted(label, one) for (label, _, _), one in zip(items, verdicts, strict=True))
    (result,) = counted_judges(counts, resamples=50)
    expected = score(verdicts, gold, LABELS, resamples=50)
    for name in ("n", "answered", "refused", "accuracy", "accuracy_all", "cohen_kappa", "cohen_kappa_all", "confusion"):
        assert getattr(result, name) == getattr(expected, name)
    assert result.labels == expected.labels
    assert result.without_gold == expected.unlabelled
    ranking = reliability(judged_sample(verdicts, gold, LABELS)).ranking
    assert _close(result.ranking, ranking)


def _counted(gold: str | None, verdict: Verdict) -> Counts:
    scored = ()
    if gold is not None and verdict.label is not None:
        scored = (ScoreBin("j", gold, verdict.label, score_bin(verdict.score), 1),)
    return Counts(
        asked=(AskedItems("j", LABELS, "real", 1),),
        answers=(GoldAnswer("j", gold, verdict.label, verdict.status, 1),),
        scores=scored,
    )


def _close(result: Estimate, expected: Estimate) -> bool:
    if expected.value is None:
        return result.value is None
    both = [(getattr(result, name), getattr(expected, name)) for name in ("value", "low", "high")]
    return all(one == other or one == pytest.approx(other) for one, other in both)


def test_a_label_is_ranked_as_from_the_scores_of_each_item() -> None:
    rng = np.random.default_rng(0)
    gold = rng.choice(LABELS, 60).tolist()
    answers = [one if rng.random() < 0.7 else str(rng.choice(LABELS)) for one in gold]
    verdicts = [
        Verdict(str(place), "j", label, score=float(rng.choice([0.3, 0.7, 0.9]))) for place, label in enumerate(answers)
    ]
    counts = summed(_counted(label, one) for label, one in zip(gold, verdicts, strict=True))
    result = counted_judges(counts, resamples=50)[0].by_label["bug"]
    rows = [GoldLabel(str(place), "ann", label) for place, label in enumerate(gold)]
    expected = calibrated_scores(verdicts, rows, "bug", LABELS, (), resamples=50)
    assert result.n == expected.n
    assert _close(result.ranking, expected.ranking)
    assert result.average_precision.value == pytest.approx(expected.average_precision.value)


TASKS = st.lists(st.builds(TaskCounts, *[st.integers(0, 3)] * 3), min_size=1, max_size=20).filter(
    lambda tasks: all(one.attempts for one in tasks)
)


@given(TASKS)
def test_chances_of_k_attempts_are_those_of_the_tasks(tasks: list[TaskCounts]) -> None:
    counts = summed(
        Counts(tasks=(TaskAttempts("s", "generated", one.passed, one.failed, one.unanswered, 1),)) for one in tasks
    )
    (result,) = counted_systems(counts.tasks, (1, 2), resamples=100)
    named = PassAttempts((SystemAttempts("s", {str(place): one for place, one in enumerate(tasks)}),))
    (expected,) = pass_report(named, (1, 2), resamples=100).systems
    assert (result.n_tasks, result.n_attempts, result.answered) == (len(tasks), expected.n_attempts, expected.answered)
    assert result.evidence == "generated"
    for mine, theirs in zip((*result.at, *result.at_all), (*expected.at, *expected.at_all), strict=True):
        assert (mine.k, mine.n_tasks) == (theirs.k, theirs.n_tasks)
        assert _close(mine.pass_at_k, theirs.pass_at_k)
        assert _close(mine.pass_hat_k, theirs.pass_hat_k)
    for one, other in ((result.flicker, expected.flicker), (result.flicker_all, expected.flicker_all)):
        assert one == structs.replace(other, tasks=(), left_out=())


@given(st.lists(st.floats(0, 3e6), min_size=1, max_size=80))
@settings(deadline=None)
def test_a_quantile_lies_between_the_edges_that_are_given_for_it(seconds: list[float]) -> None:
    bins = [TimeBin("j", time_bin(one), 1) for one in seconds]
    (result,) = counted_times(summed(Counts(times=(one,)) for one in [*bins, TimeBin("j", None, 2)]).times)
    assert (result.n, result.unknown) == (len(seconds), 2)
    for one in result.quantiles:
        quantile = float(np.quantile(seconds, one.share, method="inverted_cdf"))
        assert one.interval_least <= one.least <= round(quantile, 6)
        if one.below is not None:
            assert round(quantile, 6) < one.below
            assert one.interval_below is None or one.below <= one.interval_below
