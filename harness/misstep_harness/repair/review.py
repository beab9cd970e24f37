"""The reviews of a run's patches: the state of a patch follows from its events, and says which event may come next."""

import os
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from misstep_harness.datasets.benchmark import Gold
from misstep_harness.errors import UsageError, write_all, writing
from misstep_harness.journal.run_folder import locked
from misstep_harness.repair.records import (
    REVIEWS,
    Event,
    RepairAttempt,
    ReviewEvent,
    read_reviews,
    review_lines,
)
from misstep_harness.repair.validators.patch_judge import ACCEPTABLE, UNACCEPTABLE

_CLOSED: frozenset[str] = frozenset({"rejected", "landed"})

REVIEWERS = "review"
_LABELS: dict[str, str] = {"accepted": ACCEPTABLE, "landed": ACCEPTABLE, "rejected": UNACCEPTABLE}


def reviews_of(run: Path) -> tuple[ReviewEvent, ...]:
    """Return the reviews of a run in their order, none without a log."""
    return read_reviews(run / REVIEWS) if (run / REVIEWS).exists() else ()


def state_of(attempt: str, reviews: Sequence[ReviewEvent]) -> str:
    """Return the last event of a patch, `generated` if there is none."""
    return next((review.event for review in reversed(reviews) if review.attempt == attempt), "generated")


def decisions(run: Path) -> list[Gold]:
    """Return what reviewers decided on the patches of a run as gold labels: of several decisions the last."""
    labels = {review.attempt: _LABELS[review.event] for review in reviews_of(run) if review.event in _LABELS}
    return [Gold(attempt, REVIEWERS, label) for attempt, label in labels.items()]


def add_review(run: Path, attempt: RepairAttempt, event: Event, by: str, comment: str = "") -> ReviewEvent:
    """Add an event to the reviews of a run."""
    if not attempt.solved:
        raise UsageError(f"{attempt.id} has no patch that passes its tests", "Review a solved attempt.")
    reviews = reviews_of(run)
    state = state_of(attempt.id, reviews)
    if state in _CLOSED:
        raise UsageError(f"{attempt.id} is {state} already", "Review another attempt.")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    review = ReviewEvent(attempt.id, event, now, by, " ".join(comment.split()))
    with writing(run / REVIEWS), closing(locked(run / REVIEWS)) as stream:
        begun = stream.seek(0, os.SEEK_END) > 0
        write_all(stream, review_lines([review], header=not begun), run / REVIEWS)
    return review
