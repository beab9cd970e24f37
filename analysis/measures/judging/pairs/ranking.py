"""Several judges, one ranking? The order in which each puts the systems whose work it judged, and how far they agree.

Each item is the work of one system. A judge's figure for a system is the share of its items with the label of good
work, over the items that the judge answered and again with the unanswered as no good work (`_all`). People's labels
play no part: judges may agree on an order and all be wrong.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.units import BoolArray, JudgedUnits, drawn_totals, resampled_estimate, units_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.rank_correlation import kendall_tau_b
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.harness.errors import UsageError
from misstep.harness.verdict import Verdict

ALL_ALIKE = "a judge gives all systems the same share, or answered no item of one"
TIED = "several systems are first: there is no winner that could hold"
NO_WINNER = "a judge answered no item, which leaves it without a winner"


class RankedSystem(Struct, frozen=True):
    """A system with the share of its items that a judge calls good work."""

    system: str
    n: int
    answered: int
    share: Estimate
    share_all: Estimate


class JudgeOrder(Struct, frozen=True):
    """How one judge orders the systems, the best first.

    `winners` are those with the highest share, several where they tie, none without an answer; `winner_holds` is the
    share of resamples in which the same system is first alone.
    """

    judge: str
    systems: tuple[RankedSystem, ...]
    winners: tuple[str, ...]
    winner_holds: Estimate


class OrderPair(Struct, frozen=True):
    """Two judges' orders: Kendall's tau-b, and in which share of resamples no system is first with both."""

    a: str
    b: str
    tau: Estimate
    tau_all: Estimate
    same_winner: bool
    winner_changes: Estimate


class RankStability(Struct, frozen=True):
    """The orders of all judges on the `n` items that all were asked about and whose system is known.

    `without_system` counts the items that are left out because nothing says whose work they are.
    """

    good: str
    n: int
    without_system: int
    judges: tuple[JudgeOrder, ...]
    pairs: tuple[OrderPair, ...]

    @property
    def winners(self) -> tuple[str, ...]:
        """Return every system that is first with some judge."""
        return tuple(dict.fromkeys(winner for judge in self.judges for winner in judge.winners))


class _Counts(Struct, frozen=True):
    """Sums of each set of items, sets x judges x systems: good and answered; and sets x systems: all."""

    good: FloatArray
    answered: FloatArray
    items: FloatArray

    @property
    def share(self) -> FloatArray:
        """Return the good of the answered; NaN where nothing was answered."""
        return np.where(self.answered > 0, self.good / np.maximum(self.answered, 1), np.nan)

    @property
    def share_all(self) -> FloatArray:
        """Return the good of all; NaN if there is no item."""
        items = np.broadcast_to(self.items[:, None, :], self.good.shape)
        return np.where(items > 0, self.good / np.maximum(items, 1), np.nan)

    def first(self) -> FloatArray:
        """Sets x judges x systems: 1 where a system has the highest share, else 0; all 0 without any answer."""
        share = np.nan_to_num(self.share, nan=-1.0)
        highest = share.max(axis=2, keepdims=True)
        return np.asarray(((share == highest) & (highest >= 0)).astype(np.float64))


def rank_stability(
    runs: Mapping[str, Sequence[Verdict]],
    system_of: Mapping[str, str],
    good: str,
    *,
    clusters: Mapping[str, str] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> RankStability:
    """Return how far several judges put the same systems in the same order."""
    if len(runs) < 2:
        raise UsageError("a ranking of several judges needs two runs", "Name runs of two or more judges.")
    # Chance draws alike whatever order the judges are named in.
    labels = {judge: {verdict.item: verdict.label for verdict in runs[judge]} for judge in sorted(runs)}
    asked = [item for item in next(iter(labels.values())) if all(item in given for given in labels.values())]
    items = [item for item in asked if item in system_of]
    systems = sorted({system_of[item] for item in items})
    if len(systems) < 2:
        of = f"are the work of one system, {systems[0]}" if systems else "do not say whose work they are"
        found = f"the items that all judges were asked about {of}"
        raise UsageError(found, "Name the field of the items that says whose work they are: --system FIELD.")
    units = units_of(items, clusters)
    sums = _sums(items, systems, system_of, labels, good)
    totals, shape = units.totals(sums), (len(runs), len(systems))
    observed = _counts(totals.sum(axis=0)[None, :], shape)
    place_of = {judge: place for place, judge in enumerate(labels)}
    pairs = [(place_of[a], place_of[b]) for a, b in combinations(runs, 2)]
    winners = observed.first()

    def figures(sets: FloatArray) -> FloatArray:
        return _figures(_counts(sets, shape), winners[0], pairs)

    drawn = drawn_totals(figures, totals, resamples, np.random.default_rng(seed))
    values = figures(totals.sum(axis=0)[None, :])[0]
    tau, tau_all, changes, holds = np.split(drawn, [len(pairs), 2 * len(pairs), 3 * len(pairs)], axis=1)
    names = list(labels)

    def kendall(place: int, column: FloatArray) -> Estimate:
        return resampled_estimate(float(values[place]), column, len(items), units.name, ALL_ALIKE)

    return RankStability(
        good=good,
        n=len(items),
        without_system=len(asked) - len(items),
        judges=tuple(
            _order(
                name,
                _ranked(sums > 0, systems, place, len(names), units),
                tuple(system for system, is_first in zip(systems, winners[0, place], strict=True) if is_first),
                _frequency(holds[:, place], len(items), units),
            )
            for name, place in ((name, place_of[name]) for name in runs)
        ),
        pairs=tuple(
            OrderPair(
                names[a],
                names[b],
                kendall(place, tau[:, place]),
                kendall(len(pairs) + place, tau_all[:, place]),
                bool((winners[0, a] * winners[0, b]).any()),
                _frequency(changes[:, place], len(items), units),
            )
            for place, (a, b) in enumerate(pairs)
        ),
    )


def _sums(
    items: Sequence[str],
    systems: Sequence[str],
    system_of: Mapping[str, str],
    labels: Mapping[str, Mapping[str, str | None]],
    good: str,
) -> FloatArray:
    """Items x sums: for each judge and system good, then answered, then for each system all."""
    places = {system: place for place, system in enumerate(systems)}
    of_item = np.zeros((len(items), len(systems)))
    of_item[np.arange(len(items)), [places[system_of[item]] for item in items]] = 1
    given = [[one[item] for item in items] for one in labels.values()]
    columns = [of_item * np.array([[label == good] for label in one]) for one in given]
    columns += [of_item * np.array([[label is not None] for label in one]) for one in given]
    return np.concatenate([*columns, of_item], axis=1)


def _counts(sums: FloatArray, shape: tuple[int, int]) -> _Counts:
    judges, systems = shape
    cells = judges * systems
    by_judge = (sums[:, :cells], sums[:, cells : 2 * cells])
    good, answered = (part.reshape(-1, judges, systems) for part in by_judge)
    return _Counts(good, answered, sums[:, 2 * cells :])


def _figures(counts: _Counts, winners: FloatArray, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Sets x figures: tau and tau over all of each pair, whether the winner changes, whether each judge's holds.

    In a set in which a judge answered nothing, it has no winner that could change.
    """
    first = counts.first()
    has_winner = np.asarray(first.any(axis=2))
    taus = [kendall_tau_b(share[:, a], share[:, b]) for share in (counts.share, counts.share_all) for a, b in pairs]
    changes = [
        np.where(has_winner[:, a] & has_winner[:, b], (first[:, a] * first[:, b]).sum(axis=1) == 0, np.nan)
        for a, b in pairs
    ]
    holds = [(first[:, judge] == winner).all(axis=1) for judge, winner in enumerate(winners)]
    return np.column_stack([*taus, *changes, *holds]).astype(np.float64)


def _frequency(drawn: FloatArray, n: int, units: JudgedUnits) -> Estimate:
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return Estimate(None, n=n, reason=NO_WINNER)
    reason = f"undefined in {len(drawn) - len(known):,} of {len(drawn):,} resamples" if len(known) < len(drawn) else ""
    return Estimate(
        float(known.mean()), n=n, method=f"share of {len(drawn):,} resamples of {units.name}", reason=reason
    )


def _order(name: str, ranked: tuple[RankedSystem, ...], winners: tuple[str, ...], holds: Estimate) -> JudgeOrder:
    if len(winners) != 1:
        holds = Estimate(None, n=holds.n, reason=TIED if winners else NO_WINNER)
    return JudgeOrder(name, ranked, winners, holds)


def _ranked(
    sums: BoolArray, systems: Sequence[str], judge: int, judges: int, units: JudgedUnits
) -> tuple[RankedSystem, ...]:
    """Return the systems in the order of one judge, equal ones by name, those without an answer last."""
    ranked = []
    for place, system in enumerate(systems):
        cell, every = judge * len(systems) + place, sums[:, 2 * judges * len(systems) + place]
        good, answered = sums[:, cell], sums[:, judges * len(systems) + cell]
        share = units.share(good, answered, "the judge answered none of its items")
        share_all = units.share(good, every, "the system has no item")
        n, told = int(np.count_nonzero(every)), int(np.count_nonzero(answered))
        ranked.append(RankedSystem(system, n, told, share, share_all))
    return tuple(sorted(ranked, key=lambda one: 1.0 if one.share.value is None else -one.share.value))
