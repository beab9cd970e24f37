"""Shares of sessions that show a category, or any, put right for the errors of what found it, by labels of people.

A judge is asked about what rules leave open, and people label some of what it was asked about: its share is corrected
by its sensitivity and specificity (Rogan and Gladen), and what rules decided counts as it is. If people labelled
sessions that rules decided too, the share of the rules is put together from what people say of those that rules flagged
and of those that they left alone. Errors that were measured on one part are never taken for those of the other. The
interval holds the chance in all of it: how many sessions a judge was asked about, what rules flagged, and the judge.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.sessions.prevalence import ANY, YES
from misstep_analysis.sessions.shares import share
from misstep_analysis.stats.combined import combined
from misstep_analysis.stats.correction import rogan_gladen
from misstep_analysis.stats.estimate import Estimate, informative

NOBODY = "nobody has labelled sessions for it (`misstep annotate RUN/judges/CATEGORY`, or --gold)"
NOT_ALL = "no session has labels of people for all categories"
FLAGGED_ALONE = "people labelled only some of the sessions that rules flagged, and none that they left alone"
LEFT_ALONE_ALONE = "people labelled only some of the sessions that rules left alone, and none that they flagged"

Gold = Mapping[str, Mapping[str, bool]]
"""Category, or `any` → session → whether it shows it, as people say."""


class JudgedSession(Struct, frozen=True):
    """A session: the label of each category, and whether a judge gave it."""

    item: str
    labels: tuple[str | None, ...]
    by_judge: tuple[bool, ...]


class _Counts(Struct):
    """How often a source answered, flagged, and was right on labelled sessions."""

    flagged: int = 0
    answered: int = 0
    hits: int = 0
    positive: int = 0
    left_alone: int = 0
    negative: int = 0

    def add(self, flag: bool, truth: bool | None) -> None:
        self.answered += 1
        self.flagged += flag
        if truth is not None:
            self.positive += truth
            self.negative += not truth
            self.hits += truth and flag
            self.left_alone += not (truth or flag)

    @property
    def labelled(self) -> int:
        return self.positive + self.negative

    def by_rates(self) -> Estimate:
        """Return the share put right by sensitivity and specificity."""
        if not self.labelled:
            return Estimate(None, n=self.answered, reason=NOBODY)
        rates = (self.hits, self.positive), (self.left_alone, self.negative)
        return informative(rogan_gladen((self.flagged, self.answered), *rates).estimate)

    def by_flag(self) -> Estimate:
        """Return the share as people say of those flagged and of the others; what was flagged, if nobody labelled."""
        flagged = share(self.flagged, self.answered, NOBODY)
        if not self.labelled:
            return flagged
        of_flagged = share(self.hits, self.hits + self.negative - self.left_alone, LEFT_ALONE_ALONE)
        of_others = share(self.positive - self.hits, self.positive - self.hits + self.left_alone, FLAGGED_ALONE)
        missing = LEFT_ALONE_ALONE if of_flagged.value is None else FLAGGED_ALONE
        parts = (flagged, of_flagged, of_others)
        return combined(lambda of: of[0] * of[1] + (1 - of[0]) * of[2], parts, self.answered, missing)


def corrected_shares(categories: Sequence[str], sessions: Iterable[JudgedSession], gold: Gold) -> dict[str, Estimate]:
    """Return the corrected share of each category and of any; without a value where the labels do not tell it."""
    counts: defaultdict[tuple[str, bool], _Counts] = defaultdict(_Counts)
    for one in sessions:
        truths = {name: gold.get(name, {}).get(one.item) for name in categories}
        for name, label, judge in zip(categories, one.labels, one.by_judge, strict=True):
            if label is not None:
                counts[name, judge].add(label == YES, truths[name])
        if any(label is not None for label in one.labels):
            truth = gold.get(ANY, {}).get(one.item, _any(truths.values()))
            counts[ANY, _decided_by_judge(one)].add(YES in one.labels, truth)
    shares = {name: _share(counts[name, False], counts[name, True]) for name in (*categories, ANY)}
    not_all = shares[ANY].reason == NOBODY and any(gold.values())
    return {**shares, ANY: replace(shares[ANY], reason=NOT_ALL)} if not_all else shares


def _any(truths: Iterable[bool | None]) -> bool | None:
    """Return whether any holds, if people labelled all: sessions known only as positive would be no random sample."""
    known = set(truths)
    return None if None in known else True in known


def _decided_by_judge(session: JudgedSession) -> bool:
    """Return whether it takes a judge to say if a session shows any category: no rule flags it for one."""
    by_rule = (label for label, judge in zip(session.labels, session.by_judge, strict=True) if not judge)
    return YES not in by_rule and any(
        judge and label is not None for label, judge in zip(session.labels, session.by_judge, strict=True)
    )


def _share(rule: _Counts, judge: _Counts) -> Estimate:
    """Return the share of both parts together, each put right by the labels of its own sessions."""
    if not (rule.labelled or judge.labelled):
        return Estimate(None, n=rule.answered + judge.answered, reason=NOBODY)
    of_rule, of_judge = rule.by_flag(), judge.by_rates()
    if not judge.answered or not rule.answered:
        return of_judge if judge.answered else of_rule
    missing = of_judge.reason if of_judge.value is None else of_rule.reason
    n = rule.answered + judge.answered
    parts = (share(judge.answered, n, ""), of_judge, of_rule)
    both = combined(lambda of: of[0] * of[1] + (1 - of[0]) * of[2], parts, n, missing)
    if both.low is None or both.high is None:
        return both
    return replace(both, low=max(0.0, both.low), high=min(1.0, both.high), reason=of_judge.reason)


def majorities(labels: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, bool]]:
    """Return what most people say of each category and session; a tie says nothing."""
    votes: defaultdict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for category, item, label in labels:
        votes[category, item][label == YES] += 1
    gold: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for category, item, most in _decided(votes):
        gold[category][item] = most
    return dict(gold)


def _decided(votes: Mapping[tuple[str, str], Counter[bool]]) -> Iterator[tuple[str, str, bool]]:
    for (category, item), counts in votes.items():
        if counts[True] != counts[False]:
            yield category, item, counts[True] > counts[False]
