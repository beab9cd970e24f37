"""Reviews of patches: a log that is only added to, and what may follow what."""

from pathlib import Path

import pytest

from misstep_harness.errors import UsageError
from misstep_harness.repair.records import REVIEWS, RepairAttempt
from misstep_harness.repair.runs.patches import add_review, reviews_of, state_of

SOLVED = RepairAttempt("price", "search", "react", "search_replace", solved=True)


def test_a_patch_goes_from_generated_to_accepted(tmp_path: Path) -> None:
    states = [state_of(SOLVED.id, reviews_of(tmp_path))]
    for event in ("published", "accepted"):
        add_review(tmp_path, SOLVED, event, "kim", "Fine,\n  “really”.")  # type: ignore[arg-type]
        states.append(state_of(SOLVED.id, reviews_of(tmp_path)))
    assert states == ["generated", "published", "accepted"]
    assert {review.comment for review in reviews_of(tmp_path)} == {"Fine, “really”."}
    assert (tmp_path / REVIEWS).read_text().splitlines()[0] == "attempt,event,when,by,comment"


def test_only_a_patch_that_passes_is_reviewed_and_a_closed_review_stays_closed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="passes its tests"):
        add_review(tmp_path, RepairAttempt("price", "search", "react", "line_diff"), "accepted", "kim")
    assert not (tmp_path / REVIEWS).exists()
    add_review(tmp_path, SOLVED, "rejected", "kim")
    with pytest.raises(UsageError, match="rejected already"):
        add_review(tmp_path, SOLVED, "accepted", "kim")
