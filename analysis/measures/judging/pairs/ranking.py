"""The order in which each of several judges puts the systems whose work it judged, and how far they agree."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from misstep.analysis.measures.judging.rows import judging_table
from misstep.analysis.measures.judging.units import BoolArray, JudgedUnits, drawn_totals, resampled_estimate, units_of
from misstep.analysis.stats.estimate import Estimate
from misstep.analysis.stats.ranking import kendall_tau_b
from misstep.analysis.stats.raters.patterns import FloatArray
from misstep.analysis.tables import Fields, Row, Table, estimate_row, made_by_this, rows_from
from misstep.analysis.tables.wording import counted_text, number_text, with_interval
from misstep.harness.errors import UsageError
from misstep.harness.verdict import Verdict

ALL_ALIKE = "a judge gives all systems the same share, or answered no item of one"
TIED = "several systems are first: there is no winner that could hold"
NO_WINNER = "a judge answered no item, which leaves it without a winner"

_PAIR_FIELDS: Fields = (
    ("Kendall's tau-b", "tau", "coefficient"),
    ("Tau-b, unanswered not good", "tau_all", "coefficient"),
    ("Winner changes", "winner_changes", "share"),
)
_RANKING_NOTES = (
    "The winner changes in a resample if no system is first with both judges; the share of resamples is given. "
    "“Unanswered not good” counts an item without an answer as no good work. Judges that agree may all be wrong: "
    "people's labels play no part here.",
    "An interval is of chance in the items alone: the systems and the judges are as given. With few systems tau-b has "
    "few values.",
)


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
    """The orders of all judges on the `n` items that all were asked about and whose system is known."""

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
        return np.where(self.answered > 0, self.good / np.maximum(self.answered, 1), np.nan)

    @property
    def share_all(self) -> FloatArray:
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
    shared = [item for item in next(iter(labels.values())) if all(item in of_judge for of_judge in labels.values())]
    items = [item for item in shared if item in system_of]
    systems = sorted({system_of[item] for item in items})
    if len(systems) < 2:
        of = f"are the work of one system, {systems[0]}" if systems else "do not say whose work they are"
        problem = f"the items that all judges were asked about {of}"
        raise UsageError(problem, "Name the field of the items that says whose work they are: --system FIELD.")
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
    values = _figures(observed, winners[0], pairs)[0]
    tau, tau_all, changes, holds = np.split(drawn, [len(pairs), 2 * len(pairs), 3 * len(pairs)], axis=1)
    names = list(labels)

    def kendall(place: int, column: FloatArray) -> Estimate:
        return resampled_estimate(float(values[place]), column, len(items), units.name, ALL_ALIKE)

    def order(name: str) -> JudgeOrder:
        place = place_of[name]
        first = tuple(system for system, is_first in zip(systems, winners[0, place], strict=True) if is_first)
        stays = _frequency(holds[:, place], len(items), units)
        if len(first) != 1:
            stays = Estimate(None, n=stays.n, reason=TIED if first else NO_WINNER)
        return JudgeOrder(name, _ranked(sums > 0, systems, place, len(names), units), first, stays)

    def order_pair(place: int, a: int, b: int) -> OrderPair:
        taus = kendall(place, tau[:, place]), kendall(len(pairs) + place, tau_all[:, place])
        same_winner = bool((winners[0, a] * winners[0, b]).any())
        return OrderPair(names[a], names[b], *taus, same_winner, _frequency(changes[:, place], len(items), units))

    return RankStability(
        good,
        len(items),
        len(shared) - len(items),
        tuple(order(name) for name in runs),
        tuple(order_pair(place, a, b) for place, (a, b) in enumerate(pairs)),
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
    answers = [[one[item] for item in items] for one in labels.values()]
    columns = [of_item * np.array([[label == good] for label in one]) for one in answers]
    columns += [of_item * np.array([[label is not None] for label in one]) for one in answers]
    return np.concatenate([*columns, of_item], axis=1)


def _counts(sums: FloatArray, shape: tuple[int, int]) -> _Counts:
    cells = shape[0] * shape[1]
    good, answered = (part.reshape(-1, *shape) for part in (sums[:, :cells], sums[:, cells : 2 * cells]))
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
    method = f"share of {len(drawn):,} resamples of {units.name}"
    return Estimate(float(known.mean()), n=n, method=method, reason=reason)


def _ranked(
    sums: BoolArray, systems: Sequence[str], judge: int, judges: int, units: JudgedUnits
) -> tuple[RankedSystem, ...]:
    ranked = []
    for place, system in enumerate(systems):
        cell, every = judge * len(systems) + place, sums[:, 2 * judges * len(systems) + place]
        good, answered = sums[:, cell], sums[:, judges * len(systems) + cell]
        share = units.share(good, answered, "the judge answered none of its items")
        share_all = units.share(good, every, "the system has no item")
        n, n_answered = int(np.count_nonzero(every)), int(np.count_nonzero(answered))
        ranked.append(RankedSystem(system, n, n_answered, share, share_all))
    return tuple(sorted(ranked, key=lambda one: 1.0 if one.share.value is None else -one.share.value))


def ranking_finding(ranking: RankStability) -> str:
    """Return whether one system is first with all judges, and how far the two that agree least are apart."""
    opening = _first_places([judge for judge in ranking.judges if judge.winners])
    opening += "".join(f"; {judge.judge} answered no item" for judge in ranking.judges if not judge.winners)
    known = [pair for pair in ranking.pairs if pair.tau.value is not None]
    if not known:
        return f"{opening}; Kendall's tau-b is not defined for any two judges."
    least = min(known, key=lambda pair: pair.tau.value or 0.0)
    of_these = "the two" if len(ranking.pairs) == 1 else f"{least.a} and {least.b}, which agree least,"
    return f"{opening}; Kendall's tau-b of {of_these} is {with_interval(least.tau, 'coefficient')}."


def _first_places(judges: Sequence[JudgeOrder]) -> str:
    if not judges:
        return "No system is first"
    common = [system for system in judges[0].winners if all(system in judge.winners for judge in judges)]
    if not common:
        each = "; ".join(f"{' and '.join(judge.winners)} with {judge.judge}" for judge in judges)
        return f"The winner depends on the judge: {each}"
    with_whom = judges[0].judge if len(judges) == 1 else f"all {counted_text(len(judges), 'judge')}"
    tied = [judge for judge in judges if len(judge.winners) > len(common)]
    return f"{' and '.join(common)} {'is' if len(common) == 1 else 'are'} first with {with_whom}" + "".join(
        f"; {judge.judge} puts {counted_text(len(judge.winners), 'system')} first" for judge in tied
    )


@made_by_this
def ranking_table(ranking: RankStability, source: str) -> Table:
    """Kendall's tau-b between the judges' orders, and how often the winner changes with the judge."""
    left_out = f"{counted_text(ranking.without_system, 'item')} left out: nothing says whose work it is."
    rows: list[Row] = []
    for pair in ranking.pairs:
        group = f"{pair.a} / {pair.b}"
        tau, tau_all, changes = rows_from(pair, _PAIR_FIELDS, group, source)
        same = Row("Same winner", "yes" if pair.same_winner else "no", source=source, unit="text", group=group)
        rows += [tau, tau_all, same, changes]
    return judging_table(
        "rank_stability",
        "Do several judges put the systems in one order?",
        ranking_finding(ranking),
        rows,
        (
            f"A system's figure is the share of its items that the judge calls “{ranking.good}”, over the "
            f"{counted_text(ranking.n, 'item')} that all judges were asked about. Tau-b is 1 where two orders are the "
            "same and -1 where one is the other turned round.",
            *_RANKING_NOTES,
            left_out if ranking.without_system else "",
        ),
    )


@made_by_this
def orders_table(ranking: RankStability, source: str) -> Table:
    """The systems in each judge's order, with the share of their items that it calls good work; as `ranking_table`."""
    rows, notes = [], []
    for judge in ranking.judges:
        shares = [-1.0 if one.share.value is None else one.share.value for one in judge.systems]
        for one, share in zip(judge.systems, shares, strict=True):
            place = 1 + sum(other > share for other in shares)
            rows.append(estimate_row(f"{place}. {one.system}", one.share, "share", judge.judge, source))
        counts = [(one.n - one.answered, f"of {one.n:,} of {one.system}") for one in judge.systems]
        left_open = ", ".join(f"{count:,} {of}" for count, of in counts if count)
        notes.append(f"{judge.judge} gave no answer on {left_open}; shares are of the answered." if left_open else "")
    finding = " ".join(map(_first_alone, ranking.judges))
    return judging_table("judge_orders", "Each judge's order of the systems", finding, rows, notes)


def _first_alone(judge: JudgeOrder) -> str:
    if not judge.winners:
        return f"{judge.judge} answered no item and has no order."
    if judge.winner_holds.value is None:
        return f"With {judge.judge} {counted_text(len(judge.winners), 'system')} share the first place."
    share = number_text(judge.winner_holds.value, "share")
    return f"With {judge.judge} {judge.winners[0]} is first alone in {share} of resamples."
