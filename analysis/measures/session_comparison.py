"""Two runs of `classify` compared: by how much the share of sessions that show each category changed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct, structs

from misstep.analysis.measures.prevalence import ANY, YES, Labels
from misstep.analysis.measures.session_changes import (
    LabelledSessions,
    SessionChange,
    TwoRuns,
    paired_change,
    sampled_change,
)
from misstep.analysis.measures.session_rates import Grouping, group_of, rates_by
from misstep.analysis.stats.significance import holm
from misstep.harness.errors import UsageError
from misstep.harness.evidence import Evidence, together
from misstep.harness.journal.classified import LabelledSession
from misstep.harness.records.session import Session

_Before = Literal["no", "not checked", "not in it"]
_BEFORE: tuple[_Before, ...] = get_args(_Before)


class SessionRun(Struct, frozen=True):
    """A run as it is compared: its name, and its sessions with their labels, one a category, in that order."""

    name: str
    categories: tuple[str, ...]
    sessions: tuple[tuple[Session, Labels], ...]


class Reversal(Struct, frozen=True):
    """A category that goes one way over all sessions and the other way `within` some of the `of` groups that differ."""

    category: str
    within: tuple[str, ...]
    of: int

    @property
    def complete(self) -> bool:
        """Return whether it goes the other way in every group: Simpson's paradox."""
        return len(self.within) == self.of


class NewlyFlagged(Struct, frozen=True):
    """A session that the second run flags for a category, and the first does not.

    `before` is what the first says of it: `no`, `not checked`, or `not in it`.
    """

    item: str
    file: str
    line: int | None
    category: str
    before: _Before
    steps: tuple[int, ...]
    reason: str


class SessionComparison(Struct, frozen=True):
    """Two runs of `classify` compared.

    - `shared`: How many sessions are in both: the same id in the same file.
    - `paired`: Whether these are compared pair by pair, and the others left out.
    - `groups_in_one_run`: Group → its sessions in either run, for those that only one of them has.
    - `newly_flagged`: What only the second run flags: first the sessions that the first one cleared, then those that it
      does not have.
    """

    a: str
    b: str
    sessions: tuple[int, int]
    sub_agents: tuple[int, int]
    shared: int
    paired: bool
    changes: tuple[SessionChange, ...]
    in_one_run: tuple[str, ...] = ()
    by: Grouping | None = None
    groups: dict[str, tuple[SessionChange, ...]] = {}
    groups_in_one_run: dict[str, tuple[int, int]] = {}
    reversals: tuple[Reversal, ...] = ()
    newly_flagged: tuple[NewlyFlagged, ...] = ()
    evidence: Evidence = "real"


def compare_sessions(a: SessionRun, b: SessionRun, by: Grouping | None = None) -> SessionComparison:
    """Return two runs compared, category by category, and within groups where these are asked for."""
    categories = tuple(name for name in a.categories if name in b.categories)
    if not categories:
        raise UsageError(
            f"the runs {a.name} and {b.name} have no category in common", "Classify both with the same --categories."
        )
    runs = (_sessions_of(a, categories), _sessions_of(b, categories))
    first, second, shared = _matched(*runs)
    # Where one run was mostly taken up into the other, a sample of sessions cannot tell them apart, and pairs can.
    paired = 2 * shared > max(map(len, runs))
    compared = (first, second) if paired else runs
    names = (a.name, b.name)
    changes = _adjusted({"": _changes(names, categories, compared, paired=paired)})[""]
    groups, alone = _groups(names, categories, compared, by, paired=paired) if by else ({}, {})
    n_a, n_b = map(len, runs)
    return SessionComparison(
        *names,
        sessions=(n_a, n_b),
        sub_agents=(len(a.sessions) - n_a, len(b.sessions) - n_b),
        shared=shared,
        paired=paired,
        changes=changes,
        in_one_run=tuple(name for name in (*a.categories, *b.categories) if name not in categories),
        by=by,
        groups=groups,
        groups_in_one_run=alone,
        reversals=_reversals(changes, groups),
        evidence=together(session.evidence for run in (a, b) for session, _ in run.sessions),
    )


def newly_flagged(a: SessionRun, sessions: Iterable[LabelledSession]) -> tuple[NewlyFlagged, ...]:
    """Return what sessions of a second run show that the first one does not flag them for; sub-agents are left out."""
    before = {
        (session.item, session.file): dict(zip(a.categories, labels, strict=True)) for session, labels in a.sessions
    }
    flagged = []
    for session, verdicts in ((one.session, one.verdicts) for one in sessions if one.session.parent is None):
        known = before.get((session.item, session.file))
        for verdict in verdicts:
            label = known.get(verdict.judge) if known else None
            if verdict.label == YES != label and verdict.judge in a.categories:
                was = 2 if known is None else 1 if label is None else 0
                place = session.item, session.file, session.line
                flagged.append(NewlyFlagged(*place, verdict.judge, _BEFORE[was], verdict.steps, verdict.rationale))
    return tuple(sorted(flagged, key=lambda one: _BEFORE.index(one.before)))


def _sessions_of(run: SessionRun, categories: Sequence[str]) -> LabelledSessions:
    places = [run.categories.index(name) for name in categories]
    chosen = [(session, tuple(labels[place] for place in places)) for session, labels in run.sessions]
    return [(session, (*labels, _any(labels))) for session, labels in chosen if session.parent is None]


def _any(labels: Labels) -> str | None:
    """Return the label of `any`: that of no category where none could be checked, as in `prevalence`."""
    return YES if YES in labels else next((label for label in labels if label is not None), None)


def _matched(a: LabelledSessions, b: LabelledSessions) -> tuple[LabelledSessions, LabelledSessions, int]:
    known = {(session.item, session.file): (session, labels) for session, labels in b}
    pairs = [((session, labels), known.get((session.item, session.file))) for session, labels in a]
    both = [(one, other) for one, other in pairs if other is not None]
    return [one for one, _ in both], [other for _, other in both], len(both)


def _groups(
    names: tuple[str, str], categories: Sequence[str], runs: TwoRuns, by: Grouping, *, paired: bool
) -> tuple[dict[str, tuple[SessionChange, ...]], dict[str, tuple[int, int]]]:
    """The changes within each group of both runs, the largest first, and the sizes of those that only one run has."""
    in_group: list[dict[str, list[tuple[Session, Labels]]]] = [{}, {}]
    # A pair is in the group of its first session, so that it stays a pair.
    grouped_by = (runs[0], runs[0]) if paired else runs
    for into, sessions, deciding in zip(in_group, runs, grouped_by, strict=True):
        for one, (session, _) in zip(sessions, deciding, strict=True):
            into.setdefault(group_of(session, by), []).append(one)
    first, second = in_group
    known = [group for group in rates_by((*categories, ANY), [*runs[0], *runs[1]], by) if group in first | second]
    changes = {
        group: _changes(names, categories, (first[group], second[group]), paired=paired)
        for group in known
        if group in first and group in second
    }
    sizes = {group: (len(first.get(group, ())), len(second.get(group, ()))) for group in known}
    return _adjusted(changes), {group: size for group, size in sizes.items() if group not in changes}


def _adjusted(groups: Mapping[str, Sequence[SessionChange]]) -> dict[str, tuple[SessionChange, ...]]:
    adjusted = iter(holm([change.p_value for changes in groups.values() for change in changes]).p_values)
    return {
        group: tuple(structs.replace(change, p_adjusted=next(adjusted)) for change in changes)
        for group, changes in groups.items()
    }


def _changes(names: tuple[str, str], categories: Sequence[str], runs: TwoRuns, *, paired: bool) -> list[SessionChange]:
    changed = paired_change if paired else sampled_change
    return [changed(category, names, runs, place) for place, category in enumerate((*categories, ANY))]


def _reversals(changes: Sequence[SessionChange], groups: Mapping[str, Sequence[SessionChange]]) -> tuple[Reversal, ...]:
    reversals = []
    for place, change in enumerate(changes):
        overall = change.difference.value or 0.0
        each = {group: own[place].difference.value or 0.0 for group, own in groups.items()}
        against = tuple(group for group, value in each.items() if value * overall < 0)
        if against:
            reversals.append(Reversal(change.category, against, sum(value != 0 for value in each.values())))
    return tuple(reversals)
