"""What became of patches in review: the noun that the review step records and the funnel of patches reads.

A review log is a CSV with a row an event, `reviews.csv` in the folder of a run. It is only ever added to:

    attempt,event,when,by,comment
    task-1/search/react+static+tests/search_replace/0,published,2026-01-31T10:00:00+00:00,misstep,
    task-1/search/react+static+tests/search_replace/0,accepted,2026-01-31T11:30:00+00:00,kim,The cause is right.
"""

import csv
import io
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import Struct

from misstep.harness.errors import InputError

REVIEWS = "reviews.csv"
"""The review log in the folder of a run."""

Event = Literal["generated", "published", "reviewed", "accepted", "changes_requested", "rejected", "landed"]
EVENTS: tuple[Event, ...] = get_args(Event)


class ReviewEvent(Struct, frozen=True):
    """One event of one patch."""

    attempt: str
    event: Event
    when: str = ""
    by: str = ""
    comment: str = ""


COLUMNS = ReviewEvent.__struct_fields__

_FORM = f"A review log has the columns {', '.join(COLUMNS)}, and one row an event: {', '.join(EVENTS)}."


def read_reviews(file: Path) -> tuple[ReviewEvent, ...]:
    """Return the events of a review log, in order."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, strict=True)
            header = next(rows, [])
            if tuple(header) != COLUMNS:
                found = ", ".join(header) or "none"
                raise InputError(f"the columns are not those of a review log: {found}", _FORM, file=file, line=1)
            return tuple(_event(row, file, rows.line_num) for row in rows if row)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read: {error}", _FORM, file=file) from error


def _event(row: list[str], file: Path, line: int) -> ReviewEvent:
    if len(row) != len(COLUMNS):
        raise InputError(f"the row has {len(row)} cells", _FORM, file=file, line=line)
    cells = dict(zip(COLUMNS, map(str.strip, row), strict=True))
    if not cells["attempt"]:
        raise InputError("the event names no attempt", _FORM, file=file, line=line)
    try:
        return msgspec.convert(cells, ReviewEvent)
    except msgspec.ValidationError as error:
        raise InputError(f"there is no event {cells['event']!r}", _FORM, file=file, line=line) from error


def review_lines(events: Iterable[ReviewEvent], *, header: bool = True) -> bytes:
    """Events as rows of a review log, below its header or to be added to one."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    writer.writerows(msgspec.structs.astuple(event) for event in events)
    return text.getvalue().encode()


SHARES = (0.1, 0.5, 1.0)
"""The shares of the paper's rollout (section 7.3). A smaller share lies in each larger one."""

_PLACES = 2**64


def in_share(case: str, share: float, seed: int = 0) -> bool:
    """Return whether a case is in a share: the first eight bytes of SHA-256 over `seed:case`, as a part of the most.

    >>> in_share("task-7", 1.0)
    True
    """
    digest = sha256(f"{seed}:{case}".encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big") / _PLACES < share or share >= 1
