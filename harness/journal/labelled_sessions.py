"""The sessions of a run of `classify` with the verdicts on each: two files of the run, read side by side."""

from collections.abc import Iterator
from itertools import groupby, zip_longest
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from misstep.harness.errors import InputError
from misstep.harness.journal.classified import Labels, PlacedVerdict
from misstep.harness.journal.records import SESSION_RECORDS, VERDICTS, Records, read_records
from misstep.harness.records.session import Session

_PLACED = Records(PlacedVerdict, VERDICTS, "verdict")


class LabelledSession(Struct, frozen=True):
    """A session and the verdicts on it, one a category, always in the same order."""

    session: Session
    verdicts: tuple[PlacedVerdict, ...]

    @property
    def labels(self) -> Labels:
        """Return the label of each category; `None` where its rule abstained or failed."""
        return tuple(verdict.label for verdict in self.verdicts)


def labelled_sessions(run: Path) -> Iterator[LabelledSession]:
    """Return the sessions of a run, in order, as a stream."""
    verdicts = groupby(read_records(run, _PLACED), key=attrgetter("item"))
    for session, judged in zip_longest(read_records(run, SESSION_RECORDS), verdicts):
        item, given = judged or ("", ())
        if session is None or session.item != item:
            raise InputError(
                f"the sessions and the verdicts of the run differ at {(session.item if session else item)!r}",
                "Classify into a new folder.",
                file=run / VERDICTS,
            )
        yield LabelledSession(session, tuple(given))
