"""One category in two runs of `classify`: the shares of sessions that show it, their difference and its test.

Sessions of one project hang together, so that projects are what the tests count, if there are enough.

    {"category": "infinite_loop", "a": {"value": 0.20, …}, "b": {"value": 0.08, …}, "difference": {"value": -0.12, …},
     "p_value": 0.003, "p_adjusted": 0.012, "test": "cluster sandwich, t with 21.3 degrees of freedom",
     "unit": "project", "projects": [14, 12], "unchecked_pairs": 0, "reason": ""}
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Literal

from msgspec import Struct, structs

from misstep.analysis.measures.prevalence import YES, Labels
from misstep.analysis.measures.session_rates import group_of
from misstep.analysis.measures.shares import share
from misstep.analysis.stats.clusters.clustered import clustered_difference
from misstep.analysis.stats.clusters.clustered_pairs import clustered_paired_difference, sign_flip_mcnemar
from misstep.analysis.stats.clusters.paired import PairedTable, mcnemar_mid_p, paired_score_interval
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.printed.two_proportions import fisher_exact, newcombe
from misstep.analysis.stats.significance import Significance
from misstep.analysis.tables.wording import counted_text
from misstep.harness.records.session import Session

LEVEL = 0.05
"""Of an adjusted p-value: at or below it a category is said to have changed."""

FEWEST_PROJECTS = 4
"""Four in either run keep the clustered test at its level; fewer were not tried (`benchmarks/validity/RESULTS.md`)."""

_MANY_PROJECTS = 12
"""With fewer in one run than in the other, the clustered test is too eager (the same place)."""

NONE_PAIRED = "no session could be checked in both runs"

Unit = Literal["project", "session"]


class SessionChange(Struct, frozen=True):
    """One category in two runs.

    - `p_value`, `p_adjusted`, `test`: Of the hypothesis that there is no difference; adjusted after Holm for all
      changes of the table, and within groups for those of all groups.
    - `unchecked_pairs`: How many sessions of both runs are left out because only one run could check them.
    """

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


LabelledSessions = Sequence[tuple[Session, Labels]]
TwoRuns = tuple[LabelledSessions, LabelledSessions]
_Compared = tuple[Estimate, Significance]


class _Checked(Struct, frozen=True):
    """The sessions of a run that could be checked for a category: whether each shows it, and its project."""

    name: str
    shows: tuple[bool, ...]
    projects: tuple[str, ...]

    @property
    def share(self) -> Estimate:
        return share(sum(self.shows), len(self.shows), _nothing(self.name))

    def n_projects(self, other: "_Checked") -> tuple[int, int]:
        """Return how many projects the sessions of this and of another run are of."""
        return len(set(self.projects)), len(set(other.projects))

    def by_project(self, first: Sequence[str] = ()) -> list[tuple[int, int]]:
        """Return how many sessions of each project show it, of how many; some projects before the others."""
        counts, shown = Counter(self.projects), Counter(compress(self.projects, self.shows))
        return [(shown[project], counts[project]) for project in dict.fromkeys((*first, *counts))]


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
    if reason or not _together(a, b):
        table = PairedTable.of(b.shows, a.shows)
        exact = paired_score_interval(table), mcnemar_mid_p(table)
        return _change(category, a, b, exact, "session", reason, left_out)
    counts = list(zip(b.by_project(), a.by_project(), strict=True))
    differences, sizes = [after - before for (after, _), (before, _) in counts], [size for (_, size), _ in counts]
    clustered = clustered_paired_difference(differences, sizes), sign_flip_mcnemar(differences)
    return _change(category, a, b, clustered, "project", "", left_out)


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
    """Return whether any two sessions of a run are of one project."""
    return any(len(set(run.projects)) < len(run.projects) for run in (a, b))


def _nothing(name: str) -> str:
    return f"no session of {name} could be checked"
