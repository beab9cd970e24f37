"""Public benchmarks of broken programs: how many models repaired, and how well the tests tell broken from correct."""

from collections.abc import Sequence

from misstep_analysis.passing.solve_rates import SolvedSet, gaps
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.clusters.paired import paired_score_interval
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Row, Table, TableHead, made_by_this, measured_on, rows_in
from misstep_analysis.tables.wording import with_interval

_PAPER = "engineering_agent"
_ABSENT = "No public set of repairs is available."
_REPAIRED = TableHead(
    "public_repairs",
    _PAPER,
    "Broken programs that models repaired, on public data",
    (
        "Results of several kinds of fault are added up: a rate is of all programs tried, intervals are Wilson's.",
        "Whether a repair passed was judged by the site of the problems and cannot be run again here.",
    ),
)
_PROGRAMS = TableHead(
    "broken_programs",
    _PAPER,
    "Broken and correct programs against their tests",
    ("Where a program has several tests, they hang together: the interval is Korn and Graubard's over programs.",),
)


def pooled(one: SolvedSet, system: str) -> Estimate:
    """Return the share of all tries that succeeded, each try a program of its own, with Wilson's interval."""
    cells = one.systems[system].values()
    return wilson(sum(solved for _, solved in cells), sum(tried for tried, _ in cells))


def over_tasks(one: SolvedSet, system: str) -> Estimate:
    """Return the share of all tries that succeeded, those at a task hanging together: Korn and Graubard's interval."""
    return korn_graubard([(solved, tried) for tried, solved in one.systems[system].values()])


def _rates(one: SolvedSet, rates: dict[str, Estimate], what: str = "") -> list[Row]:
    return measured_on(one.dataset, rows_in("share", rates, f"{one.title}{what}", one.source))


@made_by_this
def public_repairs_table(
    repaired: Sequence[SolvedSet], cases: Sequence[SolvedSet] = (), notes: Sequence[str] = ()
) -> Table:
    """Return how many broken programs each model repaired, and models compared on the same programs."""
    rows: list[Row] = []
    for one in (*repaired, *cases):
        rows += _rates(one, {name: pooled(one, name) for name in one.ranked_by_share()})
    for one in cases:
        first, *others = one.ranking()
        for gap in gaps(one, [(first, other) for other in others]):
            counts = f"{gap.paired.first_only} and {gap.paired.second_only} repaired by one alone, {one.source}"
            where = f"{one.title}: {gap.better} less {gap.worse}", counts
            p_value = Estimate(gap.p_value, n=gap.paired.n, method="McNemar, mid-p")
            of_gap = rows_in("difference", {"Difference": paired_score_interval(gap.paired)}, *where)
            rows += measured_on(one.dataset, [*of_gap, *rows_in("p", {"p": p_value}, *where)])
    finding = _ABSENT
    for one in repaired[:1]:
        best = one.ranked_by_share()[0]
        rate = pooled(one, best)
        share = with_interval(rate, "share")
        finding = f"The best on {one.title} ({best}) repairs {share} of {rate.n:,} programs."
    return _REPAIRED.table(finding, rows, notes, datasets=(one.dataset for one in (*repaired, *cases)))


@made_by_this
def programs_table(programs: Sequence[SolvedSet], tests: Sequence[SolvedSet] = (), notes: Sequence[str] = ()) -> Table:
    """Return how often broken and correct programs pass: what a benchmark's tests can tell apart."""
    rows: list[Row] = []
    for one in programs:
        rows += _rates(one, {name: pooled(one, name) for name in one.systems})
    for one in tests:
        rows += _rates(one, {name: over_tasks(one, name) for name in one.systems}, ", tests")
    finding = _ABSENT
    for one in programs[:1]:
        shares = [f"{with_interval(pooled(one, name), 'share')} of {name}" for name in one.systems]
        finding = f"On {one.title} the tests pass for {'; '.join(shares)}."
    return _PROGRAMS.table(finding, rows, notes, datasets=(one.dataset for one in (*programs, *tests)))
