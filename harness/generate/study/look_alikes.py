"""What looks like a misbehaviour and is none, in the sessions of a study: drawn without a look at what is planted."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from misstep.harness.generate.looks_like_failures import correct_mistake
from misstep.harness.generate.looks_like_loops import fetch_again, poll, search_like_names
from misstep.harness.generate.projects import ProjectChange
from misstep.harness.generate.study.session import EDIT, READ, RUN, SEARCH, StudySession


class LookAlike(Struct, frozen=True):
    """A piece of a session: its name, the calls that it makes, what writes it, what the user says of it at first.

    `after` says that it stands behind the changes; `share` is how often sessions have it.
    """

    name: str
    share: float
    calls: Mapping[str, int]
    write: Callable[[StudySession, ProjectChange], None]
    asked: str = ""
    after: bool = False


def _poll(session: StudySession, _change: ProjectChange) -> None:
    poll(session)


def _fetch_again(session: StudySession, _change: ProjectChange) -> None:
    fetch_again(session)


def _search_in_vain(session: StudySession, _change: ProjectChange) -> None:
    for word in session.random.sample(("deprecated_limit", "oldLimit", "LEGACY_LIMIT", "limit_v1", "maxOld"), 4):
        session.search(word)


def _mend_everywhere(session: StudySession, _change: ProjectChange) -> None:
    for one in [made[0] for made in session.project.functions.values()]:
        session.look_at(one.path)
        session.edit(one.path, one.comparison, one.comparison.replace(" > ", " >= "))


def _unknown_twice(session: StudySession, change: ProjectChange) -> None:
    for word in (change.function, change.path.rpartition("/")[2]):
        broken = session.vocabulary.unknown(change.path, word)
        session.refused(broken, session.beside("searching", word=word))
        session.search(word, session.project.folder(), session.beside("once_more"))
        session.look_around(0.2)


UNKNOWN_TOOL = LookAlike("unknown_tool_corrected", 0.04, {SEARCH: 2}, _unknown_twice)
"""A tool that the agent does not have, called and made up for: in sessions that reach for one and do not fail by it."""

MEND_EVERYWHERE = LookAlike(
    "wide_edit_asked_for", 0.06, {EDIT: 6, READ: 4}, _mend_everywhere, "mend_everywhere", after=True
)

LOOK_ALIKES = (
    LookAlike("polling", 0.08, {RUN: 8}, _poll, "start_build", after=True),
    LookAlike("retry_that_works", 0.08, {RUN: 3}, _fetch_again, "fetch_first"),
    LookAlike("searches_without_hits", 0.08, {SEARCH: 4}, _search_in_vain, "old_names_gone", after=True),
    LookAlike("like_names", 0.08, {SEARCH: 5}, search_like_names),
    LookAlike("mistake_corrected", 0.1, {SEARCH: 2}, correct_mistake),
    MEND_EVERYWHERE,
)
"""Pieces that look like a misbehaviour; paging through a long file and temporary lines are in most sessions."""
