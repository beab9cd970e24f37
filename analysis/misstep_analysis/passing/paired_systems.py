"""Two systems on the tasks that both tried: which passes more often, and is that more than chance.

With one attempt a task that is McNemar's mid-p test with Tango's interval; with more, a task goes either way as a
whole: sign flips over the tasks' differences, with Student's t.
"""

from collections.abc import Mapping
from itertools import combinations

from msgspec import Struct, structs

from misstep_analysis.sessions.leading import Contest
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.significance import holm
from misstep_analysis.tables import Evidence, Row, rows_in
from misstep_analysis.tables.wording import counted_text, p_text, points_text

LEVEL = 0.05

Cell = tuple[int, int]
"""How many attempts at a task count, and how many of them passed."""


class ComparedPair(Struct, frozen=True):
    """Two systems `a` and `b` on the `n` tasks that both tried: mean shares of passed attempts, `a` less `b`."""

    a: str
    b: str
    n: int
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    test: str

    @property
    def apart(self) -> bool:
        """Return whether the two are told apart, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL

    @property
    def contest(self) -> Contest:
        """Return what the pair says of who leads."""
        return Contest(self.a, self.b, self.difference.value, self.apart)


class PairedSystems(ComparedPair, frozen=True):
    """The same with the numbers of tasks by which of the two passes more often, and what to beware of."""

    more_a: int = 0
    more_b: int = 0
    alike: int = 0
    reason: str = ""


class PairWords(Struct, frozen=True):
    """How pairs of some systems are told: what one does more than the other, on what, and the names of rows."""

    ahead: str
    alike: str
    noun: str
    difference: str
    adjusted: str = "p-value, adjusted"


def compare_systems(tried: Mapping[str, Mapping[str, Cell]], none_shared: str) -> tuple[PairedSystems, ...]:
    """Return every two of some systems, in their order; `none_shared` says that two have no task in common."""
    pairs = [_compared(a, b, tried[a], tried[b], none_shared) for a, b in combinations(tried, 2)]
    adjusted = holm([pair.p_value for pair in pairs]).p_values
    return tuple(structs.replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _compared(a: str, b: str, first: Mapping[str, Cell], second: Mapping[str, Cell], none_shared: str) -> PairedSystems:
    shared = [task for task, (tried, _) in first.items() if tried and second.get(task, (0, 0))[0]]
    if not shared:
        nothing = Estimate(None, n=0, reason=none_shared)
        return PairedSystems(a, b, 0, nothing, None, None, "", reason=none_shared)
    from misstep_analysis.stats.clusters.clustered_pairs import paired_rates

    rates = paired_rates([(*first[task], *second[task]) for task in shared])
    counts = rates.ahead, rates.behind, rates.level
    return PairedSystems(
        a, b, len(shared), rates.difference, rates.test.p_value, None, rates.test.test, *counts, rates.reason
    )


def pair_finding(pair: ComparedPair, words: PairWords) -> str:
    """Return which of two systems passes more often on the same tasks, in one sentence."""
    difference = pair.difference.value
    if difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.difference.reason}."
    tasks, p_values = counted_text(pair.n, words.noun), p_text(pair.p_value, pair.p_adjusted)
    if difference == 0:
        return f"{pair.a} and {pair.b} {words.alike} the same {tasks} ({p_values})."
    better, worse = (pair.a, pair.b) if difference > 0 else (pair.b, pair.a)
    doubt = "" if pair.apart else ", which may be chance"
    ahead = words.ahead.format(points_text(difference))
    return f"{better} {ahead} {worse} on the same {tasks}{doubt} ({p_values})."


def pair_rows(
    pair: PairedSystems, words: PairWords, source: str = "", evidence: Evidence = "real", *, alone: bool
) -> list[Row]:
    """Return the rows of two systems; `alone` where no other pair is compared."""
    where = f"{pair.a} less {pair.b}", source, evidence
    p_values = {"p-value": Estimate(pair.p_value, n=pair.n, method=pair.test, reason=pair.reason)}
    if not alone:
        p_values[words.adjusted] = Estimate(pair.p_adjusted, n=pair.n)
    counts = {f"More by {pair.a}": pair.more_a, f"More by {pair.b}": pair.more_b, "As many by both": pair.alike}
    return [
        *rows_in("difference", {words.difference: pair.difference}, *where),
        *rows_in("p", p_values, *where),
        *rows_in("count", counts, *where, n=pair.n),
    ]
