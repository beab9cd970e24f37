"""Tables that several kinds of runs export: sessions, and what an observer asked and said."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from misstep_analysis.pages.interventions import ObservedIntervention, interventions_of
from misstep_analysis.runs.kind import ExportedTable, Rows, table_of
from misstep_harness.intervention import Invocation, ObservedRun
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import SESSION_RECORDS
from misstep_harness.session import Session


def session_table(run: OpenRun) -> ExportedTable:
    """Return the sessions of a run, without what a page shows of them."""
    sessions = run.reader(SESSION_RECORDS)
    return table_of("sessions", SESSION_RECORDS.file, Session, sessions, key=("item",), without=("shown", "usage"))


class _Asked(Struct, frozen=True):
    """One question to the detector of an observer."""

    item: str
    step: int
    status: str
    flagged: bool
    categories: tuple[str, ...]
    answered_at: int | None
    seconds: float | None
    error: str


def observer_tables(file: str, runs: Rows) -> tuple[ExportedTable, ExportedTable]:
    """Return the questions of an observer, and its interventions."""

    def questions() -> Iterator[_Asked]:
        return (_question(run.item, one) for run in runs() for one in run.invocations)

    def interventions() -> Iterator[ObservedIntervention]:
        return (one for run in runs() for one in interventions_of(run))

    return (
        table_of("invocations", file, _Asked, questions, key=("item", "step")),
        table_of("interventions", file, ObservedIntervention, interventions, key=("item", "detected_at")),
    )


def _question(item: str, one: Invocation) -> _Asked:
    categories = tuple(dict.fromkeys(misbehaviour.category for misbehaviour in one.misbehaviours))
    return _Asked(item, one.step, one.status, bool(categories), categories, one.answered_at, one.seconds, one.error)


def observed_in(sessions: Iterator[Any]) -> Iterator[ObservedRun]:
    """List what was observed of live sessions."""
    return (one.observed for one in sessions if one.observed is not None)
