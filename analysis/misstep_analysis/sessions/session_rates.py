"""How frequent misbehaviour is by project, model, agent or week: sessions with their labels to shares per group.

Shares of sessions that show a category, or any, put right for the errors of what found it, by labels of people.

A judge is asked about what rules leave open, and people label some of what it was asked about: its share is corrected
by its sensitivity and specificity (Rogan and Gladen), and what rules decided counts as it is. If people labelled
sessions that rules decided too, the share of the rules is put together from what people say of those that rules flagged
and of those that they left alone. Errors that were measured on one part are never taken for those of the other. The
interval holds the chance in all of it: how many sessions a judge was asked about, what rules flagged, and the judge.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.sessions.prevalence import (
    ANY,
    FEWEST_FOR_A_RATE,
    YES,
    CategoryCount,
    Labels,
    Prevalence,
    prevalence,
    share,
)
from misstep_analysis.stats.estimate import Estimate, informative
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, number_text, problems_text
from misstep_harness.session import Session

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
        from misstep_analysis.stats.correction import rogan_gladen  # loads much, and only labels of people need it

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
        return _weighted(parts, self.answered, missing)


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


def _weighted(parts: tuple[Estimate, Estimate, Estimate], n: int, missing: str) -> Estimate:
    """Return a first share of a second, and the rest of a third."""
    from misstep_analysis.stats.combined import combined  # loads much, as above

    return combined(lambda of: of[0] * of[1] + (1 - of[0]) * of[2], parts, n, missing)


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
    both = _weighted(parts, n, missing)
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


Grouping = Literal["project", "model", "agent", "week"]

GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)

NOT_RECORDED = "not recorded"


WEEKS_DRAWN = 26


def group_of(session: Session, by: Grouping) -> str:
    """Return the group of a session, such as its model."""
    return getattr(session, by) or NOT_RECORDED


def rates_by(
    categories: Sequence[str], sessions: Iterable[tuple[Session, Labels]], by: Grouping
) -> dict[str, Prevalence]:
    """Return the counts and shares of each category in each group."""
    return rates_by_each(categories, sessions, (by,))[by]


def rates_by_each(
    categories: Sequence[str], sessions: Iterable[tuple[Session, Labels]], groupings: Sequence[Grouping] = GROUPINGS
) -> dict[Grouping, dict[str, Prevalence]]:
    """The rates by each of several groupings, as `rates_by` gives them, in one pass over a stream of sessions."""
    patterns: dict[Grouping, defaultdict[str, Counter[Labels]]] = {by: defaultdict(Counter) for by in groupings}
    for session, labels in sessions:
        if session.parent is None:
            for by in groupings:
                patterns[by][group_of(session, by)][labels] += 1
    return {by: _in_order(categories, groups, by) for by, groups in patterns.items()}


def _in_order(
    categories: Sequence[str], patterns: Mapping[str, Counter[Labels]], by: Grouping
) -> dict[str, Prevalence]:
    def place(group: str) -> tuple[bool, int, str]:
        return group == NOT_RECORDED, 0 if by == "week" else -patterns[group].total(), group

    return {group: prevalence(categories, patterns[group]) for group in sorted(patterns, key=place)}


def counts_of(rates: Mapping[str, Prevalence], category: str) -> dict[str, CategoryCount]:
    """Group → one category in it, without the groups in which no session could be checked for it."""
    counts = {
        group: next(one for one in one_group.categories if one.category == category)
        for group, one_group in rates.items()
    }
    return {group: one for group, one in counts.items() if one.answered}


def worst_group(rates: Mapping[str, Prevalence], category: str) -> tuple[str, CategoryCount] | None:
    """The group with the highest lower bound of its share, so that one bad session of one makes no group the worst."""
    shown = [(group, one) for group, one in counts_of(rates, category).items() if one.count]
    return max(shown, key=lambda pair: pair[1].share.low or 0.0, default=None)


def pooled_note(total: Prevalence, by_project: Mapping[str, Prevalence]) -> str:
    """Warn that shares pool unlike projects, and say how far these lie apart; empty for one project."""
    most = max(total.categories, key=lambda one: one.count, default=None)
    if most is None or len(by_project) < 2:
        return ""
    shares = [one.share.value or 0.0 for one in counts_of(by_project, most.category).values()]
    sentence = f"These shares pool {len(by_project):,} projects"
    if len(shares) < 2:
        return f"{sentence}."
    low, high = number_text(min(shares), "share"), number_text(max(shares), "share")
    return f"{sentence}; {problems_text(most.category)} range from {low} to {high} between them."


@made_by_this
def session_rates_table(
    rates: Mapping[str, Prevalence], by: Grouping, *, source: str, evidence: Evidence = "real"
) -> Table:
    """Return the share of sessions that show each category, a line a group, with 95% Wilson intervals."""
    checked: Counter[str] = Counter()
    for of_group in rates.values():
        checked.update({one.category: one.answered for one in of_group.categories})
    rows: list[Row] = []
    for group, of_group in rates.items():
        shares = {one.category: one.share for one in of_group.categories if checked[one.category]}
        rows += rows_in("share", shares | {ANY: of_group.any_share}, group, source, evidence)
    notes = ["Each n counts the sessions that the rule could check; runs of sub-agents are left out."]
    if unchecked := [category for category, count in checked.items() if not count]:
        notes.append(f"No session could be checked for {' or '.join(unchecked)}.")
    drawn = _drawn(rates, source, evidence) if by == "week" else []
    head = TableHead(f"rates_by_{by}", "classify", f"Share of sessions by {by}", tuple(notes))
    return head.table(_finding(rates, by), rows, drawn=drawn)


def weeks_drawn(by_week: Iterable[str]) -> dict[str, float]:
    """Return the last weeks, each with the place on an axis of weeks, which is 0 for the last one."""
    mondays = {week: date.fromisoformat(f"{week}-1") for week in by_week if week != NOT_RECORDED}
    last = max(mondays.values(), default=date.min)
    apart = {week: (last - monday).days // 7 for week, monday in mondays.items()}
    return {week: float(-weeks) for week, weeks in apart.items() if weeks < WEEKS_DRAWN}


def _drawn(by_week: Mapping[str, Prevalence], source: str, evidence: Evidence) -> list[Row]:
    rows: list[Row] = []
    weeks = weeks_drawn(by_week)
    for category in dict.fromkeys(one.category for of_week in by_week.values() for one in of_week.categories):
        counts = {week: one for week, one in counts_of(by_week, category).items() if week in weeks}
        if any(one.count for one in counts.values()):
            rows += rows_in("share", {week: one.share for week, one in counts.items()}, category, source, evidence)
    return rows


def _finding(rates: Mapping[str, Prevalence], by: Grouping) -> str:
    counts: Counter[str] = Counter()
    for rate in rates.values():
        counts.update({one.category: one.count for one in rate.categories})
    category, count = max(counts.items(), key=lambda pair: pair[1], default=("", 0))
    worst = worst_group(rates, category) if count else None
    if worst is None:
        return "No session shows misbehaviour."
    group, one = worst
    where = f"{problems_text(category).capitalize()} are most frequent in the {by} {group}"
    sentence = f"{where}: {one.count:,} of {counted_text(one.answered, 'session')}"
    if one.answered < FEWEST_FOR_A_RATE:
        return f"{sentence}."
    low, high = (number_text(end, "share") for end in (one.share.low, one.share.high))
    return f"{sentence}, {number_text(one.share.value, 'share')} ({low} to {high})."
