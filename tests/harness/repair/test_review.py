"""Reviews of patches: a log that is only added to, and what may follow what."""

from pathlib import Path

import pytest

from harness.errors import InputError, UsageError
from harness.repair.review import REVIEWS, add_review, read_reviews, state_of
from harness.repair_attempt import RepairAttempt

SOLVED = RepairAttempt("price", "search", "react", "search_replace", solved=True)


def test_a_patch_goes_from_generated_to_landed(tmp_path: Path) -> None:
    states = [state_of(SOLVED.id, read_reviews(tmp_path))]
    for event in ("published", "accepted", "landed"):
        add_review(tmp_path, SOLVED, event, "kim", "Fine,\n  “really”.")  # type: ignore[arg-type]
        states.append(state_of(SOLVED.id, read_reviews(tmp_path)))
    assert states == ["generated", "published", "accepted", "landed"]
    assert {review.comment for review in read_reviews(tmp_path)} == {"Fine, “really”."}
    assert (tmp_path / REVIEWS).read_text().splitlines()[0] == "attempt,event,when,by,comment"


def test_only_an_accepted_patch_lands_and_a_closed_review_stays_closed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not accepted"):
        add_review(tmp_path, SOLVED, "landed", "kim")
    add_review(tmp_path, SOLVED, "rejected", "kim")
    with pytest.raises(UsageError, match="rejected already"):
        add_review(tmp_path, SOLVED, "accepted", "kim")


def test_a_patch_that_solves_nothing_is_not_reviewed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="passes its tests"):
        add_review(tmp_path, RepairAttempt("price", "search", "react", "line_diff"), "accepted", "kim")
    assert not (tmp_path / REVIEWS).exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("attempt,event\n", "the columns"),
        ("attempt,event,when,by,comment\na,approved,now,kim,\n", "'approved' is no event"),
        ("attempt,event,when,by,comment\na,accepted,now\n", "a column is missing"),
    ],
)
def test_a_file_that_breaks_the_form_is_said_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / REVIEWS).write_text(text)
    with pytest.raises(InputError, match=told) as error:
        read_reviews(tmp_path)
    assert REVIEWS in error.value.line()
