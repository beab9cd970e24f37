"""A judge of pairs: whether it prefers a place, how often its answers agree in both orders, and how strong systems are.

Nothing here needs people's labels. Only verdicts count as wins; a pair on which the answers differ is not a tie.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem
from misstep_analysis.judging.rows import judging_table
from misstep_analysis.judging.units import JudgedUnits, units_of
from misstep_analysis.stats.bradley_terry import Comparisons, clustered_strengths
from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard
from misstep_analysis.stats.clusters.clustered_pairs import sign_flip_mcnemar
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.raters.patterns import FloatArray, IntArray
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Fields, Row, Table, made_by_this, rows_from, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, with_interval
from misstep_harness.verdict import PairVerdict, Verdict

ONE_ORDER = "each pair was asked in one order"
NO_PREFERENCE = "no answer prefers a place"
FEWER_THAN_TWO = "the decided pairs do not name two systems"
POINTS = {"a": 1.0, "tie": 0.5, "b": 0.0}
"""The points of output A by label."""

_LEVEL = 0.05
_NAMED = 3
_FLIPS = "sign flips over clusters, mid-p"
_POSITION: Fields = (
    ("Answers that prefer the first place", "first", "share"),
    ("Both orders agree", "consistent", "share"),
)
_STRENGTH: Fields = (
    ("Points won", "points", "share"),
    ("Strength, log-odds", "strength", "coefficient"),
    ("Less than the first", "behind", "coefficient"),
)


class PositionBias(Struct, frozen=True):
    """How a judge's answers depend on places.

    - `n`: The pairs that were answered in every order asked.
    - `first`: The share of the first place among the answers that prefer one; 50% without a bias.
    - `consistent`: The share of the pairs on which the answers in both orders agree.
    - `always_first`, `always_second`: The pairs on which one place is preferred in both orders.
    """

    n: int
    first: Estimate
    consistent: Estimate
    always_first: int
    always_second: int
    p_value: float | None
    test: str


class SystemStrength(Struct, frozen=True):
    """A system's points per comparison, a tie being half of one, and its strength against the mean of all systems.

    `behind` is how much stronger the first system is; its p-value is adjusted for every two of the systems.
    """

    system: str
    n: int
    points: Estimate
    strength: Estimate
    behind: Estimate
    p_value: float | None
    p_adjusted: float | None


class Preferences(Struct, frozen=True):
    """A judge's preferences: its verdicts, its use of places, and the systems, the strongest first."""

    decided: int
    undecided: int
    unanswered: int
    position: PositionBias
    systems: tuple[SystemStrength, ...]
    without_system: int
    reason: str = ""


def preferences(
    verdicts: Sequence[Verdict], systems: Mapping[str, tuple[str, str]], clusters: Mapping[str, str] | None = None
) -> Preferences:
    """Return what a judge prefers; `systems` has those of both outputs of each item."""
    decided = [one for one in verdicts if one.label in POINTS]
    compared = [one for one in decided if len(set(systems.get(one.item, ()))) == 2]
    undecided = sum(isinstance(one, PairVerdict) and one.undecided for one in verdicts)
    strengths = system_strengths(compared, systems, clusters)
    return Preferences(
        len(decided),
        undecided,
        len(verdicts) - len(decided) - undecided,
        position_bias(verdicts, clusters),
        strengths,
        len(decided) - len(compared),
        "" if strengths else FEWER_THAN_TWO,
    )


def position_bias(verdicts: Sequence[Verdict], clusters: Mapping[str, str] | None = None) -> PositionBias:
    """Return whether a judge prefers the first or the second place, whatever it holds."""
    pairs = [one for one in verdicts if isinstance(one, PairVerdict) and one.orders]
    whole = [one for one in pairs if all(answer.status == "answered" for answer in one.orders)]
    places = [[answer.place for answer in one.orders] for one in whole]
    units = units_of([one.item for one in whole], clusters)
    first, second = (np.array([one.count(place) for one in places]) for place in ("first", "second"))
    twice = np.array([len(one) == 2 for one in places], dtype=np.bool_)
    same = np.array([not one.undecided for one in whole], dtype=np.bool_)
    share = Estimate(None, n=0, reason=NO_PREFERENCE)
    test = Significance(None, None, len(whole), reason=NO_PREFERENCE)
    if len(whole) and (first + second).any():
        share = units.bounded(korn_graubard(units.totals(np.column_stack([first, first + second])).astype(np.int64)))
        # Without a bias a pair's answers in both orders could as well be exchanged, and a drawn order be the other.
        test = structs.replace(sign_flip_mcnemar(units.totals(first - second).astype(np.int64)), test=_FLIPS)
    return PositionBias(
        len(whole),
        share,
        units.share(same, twice, ONE_ORDER),
        int(np.count_nonzero(first == 2)),
        int(np.count_nonzero(second == 2)),
        test.p_value,
        test.test,
    )


def comparisons_of(
    verdicts: Sequence[Verdict], systems: Mapping[str, tuple[str, str]], names: Sequence[str], units: IntArray
) -> Comparisons:
    """Return decided verdicts as comparisons of numbered systems, with the unit of each."""
    number = {name: place for place, name in enumerate(names)}
    sides = np.array([[number[name] for name in systems[one.item]] for one in verdicts], dtype=np.int64).reshape(-1, 2)
    points = np.array([POINTS[str(one.label)] for one in verdicts])
    return Comparisons(sides[:, 0], sides[:, 1], points, units, len(names))


def system_strengths(
    verdicts: Sequence[Verdict], systems: Mapping[str, tuple[str, str]], clusters: Mapping[str, str] | None = None
) -> tuple[SystemStrength, ...]:
    """Return the systems by strength; none if fewer than two were compared."""
    names = sorted({name for one in verdicts for name in systems[one.item]})
    if len(names) < 2:
        return ()
    units = units_of([one.item for one in verdicts], clusters)
    compared = comparisons_of(verdicts, systems, names, units.of_item)
    strengths = clustered_strengths(compared)
    points = [_points(compared, system, units) for system in range(len(names))]
    ranked = sorted(
        range(len(names)), key=lambda one: (-np.nan_to_num(strengths.values[one]), -(points[one].value or 0))
    )
    tests = {
        (one, other): strengths.difference(one, other) for at, one in enumerate(ranked) for other in ranked[at + 1 :]
    }
    adjusted = dict(zip(tests, holm([test.p_value for _, test in tests.values()]).p_values, strict=True))
    leader = ranked[0]
    nothing = Estimate(None, reason="it is the first"), Significance(None, None)
    shown = []
    for one in ranked:
        behind, test = tests.get((leader, one), nothing)
        strength, of_tests = strengths.of(one), adjusted.get((leader, one))
        n = points[one].n or 0
        shown.append(SystemStrength(names[one], n, points[one], strength, behind, test.p_value, of_tests))
    return tuple(shown)


def _points(compared: Comparisons, system: int, units: JudgedUnits) -> Estimate:
    """Return the share of points that a system won; each comparison has two halves of a point."""
    own = (compared.first == system) | (compared.second == system)
    won: FloatArray = np.where(compared.first == system, compared.points, 1 - compared.points)[own]
    halves = np.column_stack([2 * won, np.full(len(won), 2)])
    share = units.bounded(korn_graubard(units.only(own).totals(halves).astype(np.int64)), own)
    return structs.replace(share, n=len(won))


def systems_of(items: Sequence[BenchmarkItem], field: str = "system") -> dict[str, tuple[str, str]]:
    """Return the systems of both outputs of each item whose `extra` names them, as `system_a` and `system_b`."""
    named = {item.id: (item.extra.get(f"{field}_a"), item.extra.get(f"{field}_b")) for item in items}
    return {item: (str(a), str(b)) for item, (a, b) in named.items() if a is not None and b is not None}


def position_finding(judge: str, position: PositionBias) -> str:
    """Return whether the judge prefers a place, and how often both orders agree."""
    if position.p_value is None:
        return f"Whether {judge} prefers a place cannot be told: {position.first.reason}."
    share = f"{with_interval(position.first, 'share')} of its answers with a preference"
    p = f"p {number_text(position.p_value, 'p')}"
    if position.p_value > _LEVEL:
        opening = f"No preference for a place shows: {judge} prefers the first on {share} ({p})"
    else:
        place = "first" if (position.first.value or 0) > 1 / 2 else "second"
        opening = f"{judge} prefers the {place} place: the first on {share} ({p})"
    agree = f"; both orders agree on {with_interval(position.consistent, 'share')} of"
    pairs = counted_text(position.n, "pair")
    return f"{opening}{f'{agree} {pairs}' if position.consistent.value is not None else f', over {pairs}'}."


def systems_finding(judge: str, result: Preferences) -> str:
    """Return which system is the strongest, and those that it is not told apart from."""
    if not result.systems:
        return f"{judge} ranks no systems: {result.reason}."
    first, *others = result.systems
    points = f"wins {with_interval(first.points, 'share')} of the points in {counted_text(first.n, 'decided pair')}"
    opening = f"{judge} puts {first.system} first of {len(result.systems)} systems: it {points}"
    if first.strength.value is None:
        return f"{opening}; {first.strength.reason}."
    near = [one.system for one in others if one.p_adjusted is None or one.p_adjusted > _LEVEL]
    rest = "the other" if len(others) == 1 else "all others"
    ending = f"; it is not told apart from {', '.join(near[:_NAMED])}" if near else f" and is ahead of {rest}"
    more = f" and {len(near) - _NAMED} more" if len(near) > _NAMED else ""
    return f"{opening}{ending}{more}."


@made_by_this
def position_table(judge: str, position: PositionBias, source: str) -> Table:
    """Return how a judge's answers depend on the places of the outputs."""
    rows = rows_from(position, _POSITION, "", source)
    if position.consistent.value is not None:
        counts = {
            "First place in both orders": position.always_first,
            "Second place in both orders": position.always_second,
        }
        rows += rows_in("count", counts, "", source, n=position.n)
    rows.append(Row("p", position.p_value, unit="p", method=position.test, source=source))
    return judging_table(
        "position",
        "Does the judge prefer a place?",
        position_finding(judge, position),
        rows,
        ("Without a preference for a place the first has half of the answers; answers that say tie prefer none.",),
    )


@made_by_this
def systems_table(judge: str, result: Preferences, source: str) -> Table:
    """Return the systems by strength, with the points that each won."""
    rows: list[Row] = []
    for place, one in enumerate(result.systems):
        finite = place > 0 and one.behind.value is not None
        rows += rows_from(one, _STRENGTH if finite else _STRENGTH[:2], f"{place + 1}. {one.system}", source)
        if finite:
            adjusted = "p, adjusted after Holm"
            rows.append(Row(adjusted, one.p_adjusted, unit="p", group=f"{place + 1}. {one.system}", source=source))
    unknown, undecided = result.without_system, result.undecided
    counts = {"undecided": undecided, "without an answer": result.unanswered, "of unknown systems": unknown}
    left_out = ", ".join(f"{count:,} {why}" for why, count in counts.items() if count)
    notes = (
        "A tie is half a point for each. Strengths are Bradley and Terry's, as log-odds against the mean of all: one "
        "that is 1 stronger is preferred in 73% of pairs. p is adjusted for every two systems.",
        f"Pairs left out: {left_out}." if left_out else "",
        "Outputs of undecided pairs are often alike: without them systems may look further apart." if undecided else "",
    )
    return judging_table("systems", "Which system is preferred?", systems_finding(judge, result), rows, notes)
