"""Review logs: one reader and one writer of the events of patches."""

from pathlib import Path

import pytest

from misstep_harness.errors import InputError
from misstep_harness.repair.records import EVENTS, ReviewEvent, read_reviews, review_lines

HEADER = "attempt,event,when,by,comment\n"


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    events = tuple(ReviewEvent("a", event, "2026-03-01", "kim", 'fine, "really"') for event in EVENTS)
    log = tmp_path / "reviews.csv"
    log.write_bytes(review_lines(events[:1]) + review_lines(events[1:], header=False))
    assert log.read_text().startswith(HEADER)
    assert read_reviews(log) == events


def test_only_attempt_and_event_must_be_filled_in(tmp_path: Path) -> None:
    log = tmp_path / "reviews.csv"
    log.write_text(f"\ufeff{HEADER}a,landed,,,\n\n", encoding="utf-8")
    assert read_reviews(log) == (ReviewEvent("a", "landed"),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "not those of a review log: none"),
        ("patch,what\n", 1, "not those of a review log: patch, what"),
        (f"{HEADER}a,landed,,,\na,merged,,,\n", 3, "unknown event 'merged'"),
        (f"{HEADER}a,accepted,now\n", 2, "the row has 3 cells"),
        (f"{HEADER},accepted,now,kim,\n", 2, "the event names no attempt"),
    ],
)
def test_what_breaks_the_form_is_said_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    log = tmp_path / "reviews.csv"
    log.write_text(text)
    with pytest.raises(InputError) as error:
        read_reviews(log)
    assert message in error.value.line()
    assert error.value.line().startswith(f"{log}:{line}: ")


def test_a_log_that_is_no_csv_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "reviews.csv"
    log.write_bytes(HEADER.encode() + b'a,landed,,,"open\n')
    with pytest.raises(InputError, match="cannot be read"):
        read_reviews(log)
