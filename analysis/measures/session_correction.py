"""Shares of sessions that show a category, or any, put right for the errors of what found it, by labels of people.

A judge is asked about what rules leave open, and people label some of what it was asked about: its share is corrected
by its sensitivity and specificity (Rogan and Gladen), and what rules flagged counts as it is. If people labelled
sessions that rules judged too, all sessions are corrected as one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from misstep.analysis.measures.prevalence import ANY, YES
from misstep.analysis.stats.correction import rogan_gladen
from misstep.analysis.stats.estimate import Estimate, informative

NOBODY = "nobody has labelled sessions for it (`misstep label RUN/judges/CATEGORY`, or --gold)"
NOT_ALL = "no session has labels of people for all categories"

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

    def corrected(self) -> Estimate:
        if not self.labelled:
            return Estimate(None, n=self.answered, reason=NOBODY)
        rates = (self.hits, self.positive), (self.left_alone, self.negative)
        return informative(rogan_gladen((self.flagged, self.answered), *rates).estimate)


def corrected_shares(categories: Sequence[str], sessions: Iterable[JudgedSession], gold: Gold) -> dict[str, Estimate]:
    """Return the corrected share of each category and of any; without a value where the labels do not tell it."""
    counts: defaultdict[tuple[str, bool], _Counts] = defaultdict(_Counts)
    whole: defaultdict[str, _Counts] = defaultdict(_Counts)
    for one in sessions:
        truths = {name: gold.get(name, {}).get(one.item) for name in categories}
        for name, label, judge in zip(categories, one.labels, one.by_judge, strict=True):
            if label is not None:
                counts[name, judge].add(label == YES, truths[name])
                whole[name].add(label == YES, truths[name])
        if any(label is not None for label in one.labels):
            whole[ANY].add(YES in one.labels, gold.get(ANY, {}).get(one.item, _any(truths.values())))
    shares = {name: _share(counts[name, False], counts[name, True], whole[name]) for name in categories}
    union = whole[ANY].corrected()
    labelled = union.reason == NOBODY and any(gold.values())
    return {**shares, ANY: replace(union, reason=NOT_ALL) if labelled else union}


def _any(truths: Iterable[bool | None]) -> bool | None:
    """Return whether any holds, if people labelled all: sessions known only as positive would be no random sample."""
    known = set(truths)
    return None if None in known else True in known


def _share(rule: _Counts, judge: _Counts, whole: _Counts) -> Estimate:
    if rule.labelled or not judge.answered:
        return whole.corrected()
    part = judge.corrected()
    if part.value is None or not rule.answered:
        return part

    def overall(share: float | None) -> float | None:
        return None if share is None else (rule.flagged + share * judge.answered) / whole.answered

    ends = {name: overall(getattr(part, name)) for name in ("value", "low", "high")}
    return replace(part, **ends, n=whole.answered)


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
