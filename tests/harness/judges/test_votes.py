"""Several answers become one: the label most votes give, no label where they tie, unread votes for nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.harness.judges.replies import Answer
from misstep.harness.judges.votes import decided, label_names


def said(label: str, score: float | None = None, steps: tuple[int, ...] = ()) -> Answer:
    return Answer(label, "answered", score, steps, f"because {label}")


UNREAD = Answer(None, "unreadable", error="no JSON object")


def test_the_label_of_most_votes_wins_with_their_steps_and_its_share_as_score() -> None:
    answer = decided([said("yes", steps=(4,)), said("no", steps=(9,)), said("yes", steps=(2, 4))])
    assert (answer.label, answer.score, answer.steps, answer.rationale) == ("yes", 2 / 3, (2, 4), "because yes")


def test_a_tie_is_no_answer() -> None:
    assert decided([said("yes"), said("no")]).status == "abstained"


def test_a_vote_that_was_not_read_counts_for_nobody_and_lowers_the_score() -> None:
    answer = decided([said("yes"), UNREAD, UNREAD])
    assert (answer.label, answer.score, answer.error) == ("yes", 1 / 3, "1 of 3 votes")


def test_where_no_vote_was_read_the_worst_of_their_statuses_stands() -> None:
    answer = decided([UNREAD, Answer(None, "failed", error="connection: reset")])
    assert (answer.status, answer.error) == ("failed", "none of 2 votes: connection: reset")


def test_the_mean_weighs_votes_by_their_scores() -> None:
    votes = [said("yes", 0.9), said("no", 0.3), said("no", 0.3)]
    assert decided(votes).label == "no"
    assert decided(votes, "mean").label == "yes"


@pytest.mark.parametrize("permute", ["none", "order", "names"])
@given(labels=st.lists(st.text("abc", min_size=1), min_size=2, max_size=5, unique=True), turn=st.integers(0, 9))
def test_whatever_is_permuted_every_label_is_meant_by_one_name(permute: str, labels: list[str], turn: int) -> None:
    names = label_names(labels, permute, turn)  # type: ignore[arg-type]
    assert sorted(names.values()) == sorted(labels)
