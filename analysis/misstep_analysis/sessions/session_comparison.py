"""Two runs of `classify` compared: by how much the share of sessions that show each category changed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Literal, get_args

from msgspec import Struct, structs

from misstep_analysis.sessions.prevalence import ANY, YES, Labels
from misstep_analysis.sessions.session_rates import group_of
from misstep_analysis.sessions.shares import share
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.clusters.clustered_pairs import PairedItems
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares, fisher_exact, newcombe
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.journal.classified import LabelledSession
from misstep_harness.session import Session
from misstep_harness.trajectory import Evidence, together

_Before = Literal["no", "not checked", "not in it"]
_BEFORE: tuple[_Before, ...] = get_args(_Before)
LEVEL = 0.05

FEWEST_PROJECTS = 4
"""Four in either run keep the clustered test at its level; fewer were not tried (`benchmarks/validity/RESULTS.md`)."""

_MANY_PROJECTS = 12
"""With fewer in one run than in the other, the clustered test is too eager (the same place)."""

NONE_PAIRED = "no session could be checked in both runs"
Unit = Literal["project", "session"]


class SessionChange(Struct, frozen=True):
    """One category in two runs; `unchecked_pairs` counts sessions of both that only one run could check."""

    category: str
    a: Estimate
    b: Estimate
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    unit: Unit
    projects: tuple[int, int]
    unchecked_pairs: int = 0
    reason: str = ""

    @property
    def changed(self) -> bool:
        """Return whether the difference stands after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


class _Checked(Struct, frozen=True):
    """The sessions of a run that could be checked for a category: whether each shows it, and its project."""

    name: str
    shows: tuple[bool, ...]
    projects: tuple[str, ...]

    @property
    def share(self) -> Estimate:
        return share(sum(self.shows), len(self.shows), _nothing(self.name))

    def n_projects(self, other: "_Checked") -> tuple[int, int]:
        return len(set(self.projects)), len(set(other.projects))

    def by_project(self, first: Sequence[str]) -> list[tuple[int, int]]:
        """Return how many sessions of each project show it, of how many; some projects before the others."""
        counts, shown = Counter(self.projects), Counter(compress(self.projects, self.shows))
        return [(shown[project], counts[project]) for project in dict.fromkeys((*first, *counts))]


class SessionRun(Struct, frozen=True):
    """A run as it is compared: its name, and its sessions with their labels, one a category, in that order."""

    name: str
    categories: tuple[str, ...]
    sessions: tuple[tuple[Session, Labels], ...]


class NewlyFlagged(Struct, frozen=True):
    """A session that the second run flags for a category, and the first does not."""

    item: str
    file: str
    line: int | None
    category: str
    before: _Before
    steps: tuple[int, ...]
    reason: str


class CorrectedChange(Struct, frozen=True):
    """A share that people's labels put right in both runs, or the reason why not; sessions count one by one."""

    category: str
    a: Estimate
    b: Estimate
    difference: Estimate


class SessionComparison(Struct, frozen=True):
    """Two runs of `classify` compared; `paired` says that sessions in both are, and that the others are left out."""

    a: str
    b: str
    sessions: tuple[int, int]
    sub_agents: tuple[int, int]
    shared: int
    paired: bool
    changes: tuple[SessionChange, ...]
    in_one_run: tuple[str, ...] = ()
    newly_flagged: tuple[NewlyFlagged, ...] = ()
    corrected: tuple[CorrectedChange, ...] = ()
    evidence: Evidence = "real"


LabelledSessions = Sequence[tuple[Session, Labels]]
TwoRuns = tuple[LabelledSessions, LabelledSessions]
_Compared = tuple[Estimate, Significance]


def sampled_change(category: str, names: tuple[str, str], runs: TwoRuns, place: int) -> SessionChange:
    """Two samples of sessions: Student's t over projects, or Newcombe's interval with Fisher's test over sessions.

    A project that both runs have is one cluster of the test over projects: what it has in common with itself makes the
    interval shorter.
    """
    a, b = (_checked(name, sessions, place) for name, sessions in zip(names, runs, strict=True))
    if not (a.shows and b.shows):
        return _undefined(category, a, b, _nothing(a.name if not a.shows else b.name))
    reason = _too_few(a, b)
    if not reason and _together(a, b):
        shared = sorted(set(a.projects) & set(b.projects))
        clustered = clustered_difference(b.by_project(shared), a.by_project(shared), shared=len(shared))
        test = clustered.small_sample_test
        if test.p_value is not None:
            return _change(category, a, b, (clustered.small_sample, test), "project", _few(a, b))
        reason = f"{test.reason}, and sessions are counted one by one"
    counts = sum(b.shows), len(b.shows), sum(a.shows), len(a.shows)
    # What Fisher's test gives a reason for is its odds ratio, which nobody reads here.
    exact = newcombe(*counts), structs.replace(fisher_exact(*counts), reason="")
    return _change(category, a, b, exact, "session", reason)


def paired_change(category: str, names: tuple[str, str], runs: TwoRuns, place: int) -> SessionChange:
    """Return the same sessions in both runs: sign flips over projects, or McNemar's test over sessions."""
    known = [(one[1][place] is not None, other[1][place] is not None) for one, other in zip(*runs, strict=True)]
    a, b = (
        _checked(name, [one for one, both in zip(sessions, known, strict=True) if all(both)], place)
        for name, sessions in zip(names, runs, strict=True)
    )
    # A pair is of the project that its first session names.
    b, left_out = structs.replace(b, projects=a.projects), sum(first != second for first, second in known)
    if not a.shows:
        return _undefined(category, a, b, NONE_PAIRED, left_out)
    reason = _too_few(a, b)
    clustered, places = not reason and _together(a, b), list(dict.fromkeys(a.projects))
    paired = PairedItems.of(b.shows, a.shows, [places.index(project) for project in a.projects], clustered)
    unit: Unit = "project" if clustered else "session"
    return _change(category, a, b, (paired.difference, paired.test), unit, reason, left_out)


def _checked(name: str, sessions: Iterable[tuple[Session, Labels]], place: int) -> _Checked:
    answered = [(labels[place] == YES, session) for session, labels in sessions if labels[place] is not None]
    projects = tuple(group_of(session, "project") for _, session in answered)
    return _Checked(name, tuple(shows for shows, _ in answered), projects)


def _change(
    category: str, a: _Checked, b: _Checked, compared: _Compared, unit: Unit, reason: str = "", unchecked_pairs: int = 0
) -> SessionChange:
    difference, test = compared
    reasons = "; ".join(dict.fromkeys(filter(None, (reason, difference.reason, test.reason))))
    tested = difference, test.p_value, None, test.test
    return SessionChange(category, a.share, b.share, *tested, unit, a.n_projects(b), unchecked_pairs, reasons)


def _undefined(category: str, a: _Checked, b: _Checked, reason: str, unchecked_pairs: int = 0) -> SessionChange:
    nothing = Estimate(None, n=0, reason=reason), Significance(None, None, 0)
    return _change(category, a, b, nothing, "session", "", unchecked_pairs)


def _too_few(a: _Checked, b: _Checked) -> str:
    projects = a.n_projects(b)
    if min(projects) >= FEWEST_PROJECTS:
        return ""
    return (
        f"{counted_text(projects[0], 'project')} in {a.name} and {projects[1]:,} in {b.name} are too few to tell how "
        f"far projects differ (at least {FEWEST_PROJECTS} in each), and sessions are counted one by one"
    )


def _few(a: _Checked, b: _Checked) -> str:
    first, second = a.n_projects(b)
    if first == second or min(first, second) >= _MANY_PROJECTS:
        return ""
    return (
        f"with {first:,} projects in {a.name} and {second:,} in {b.name} the test may find twice as often as it says "
        "what is not there"
    )


def _together(a: _Checked, b: _Checked) -> bool:
    return any(len(set(run.projects)) < len(run.projects) for run in (a, b))


def _nothing(name: str) -> str:
    return f"no session of {name} could be checked"


def compare_sessions(a: SessionRun, b: SessionRun) -> SessionComparison:
    """Return two runs compared, category by category."""
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
    change_of = paired_change if paired else sampled_change
    changes = [change_of(category, names, compared, place) for place, category in enumerate((*categories, ANY))]
    adjusted = holm([change.p_value for change in changes]).p_values
    n_a, n_b = map(len, runs)
    return SessionComparison(
        *names,
        sessions=(n_a, n_b),
        sub_agents=(len(a.sessions) - n_a, len(b.sessions) - n_b),
        shared=shared,
        paired=paired,
        changes=tuple(structs.replace(one, p_adjusted=p) for one, p in zip(changes, adjusted, strict=True)),
        in_one_run=tuple(name for name in (*a.categories, *b.categories) if name not in categories),
        evidence=together(session.evidence for run in (a, b) for session, _ in run.sessions),
    )


def corrected_changes(a: Mapping[str, Estimate], b: Mapping[str, Estimate]) -> tuple[CorrectedChange, ...]:
    """Return the change of each corrected share of two runs; none unless a share of either is corrected."""
    both = {name: (a[name], b[name]) for name in a if name in b}
    if all(one.value is None for pair in both.values() for one in pair):
        return ()
    return tuple(CorrectedChange(name, *pair, difference_of_shares(pair[1], pair[0])) for name, pair in both.items())


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
