"""The scores of a judge: over the answered, and with the unanswered against it; missing never becomes a label."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.sample import clusters_of, majority
from misstep_analysis.judging.scores import Scores, score
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.stats.raters.agreement import cohen_kappa
from misstep_harness.errors import InputError, UsageError
from misstep_harness.verdict import Status, Verdict

YES_NO = ("yes", "no")


def verdict(item: str, label: str | None, status: Status = "answered", judge: str = "strict") -> Verdict:
    return Verdict(item, judge, label, status if label is None else "answered")


def run(pairs: Sequence[tuple[str, str | None]], labels: Sequence[str] = YES_NO, **options: object) -> Scores:
    """Scores of (gold label, answer) pairs, an item a pair; an answer of `None` is unreadable."""
    verdicts = [verdict(str(place), answer, "unreadable") for place, (_, answer) in enumerate(pairs)]
    gold = [GoldLabel(str(place), "rater", label) for place, (label, _) in enumerate(pairs)]
    return score(verdicts, gold, labels, resamples=200, **options)  # type: ignore[arg-type]


MIXED = [("yes", "yes")] * 6 + [("yes", "no")] * 2 + [("no", "no")] * 9 + [("no", "yes")] + [("yes", None)] * 2


def test_accuracy_is_over_the_answered_and_again_with_the_unanswered_as_wrong() -> None:
    scores = run(MIXED)
    assert (scores.n, scores.answered, scores.unreadable) == (20, 18, 2)
    assert scores.accuracy == wilson(15, 18)
    assert scores.accuracy_all == wilson(15, 20)


def test_recall_counts_the_unanswered_as_missed_only_where_it_says_so() -> None:
    yes = run(MIXED).labels["yes"]
    assert yes.precision == wilson(6, 7)
    assert yes.recall == wilson(6, 8)
    assert yes.recall_all == wilson(6, 10)
    assert yes.f1.value == pytest.approx(12 / 15)
    assert yes.f1_all.value == pytest.approx(12 / 17)
    assert yes.support == 10


def test_kappa_is_cohens_and_its_interval_holds_it() -> None:
    kappa = run(MIXED).cohen_kappa
    assert kappa.value == pytest.approx(cohen_kappa([[6, 2], [1, 9]]).value)
    assert kappa.low < kappa.value < kappa.high  # type: ignore[operator]
    assert (kappa.n, "200 resamples of items" in kappa.method) == (18, True)


def test_the_matrix_has_gold_in_rows_and_keeps_the_unanswered_apart() -> None:
    confusion = run(MIXED).confusion
    assert confusion.labels == YES_NO
    assert confusion.matrix == ((6, 2), (1, 9))
    assert confusion.unanswered == (2, 0)


def test_an_answer_outside_the_labels_is_wrong_and_is_counted_under_its_own_name() -> None:
    scores = run([("yes", "yes"), ("yes", "Yes"), ("no", "maybe"), ("no", "no")])
    assert scores.unknown_labels == {"Yes": 1, "maybe": 1}
    assert scores.answered == 4
    assert scores.accuracy == wilson(2, 4)
    assert scores.labels["yes"].precision == wilson(1, 1)
    assert scores.labels["yes"].recall == wilson(1, 2)
    assert scores.confusion.unknown == (1, 1)


@pytest.mark.parametrize("pairs", [[], [("yes", None), ("no", None)]])
def test_where_nothing_is_answered_every_score_is_missing_with_a_reason(pairs: list[tuple[str, str | None]]) -> None:
    scores = run(pairs)
    for estimate in (scores.accuracy, scores.cohen_kappa, scores.labels["yes"].precision, scores.labels["yes"].f1):
        assert estimate.value is None
        assert estimate.reason
    assert scores.accuracy_all.value == (0 if pairs else None)


def test_one_label_everywhere_leaves_kappa_undefined_and_accuracy_whole() -> None:
    scores = run([("yes", "yes")] * 5)
    assert scores.accuracy.value == 1
    assert scores.cohen_kappa.value is None
    assert "one category" in scores.cohen_kappa.reason


def test_a_label_that_is_never_predicted_has_no_precision_and_one_that_is_never_gold_no_recall() -> None:
    scores = run([("yes", "yes"), ("no", "yes")], labels=("yes", "no", "other"))
    assert (scores.labels["no"].precision.value, scores.labels["no"].recall.value) == (None, 0)
    assert scores.labels["other"].recall.value is None
    assert scores.labels["other"].f1.reason == "no item answered has this label, neither as gold label nor as answer"


def test_a_label_whose_items_are_all_left_open_is_not_said_to_be_missing_from_the_gold_labels() -> None:
    scores = run([("yes", "yes"), ("no", None)], labels=("yes", "no", "other"))
    assert (scores.labels["no"].recall.value, scores.labels["no"].recall_all.value) == (None, 0)
    assert scores.labels["no"].recall.reason == "no item with this gold label was answered"
    assert scores.labels["other"].recall.reason == "no item asked has this gold label"


def test_figures_undefined_in_some_resamples_share_one_method_and_say_so_in_their_reasons() -> None:
    scores = run([("yes", "yes"), ("no", "no"), ("maybe", "maybe")] * 2, labels=("yes", "no", "maybe"))
    f1s = [label.f1 for label in scores.labels.values()]
    assert len({f1.method for f1 in f1s}) == 1
    assert all("undefined in" in f1.reason for f1 in f1s)


def test_a_later_attempt_counts_where_the_earlier_one_failed() -> None:
    gold = [GoldLabel("a", "rater", "yes")]
    scores = score([verdict("a", None, "failed"), verdict("a", "yes")], gold, YES_NO, resamples=10)
    assert (scores.n, scores.answered, scores.failed) == (1, 1, 0)
    with pytest.raises(UsageError, match="two verdicts"):
        score([verdict("a", "yes"), verdict("a", "no")], gold, YES_NO)


def three_raters() -> list[GoldLabel]:
    given = {"one": "yyn", "two": "ynn", "three": "nyn"}
    names = {"y": "yes", "n": "no"}
    rows = [
        GoldLabel(str(item), rater, names[label])
        for rater, labels in given.items()
        for item, label in enumerate(labels)
    ]
    return [*rows, GoldLabel("split", "one", "yes"), GoldLabel("split", "two", "no")]


def test_ties_and_unlabelled_items_are_counted_and_not_scored_and_each_rater_is_compared() -> None:
    verdicts = [verdict(item, "yes") for item in ("0", "1", "split", "new")]
    scores = score(verdicts, three_raters(), YES_NO, resamples=50)
    assert (scores.n, scores.tied, scores.unlabelled, scores.unasked) == (4, 1, 1, 1)
    assert scores.accuracy == wilson(2, 2)
    assert {one.rater: one.agreement for one in scores.raters} == {
        "one": wilson(3, 3),
        "two": wilson(1, 3),
        "three": wilson(1, 2),
    }


def test_a_rater_labels_an_item_once() -> None:
    with pytest.raises(InputError, match="'one' labels 'a' twice"):
        majority([GoldLabel("a", "one", "yes"), GoldLabel("a", "one", "no")])


def test_items_of_one_run_widen_the_intervals() -> None:
    pairs = ([("yes", "yes")] * 10 + [("no", "no")] * 10) * 4 + ([("yes", "no")] * 10 + [("no", "yes")] * 10)
    alone = run(pairs)
    together = run(pairs, clusters={str(item): f"run {item // 10}" for item in range(len(pairs))})
    assert together.accuracy.value == alone.accuracy.value
    for ours, theirs in ((together.accuracy, alone.accuracy), (together.cohen_kappa, alone.cohen_kappa)):
        assert ours.high - ours.low > theirs.high - theirs.low  # type: ignore[operator]
    assert "10 clusters" in together.cohen_kappa.method


def test_items_hang_together_by_run_by_place_in_a_file_and_by_what_the_set_says() -> None:
    items = [
        BenchmarkItem("a", "runs.jsonl", "7"),
        BenchmarkItem("b", "runs.jsonl", "7"),
        BenchmarkItem("c", "one.json", None, 3),
        BenchmarkItem("d", "one.json", None, 9),
        BenchmarkItem("e", extra={"cluster": "x"}),
        BenchmarkItem("f", extra={"cluster": "x"}),
        BenchmarkItem("g"),
        BenchmarkItem("h", {"id": "inline"}),
    ]
    of = clusters_of(items)
    assert of["a"] == of["b"]
    assert of["c"] == of["d"]
    assert of["e"] == of["f"]
    assert len({of["a"], of["c"], of["e"], of["g"], of["h"]}) == 5


def test_what_was_spent_is_summed_over_the_verdicts_that_say_it() -> None:
    verdicts = [
        Verdict("a", "strict", "yes", cost_usd=0.5, input_tokens=10),
        Verdict("b", "strict", "no", cost_usd=0.25),
        Verdict("c", "strict", "no"),
    ]
    scores = score(verdicts, [], YES_NO)
    assert (scores.cost_usd, scores.input_tokens, scores.seconds) == (0.75, 10, None)
    assert scores.reported == {"cost_usd": 2, "input_tokens": 1, "output_tokens": 0, "seconds": 0}


@given(st.lists(st.tuples(st.sampled_from(YES_NO), st.sampled_from([*YES_NO, "other", None])), max_size=30))
def test_no_item_is_lost_between_the_cells(pairs: list[tuple[str, str | None]]) -> None:
    scores = run(pairs)
    confusion = scores.confusion
    cells = sum(map(sum, confusion.matrix)) + sum(confusion.unknown) + sum(confusion.unanswered)
    assert cells == scores.n == len(pairs)
    assert sum(one.support for one in scores.labels.values()) == len(pairs)


@given(st.permutations(MIXED))
def test_the_order_of_the_items_does_not_matter(pairs: list[tuple[str, str | None]]) -> None:
    assert run(pairs) == run(MIXED)
