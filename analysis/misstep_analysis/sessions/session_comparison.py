"""Two runs of `classify` compared: by how much the share of sessions that show each category changed."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Literal, get_args

from msgspec import Struct, structs

from misstep_analysis.sessions.prevalence import ANY, YES, Labels, share
from misstep_analysis.sessions.session_rates import group_of
from misstep_analysis.stats.clusters.clustered import clustered_difference
from misstep_analysis.stats.clusters.clustered_pairs import PairedItems
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.printed.two_proportions import difference_of_shares, fisher_exact, newcombe
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    p_text,
    place_text,
    points_text,
    with_interval,
)
from misstep_harness.errors import UsageError
from misstep_harness.journal.classified import LabelledSession
from misstep_harness.session import Session
from misstep_harness.trajectory import Evidence, together

DIFFERENCE = "Difference"

_PAPER = "classify"
_LISTED = 200

_STEPS = 6

_NEWLY = TableHead(
    "newly_flagged",
    _PAPER,
    "Newly flagged",
    ("Steps count from 0. `misstep view FILE --id ID` shows a session; --json lists all of them.",),
)


_CORRECTED = TableHead(
    "corrected_changes",
    _PAPER,
    "Corrected by people's labels",
    (
        "The intervals put those of the two corrected shares together (Zou and Donner 2008), as if they were "
        "independent.",
    ),
)
_ONE_BY_ONE = "sessions count one by one: the interval is too short where projects differ"
_NOT_CORRECTED = "No share could be corrected in both runs."
CAUTION = (
    "Two periods are not a randomised comparison: tasks, models and people may have changed with the rules that agents "
    "were given. Only sessions that get the rules by lot tell what the rules do (`misstep experiment`)."
)
Resampled = Literal["project", "session"]


class SessionChange(Struct, frozen=True):
    """One category in two runs; `unchecked_pairs` counts sessions of both that only one run could check."""

    category: str
    a: Estimate
    b: Estimate
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str
    unit: Resampled
    projects: tuple[int, int]
    unchecked_pairs: int = 0
    reason: str = ""

    @property
    def changed(self) -> bool:
        """Return whether the difference stands after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL


_Before = Literal["no", "not checked", "not in it"]


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


class SessionRun(Struct, frozen=True):
    """A run as it is compared: its name, and its sessions with their labels, one a category, in that order."""

    name: str
    categories: tuple[str, ...]
    sessions: tuple[tuple[Session, Labels], ...]


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


def comparison_finding(compared: SessionComparison) -> str:
    """Which category changed, by how much and how sure that is; then any of them."""
    *categories, either = compared.changes
    known = sorted((one for one in categories if one.difference.value is not None), key=_size, reverse=True)
    if not known:
        return f"{compared.a} and {compared.b} cannot be compared: {either.reason or categories[0].reason}."
    changed = [one for one in known if one.changed]
    sentences = [_changed(compared, changed)] if changed else [_unchanged(compared, known)]
    if len(categories) > 1 and either.difference.value:
        sentences.append(f"Sessions with any of them: {_from_to(either)} ({_sure(either)}).")
    return " ".join(sentences)


def _changed(compared: SessionComparison, changed: Sequence[SessionChange]) -> str:
    most, *others = changed
    sentence = f"From {compared.a} to {compared.b}, {most.category} {_moved(most)} ({_sure(most)}): {_from_to(most)}."
    if not others:
        return sentence
    named = ", ".join(f"{one.category} ({number_text(one.difference.value, 'difference')})" for one in others)
    return f"{sentence} Changed as well: {named}."


def _unchanged(compared: SessionComparison, known: Sequence[SessionChange]) -> str:
    none = f"No category changed from {compared.a} to {compared.b}"
    most = known[0]
    if not most.difference.value:
        return f"{none}: no share differs, in {counted_text(most.b.n or 0, 'session')}."
    return (
        f"{none} by more than chance explains (level {LEVEL:g} after Holm's adjustment). The largest difference: "
        f"{most.category} {_moved(most)} ({_sure(most)}), {_from_to(most)}."
    )


def _size(change: SessionChange) -> float:
    return abs(change.difference.value or 0.0)


def _moved(change: SessionChange) -> str:
    value = change.difference.value or 0.0
    return f"{'rose' if value > 0 else 'fell'} by {points_text(value)}" if value else "stayed the same"


def _sure(change: SessionChange) -> str:
    interval = interval_words(change.difference.low, change.difference.high, "difference")
    return f"{interval}; {p_text(change.p_value, change.p_adjusted)}"


def _from_to(change: SessionChange) -> str:
    before, after = (f"{number_text(one.value, 'share')} of {one.n or 0:,}" for one in (change.a, change.b))
    return f"from {before} to {after} sessions"


def _names(names: Sequence[object], most: int) -> str:
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


@made_by_this
def comparison_table(compared: SessionComparison, source: str) -> Table:
    """Return the categories of two compared runs, a line each, with shares, difference and p-values."""
    shown = [one for one in compared.changes if one.a.n or one.b.n]
    known = {one.category: _difference(one) for one in shown if one.difference.value is not None}
    rows = (row for change in shown for row in _rows(compared, change, source))
    head = TableHead("changes", _PAPER, "All sessions", tuple(_notes(compared)))
    return head.table(comparison_finding(compared), rows, drawn=rows_in("difference", known, "", source))


@made_by_this
def corrected_table(compared: SessionComparison, source: str) -> Table:
    """Return the shares of two runs that people's labels put right, and their differences."""
    rows = [
        row
        for one in compared.corrected
        for row in rows_of(
            (
                (f"In {compared.a}", one.a, "share"),
                (f"In {compared.b}", one.b, "share"),
                (DIFFERENCE, _one_by_one(one.difference), "difference"),
            ),
            one.category,
            source,
        )
    ]
    known = [one for one in compared.corrected if one.difference.value is not None]
    changed = [one for one in known if _is_change(one.difference)]
    changes = ", ".join(f"{one.category} {with_interval(one.difference, 'difference')}" for one in changed or known)
    what = "the shares changed so" if changed else "no share is shown to have changed"
    counted = ", with sessions counted one by one"
    finding = f"Corrected by people's labels, {what}: {changes}{counted}." if known else _NOT_CORRECTED
    return _CORRECTED.table(finding, rows)


def _one_by_one(difference: Estimate) -> Estimate:
    return difference if difference.low is None else structs.replace(difference, reason=_ONE_BY_ONE)


def _is_change(difference: Estimate) -> bool:
    """Return whether the interval of a difference leaves out 0."""
    return difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high


@made_by_this
def newly_flagged_table(compared: SessionComparison, source: str) -> Table:
    """Return what only the second run flags, a line a finding, up to a number that a page can show."""
    a, b, flagged = compared.a, compared.b, compared.newly_flagged
    sessions = len({(one.item, one.file) for one in flagged})
    cut = f", the first {_LISTED} of them here" if len(flagged) > _LISTED else ""
    finding = (
        f"{counted_text(sessions, 'session')} of {b} {'is' if sessions == 1 else 'are'} flagged for what "
        f"{a} does not flag: {counted_text(len(flagged), 'finding')}{cut}."
    )
    rows = []
    for one in flagged[:_LISTED]:
        steps = f"steps {_names(one.steps, _STEPS)}" if one.steps else "no step named"
        before = f"not in {a}" if one.before == "not in it" else f"{one.before} in {a}"
        reason = f"{place_text(one.file, one.line)}; {before}. {one.reason}"
        rows.append(Row(one.item, steps, source=source, unit="text", group=one.category, reason=reason))
    return _NEWLY.table(finding, rows, title=f"Newly flagged in {b}")


def _rows(compared: SessionComparison, change: SessionChange, source: str) -> list[Row]:
    # The interval's method names the clustered test as well.
    test = "" if change.difference.method.startswith(change.test) else change.test
    figures: tuple[tuple[str, Figure, Unit], ...] = (
        (f"In {compared.a}", change.a, "share"),
        (f"In {compared.b}", change.b, "share"),
        (DIFFERENCE, _difference(change), "difference"),
        ("p", Estimate(change.p_value, method=test), "p"),
        ("p, adjusted", change.p_adjusted, "p"),
    )
    return rows_of(figures, change.category, source)


def _difference(change: SessionChange) -> Estimate:
    """Return the difference without its n: the shares beside it have theirs."""
    return structs.replace(change.difference, n=None)


def _notes(compared: SessionComparison) -> Iterator[str]:
    a, b = compared.a, compared.b
    tests = counted_text(sum(one.p_value is not None for one in compared.changes), "test")
    yield (
        f"A share is of the sessions that the rule could check; the difference is the share in {b} less that in {a}. "
        f"The p-values are adjusted after Holm for the {tests} of this table."
    )
    yield _design(compared)
    if not compared.paired:
        yield CAUTION
    yield from _remarks(compared.changes)
    if any(compared.sub_agents):
        first, second = compared.sub_agents
        yield f"Runs of sub-agents are left out: {first:,} in {a} and {second:,} in {b}."
    if compared.in_one_run:
        yield f"Only one of the runs looked for {', '.join(compared.in_one_run)}."


def _design(compared: SessionComparison) -> str:
    a, b, shared = compared.a, compared.b, counted_text(compared.shared, "session")
    first, second = (n - compared.shared for n in compared.sessions)
    if compared.paired:
        left_out = f" Left out, as one run alone has them: {first:,} of {a} and {second:,} of {b}."
        return f"The same {shared} are in both runs and are compared pair by pair.{left_out if first or second else ''}"
    sentence = (
        f"Two samples are compared, of {compared.sessions[0]:,} and {counted_text(compared.sessions[1], 'session')}."
    )
    units = {change.unit for change in compared.changes}
    if compared.shared:
        careful = ", which makes the tests over sessions more careful" if "session" in units else ""
        sentence = f"{sentence} {shared} of both runs count in each{careful}."
    if "project" in units:
        sentence = f"{sentence} Projects are what is drawn, and one that both runs have is drawn once."
    return sentence


def _remarks(changes: Sequence[SessionChange]) -> Iterator[str]:
    categories: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.reason and change.difference.value is not None:
            categories[change.reason].append(change.category)
    for reason, named in categories.items():
        yield f"{'All lines' if len(named) == len(changes) else ', '.join(named)}: {reason}."
    unchecked = [one.category for one in changes if not (one.a.n or one.b.n)]
    if unchecked:
        yield f"No session could be checked for {' or '.join(unchecked)}."
    lone = [f"{one.category} {one.unchecked_pairs:,}" for one in changes if one.unchecked_pairs]
    if lone:
        yield f"Sessions that only one of the runs could check are not pairs: {', '.join(lone)}."


_BEFORE: tuple[_Before, ...] = get_args(_Before)
LEVEL = 0.05

FEWEST_PROJECTS = 4
"""Four in either run keep the clustered test at its level; fewer were not tried (`benchmarks/validity/RESULTS.md`)."""

_MANY_PROJECTS = 12
"""With fewer in one run than in the other, the clustered test is too eager (the same place)."""

NONE_PAIRED = "no session could be checked in both runs"


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
    unit: Resampled = "project" if clustered else "session"
    return _change(category, a, b, (paired.difference, paired.test), unit, reason, left_out)


def _checked(name: str, sessions: Iterable[tuple[Session, Labels]], place: int) -> _Checked:
    answered = [(labels[place] == YES, session) for session, labels in sessions if labels[place] is not None]
    projects = tuple(group_of(session, "project") for _, session in answered)
    return _Checked(name, tuple(shows for shows, _ in answered), projects)


def _change(
    category: str,
    a: _Checked,
    b: _Checked,
    compared: _Compared,
    unit: Resampled,
    reason: str = "",
    unchecked_pairs: int = 0,
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
