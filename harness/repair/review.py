"""The reviews of a run's patches: who published, accepted, rejected or landed which, when, and with what comment.

`reviews.csv` in the run's folder is only ever added to; the state of a patch follows from its events:

    attempt,event,when,by,comment
    task-1/search/react+static+tests/search_replace/0,published,2026-01-31T10:00:00+00:00,misstep,
    task-1/search/react+static+tests/search_replace/0,accepted,2026-01-31T11:30:00+00:00,kim,The cause is right.
"""

import csv
import io
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from harness.errors import InputError, UsageError, write_all, writing
from harness.journal.run_folder import locked
from harness.repair.case import Case
from harness.repair.failure_bot.repository import Repository
from harness.repair.failure_bot.reproduce import CommitRuns
from harness.repair_attempt import RepairAttempt
from harness.workspace import Limits, Sandbox, python_toolchain
from harness.workspace.suite_report import SuiteReport

REVIEWS = "reviews.csv"

ReviewEvent = Literal["published", "reviewed", "accepted", "changes_requested", "rejected", "landed"]

_COLUMNS = ("attempt", "event", "when", "by", "comment")
_FORM = f"The columns are {', '.join(_COLUMNS)}; events are {', '.join(get_args(ReviewEvent))}."
_CLOSED: frozenset[str] = frozenset({"rejected", "landed"})


class Review(Struct, frozen=True):
    """One event of one patch."""

    attempt: str
    event: ReviewEvent
    when: str
    by: str
    comment: str = ""


def read_reviews(run: Path) -> tuple[Review, ...]:
    """The reviews of a run in their order; none where there is no file.

    Raises
    ------
    InputError
        The file breaks the form; names file and line.
    """
    file = run / REVIEWS
    if not file.exists():
        return ()
    reviews = []
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if list(rows.fieldnames or ()) != list(_COLUMNS):
                raise InputError("the columns are not those of reviews", _FORM, file=file, line=1)
            for row in rows:
                event = row["event"]
                if event not in get_args(ReviewEvent) or None in row.values() or None in row:
                    raise InputError(
                        f"{event!r} is no event, or a column is missing", _FORM, file=file, line=rows.line_num
                    )
                reviews.append(Review(*(row[name] for name in _COLUMNS)))  # type: ignore[arg-type]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", _FORM, file=file) from error
    return tuple(reviews)


def state_of(attempt: str, reviews: Sequence[Review]) -> str:
    """The last event of a patch, `generated` where there is none."""
    return next((review.event for review in reversed(reviews) if review.attempt == attempt), "generated")


def add_review(run: Path, attempt: RepairAttempt, event: ReviewEvent, by: str, comment: str = "") -> Review:
    """Add an event to the reviews of a run.

    Raises
    ------
    UsageError
        The patch does not solve its case, its review has ended, or it is to land and is not accepted.
    InputError
        The file of reviews breaks the form.
    """
    if not attempt.solved:
        raise UsageError(f"{attempt.id} has no patch that passes its tests", "Review a solved attempt.")
    reviews = read_reviews(run)
    state = state_of(attempt.id, reviews)
    if state in _CLOSED:
        raise UsageError(f"{attempt.id} is {state} already", "Review another attempt.")
    if event == "landed" and state != "accepted":
        raise UsageError(f"{attempt.id} is {state} and not accepted", "Accept it first.")
    review = Review(attempt.id, event, datetime.now(UTC).isoformat(timespec="seconds"), by, " ".join(comment.split()))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not reviews and not (run / REVIEWS).exists():
        writer.writerow(_COLUMNS)
    writer.writerow([review.attempt, review.event, review.when, review.by, review.comment])
    with writing(run / REVIEWS), closing(locked(run / REVIEWS)) as stream:
        write_all(stream, text.getvalue().encode(), run / REVIEWS)
    return review


def report_at(repository: Path, revision: str, case: Case, sandbox: Sandbox) -> SuiteReport:
    """What a case's tests find at a revision of a repository: whether a patch that landed there has mended it.

    Raises
    ------
    InputError
        It is no repository, or there is no such revision.
    """
    limits = Limits(seconds=case.timeout_seconds)
    with (
        Repository(repository) as opened,
        CommitRuns(opened, case.test_command, sandbox=sandbox, toolchain=python_toolchain(), limits=limits) as runs,
    ):
        return runs.report(opened.commit(revision).id, case.oracle)
