"""Judges compared in pairs on the same items: who gives the gold label more often, and is that more than chance.

Only items count that both judges were asked about and that have a gold label.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import ceil
from typing import Literal, get_args

import numpy as np
from msgspec import Struct, structs

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.sample import majority
from misstep_analysis.judging.scores import Scores, beside_constant, ranking, unanswered_text
from misstep_analysis.judging.units import cluster_names, judging_table
from misstep_analysis.sessions.leading import Contest, lead_of
from misstep_analysis.stats.checked import known
from misstep_analysis.stats.clusters.clustered_pairs import PairedItems, paired_design_effect, resampled_pairs
from misstep_analysis.stats.decisions.power import sample_size_paired
from misstep_analysis.stats.estimate import Estimate, bounded
from misstep_analysis.stats.significance import Significance, holm
from misstep_analysis.tables import Fields, Row, Table, Unit, made_by_this, rows_from, rows_of
from misstep_analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    p_text,
    points_text,
    with_interval,
)
from misstep_harness.verdict import Verdict

Test = Literal["mcnemar", "bootstrap"]
NONE_SHARED = "no item with a gold label was asked of both"
NONE_ANSWERED = "no item with a gold label was answered by both"
NO_DIFFERENCE = "no difference: no number of items tells them apart"
LEVEL = 0.05
"""Two judges differ at or below this adjusted p-value."""

_FEWEST_DISCORDANT = 5
"""With fewer the mid-p test is above 0.05 even where all of them go one way, which the formula does not know."""

DIFFERENCE = "Difference, unanswered counted as wrong"
_RUN_FIELDS: Fields = (
    ("Accuracy, unanswered wrong", "accuracy_all", "share"),
    ("Accuracy of the answered", "accuracy", "share"),
    ("Cohen's kappa", "cohen_kappa", "coefficient"),
)
_NOTES = (
    "The difference is the first judge's share of gold labels given less the second's, over the items asked of both; "
    "an item without an answer counts as wrong.",
    "Items needed: to find this difference at the level 0.05 with a chance of 80%, if the judges go on to disagree as "
    "often as here (Connor 1987); one comparison, no adjustment.",
)


class AnsweredPair(Struct, frozen=True):
    """The difference over the items that both judges answered."""

    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    reason: str = ""


class PairedJudges(Struct, frozen=True):
    """Two judges on the same items.

    - `difference`, `low`, `high`: The share on which `a` gives the gold label less that of `b`, unanswered as wrong.
    - `p_value`, `p_adjusted`, `test`: Of no difference; adjusted after Holm for all pairs compared.
    - `n_needed`: How many items tell the two apart with a chance of 80% at the level 0.05.
    """

    a: str
    b: str
    n: int
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    test: str
    method: str
    both: int
    only_a: int
    only_b: int
    neither: int
    n_needed: int | None
    answered: AnsweredPair
    reason: str

    @property
    def estimate(self) -> Estimate:
        """Return the difference with its interval, unanswered items counted as wrong."""
        return Estimate(self.difference, self.low, self.high, self.n, self.method, self.reason)

    @property
    def apart(self) -> bool:
        """Return whether the two are told apart, after Holm's adjustment."""
        return self.p_adjusted is not None and self.p_adjusted <= LEVEL

    @property
    def where_answered(self) -> Estimate:
        """Return the same over the items that both answered."""
        answered = self.answered
        return Estimate(answered.difference, answered.low, answered.high, answered.n, self.method, answered.reason)

    @property
    def contest(self) -> Contest:
        """Return what the pair says of who leads."""
        return Contest(self.a, self.b, self.difference, self.apart)

    def leader(self) -> tuple[str, str, bool]:
        """The judge that gives the gold label more often and the other one, and whether the first named leads."""
        leads = (self.difference or 0) >= 0
        return (self.a, self.b, True) if leads else (self.b, self.a, False)


def compare_judges(
    runs: Mapping[str, Iterable[Verdict]],
    gold: Iterable[GoldLabel],
    *,
    clusters: Mapping[str, str] | None = None,
    test: Test = "mcnemar",
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[PairedJudges, ...]:
    """Return every two of some runs of judges on one benchmark, in the order of the runs."""
    known(test, get_args(Test), "test")
    label_of = majority(gold).label_of
    answers = {
        name: {verdict.item: verdict.label for verdict in verdicts if verdict.item in label_of}
        for name, verdicts in runs.items()
    }

    def paired(a: str, b: str) -> PairedJudges:
        shared = [item for item in answers[a] if item in answers[b]]
        answered = [item for item in shared if answers[a][item] is not None and answers[b][item] is not None]

        def over(items: Sequence[str]) -> PairedItems | None:
            first, second = ([answers[name][item] == label_of[item] for item in items] for name in (a, b))
            return PairedItems.of(first, second, cluster_names(items, clusters)) if items else None

        return _compared(a, b, over(shared), over(answered), test, resamples, seed)

    pairs = [paired(a, b) for a, b in combinations(runs, 2)]
    adjusted = holm([pair.p_value for pair in pairs]).p_values
    return tuple(structs.replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True))


def _compared(
    a: str, b: str, shared: PairedItems | None, answered: PairedItems | None, test: Test, resamples: int, seed: int
) -> PairedJudges:
    difference, outcome = _tested(shared, NONE_SHARED, test, resamples, seed)
    over_answered, found_answered = _tested(answered, NONE_ANSWERED, test, resamples, seed)
    n_needed, why_not = _needed(shared)
    both, only_a, only_b, neither = (0, 0, 0, 0) if shared is None else structs.astuple(shared.table)
    return PairedJudges(
        a=a,
        b=b,
        n=difference.n or 0,
        difference=difference.value,
        low=difference.low,
        high=difference.high,
        p_value=outcome.p_value,
        p_adjusted=None,
        test=outcome.test,
        method=difference.method,
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=neither,
        n_needed=n_needed,
        answered=AnsweredPair(
            over_answered.n or 0,
            over_answered.value,
            over_answered.low,
            over_answered.high,
            found_answered.p_value,
            _joined(over_answered.reason, found_answered.reason),
        ),
        reason=_joined(difference.reason, outcome.reason, why_not),
    )


def _tested(
    paired: PairedItems | None, nothing: str, test: Test, resamples: int, seed: int
) -> tuple[Estimate, Significance]:
    if paired is None:
        return Estimate(None, n=0, reason=nothing), Significance(None, None, 0, reason=nothing)
    if test == "bootstrap":
        resampled = resampled_pairs(paired.differences, paired.sizes, np.random.default_rng(seed), resamples)
        return resampled.difference, resampled.test
    difference = paired.difference
    return bounded(difference, len(paired.sizes)) if paired.clustered else difference, paired.test


def _needed(paired: PairedItems | None) -> tuple[int | None, str]:
    """The items that tell two judges apart, widened by what clusters cost; clusters that help are not counted on."""
    if paired is None:
        return None, ""
    table = paired.table
    if table.first_only == table.second_only:
        return None, NO_DIFFERENCE
    discordant = table.discordant / table.n
    size = sample_size_paired(discordant, (table.first_only - table.second_only) / table.n)
    effect = paired_design_effect(paired.differences, paired.sizes, table.discordant) if paired.clustered else None
    return ceil(max(size, _FEWEST_DISCORDANT / discordant) * max(1.0, effect or 1.0)), ""


def _joined(*reasons: str) -> str:
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def comparison_finding(pairs: Sequence[PairedJudges]) -> str:
    """What the comparison of some judges found: of two the sentence, of more how many pairs differ, and the widest."""
    if len(pairs) == 1:
        return pair_sentence(pairs[0])
    apart = sum(pair.apart for pair in pairs)
    differ = f"{apart} of {len(pairs)} pairs of judges differ at the level {LEVEL:g} after Holm's adjustment"
    known = [pair for pair in pairs if pair.difference is not None]
    if not known:
        return f"{differ}."
    return f"{differ}. The widest apart: {pair_sentence(max(known, key=lambda pair: abs(pair.difference or 0.0)))}"


@made_by_this
def comparison_table(pairs: Sequence[PairedJudges], source: str) -> Table:
    """Judges compared in pairs on the same items."""
    rows = [row for pair in pairs for row in pair_rows(pair, source, alone=len(pairs) == 1)]
    notes = (*_NOTES, f"Adjusted after Holm for {len(pairs)} pairs." if len(pairs) > 1 else "")
    return judging_table("comparison", f"Judges compared in pairs on {source}", comparison_finding(pairs), rows, notes)


def pair_rows(pair: PairedJudges, source: str, *, alone: bool) -> list[Row]:
    """Return the rows of two judges; `alone` if no other pair is compared."""
    answered = pair.answered
    figures: list[tuple[str, Estimate, Unit]] = [
        (DIFFERENCE, pair.estimate, "difference"),
        ("p-value", Estimate(pair.p_value, n=pair.n, method=pair.test), "p"),
        ("Difference where both answered", pair.where_answered, "difference"),
        ("p-value where both answered", Estimate(answered.p_value, n=answered.n), "p"),
        (f"Only {pair.a} right", Estimate(pair.only_a, n=pair.n), "count"),
        (f"Only {pair.b} right", Estimate(pair.only_b, n=pair.n), "count"),
        ("Items needed to tell them apart", Estimate(pair.n_needed), "count"),
    ]
    if not alone:
        figures.insert(2, ("p-value, adjusted for all pairs", Estimate(pair.p_adjusted, n=pair.n), "p"))
    return rows_of(figures, f"{pair.a} against {pair.b}", source)


@made_by_this
def compared_runs_table(scored: Mapping[str, Scores], source: str) -> Table:
    """Return the runs that are compared, each by itself: accuracy, kappa, cost and time."""
    rows: list[Row] = []
    for name, scores in scored.items():
        cost = _total("cost", scores.cost_usd, scores.reported["cost_usd"])
        seconds = _total("time", scores.seconds, scores.reported["seconds"])
        rows += rows_from(scores, _RUN_FIELDS, name, source)
        rows += rows_of([("Cost", cost, "usd"), ("Seconds", seconds, "seconds")], name, source)
    note = "Each run counts all items that it judged; cost and seconds are totals of the recorded values."
    return judging_table("compared_runs", f"The runs by themselves on {source}", beside_constant(scored), rows, (note,))


def _total(what: str, value: float | None, reported: int) -> Estimate:
    return Estimate(value, n=reported or None, reason="" if reported else f"no {what} is on record")


def best_of(scored: Mapping[str, Scores], pairs: Sequence[PairedJudges]) -> str:
    """Return which of several runs on one benchmark is best, beside no judge at all, and whether the next differs.

    Runs that were asked about different items are not ranked by their own shares.
    """
    items = {name: scores.accuracy_all.n or 0 for name, scores in scored.items()}
    if any(pair.n != items[pair.a] or pair.n != items[pair.b] for pair in pairs):
        own = "; ".join(
            f"{name} {with_interval(one.accuracy_all, 'share')} of {counted_text(items[name], 'item')}"
            for name, one in scored.items()
        )
        lead = lead_of(tuple(scored), [pair.contest for pair in pairs], tasks="items").sentence
        return f"{lead} {comparison_finding(pairs)} Each on its own items: {own}."
    sentence = beside_constant(scored)
    best, following = ranking(scored)[:2]
    if scored[best].accuracy_all.value is None:
        return sentence
    pair = next((one for one in pairs if {one.a, one.b} == {best, following}), None)
    if pair is None or pair.difference is None or pair.p_adjusted is None:
        return f"{sentence} {best} cannot be compared with the next, {following}."
    by = _difference_text(pair.estimate if pair.a == best else pair.estimate.negated(), pair.p_adjusted)
    apart = "is clearly better than" if pair.apart else "is not clearly better than"
    return f"{sentence} {best} {apart} the next, {following}: {by}.{_apart_from_unanswered(scored, pair, best)}"


def pair_sentence(pair: PairedJudges) -> str:
    """Return what the comparison of two judges found, with its interval and its test."""
    if pair.difference is None:
        return f"{pair.a} and {pair.b} cannot be compared: {pair.reason}."
    of = f"of {counted_text(pair.n, 'item')}"
    if pair.difference == 0:
        sentence = f"{pair.a} and {pair.b} give the gold label equally often {of}"
        return f"{sentence} ({_interval(pair.estimate)}); {_test_words(pair)}{_where_both_answered(pair)}."
    ahead, behind, first_leads = pair.leader()
    difference = pair.estimate if first_leads else pair.estimate.negated()
    sentence = f"{ahead} gives the gold label on {points_text(pair.difference)} more {of} than {behind}"
    sentence += f" ({_interval(difference)}); {_test_words(pair)}{_where_both_answered(pair)}"
    needed = (
        "" if pair.apart else f" You would need about {counted_text(pair.n_needed or 0, 'item')} to tell them apart."
    )
    return f"{sentence}.{needed}"


def _apart_from_unanswered(scored: Mapping[str, Scores], pair: PairedJudges, best: str) -> str:
    """What is left of a difference where both answered, in a sentence of its own; empty where both answered all."""
    answered = pair.where_answered
    if answered.n == pair.n:
        return ""
    counts = {name: unanswered_text(scored[name]) for name in (pair.a, pair.b)}
    counted = "; ".join(f"{name}: {count}" for name, count in counts.items() if count)
    wrong = f" Unanswered items count as wrong there ({counted})"
    if answered.value is None:
        return f"{wrong}; no item was answered by both."
    by = _difference_text(answered if pair.a == best else answered.negated(), pair.answered.p_value)
    return f"{wrong}; over the {counted_text(pair.answered.n, 'item')} that both answered the difference is {by}."


def _difference_text(difference: Estimate, p: float | None) -> str:
    text = f"{number_text(difference.value, 'difference')}, {_interval(difference)}"
    return text if p is None else f"{text}, {p_text(p, p)}"


def _interval(difference: Estimate) -> str:
    return interval_words(difference.low, difference.high, "difference")


def _where_both_answered(pair: PairedJudges) -> str:
    answered, p = pair.where_answered, pair.answered.p_value
    if answered.n == pair.n:
        return ""
    counted = ". Items without an answer count as wrong"
    if answered.value is None:
        return f"{counted}, and they answered no item in common"
    if answered.value == 0:
        return f"{counted}; on the {answered.n:,} that both answered they do equally well"
    ahead, lead = (pair.a, answered) if answered.value > 0 else (pair.b, answered.negated())
    tested = "" if p is None else f", {p_text(p, p)}"
    leads = f"{ahead} leads by {points_text(answered.value)} ({_interval(lead)}{tested})"
    return f"{counted}; on the {answered.n:,} that both answered {leads}"


def _test_words(pair: PairedJudges) -> str:
    return "there is no test" if pair.p_value is None else p_text(pair.p_value, pair.p_adjusted)
