"""How frequent misbehaviour is by project, model, agent or week: sessions with their labels to shares per group."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Literal, get_args

from misstep_analysis.sessions.prevalence import ANY, CategoryCount, Labels, Prevalence, prevalence
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import counted_text, in_words, interval_words, number_text
from misstep_harness.session import Session

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


def headline(total: Prevalence, by_project: Mapping[str, Prevalence]) -> str:
    """Return which problem was found most, in how many of the sessions that could be checked, and where it is worst."""
    most = max(total.categories, key=lambda one: (one.count, one.share.value or 0.0), default=None)
    if most is None or not most.count:
        checked = total.any_share.n or 0
        if not checked:
            return "No session could be checked."
        high = number_text(total.any_share.high, "share")
        return f"No misbehaviour was found in {counted_text(checked, 'session')} (95% interval 0% to {high})."
    share = f"{number_text(most.share.value, 'share')}, {interval_words(most.share.low, most.share.high, 'share')}"
    sentence = f"{_capitalized(most.category)} was found in {most.count:,} of {counted_text(most.answered, 'session')}"
    sentence = f"{sentence} in which it could be checked ({share})"
    worst = worst_group(by_project, most.category)
    if worst is not None and len(by_project) > 1:
        project, one = worst
        sentence = f"{sentence}, worst in {project}: {one.count:,} of {one.answered:,}"
    apart = f" In {most.abstained:,} it could not be checked." if most.abstained else ""
    return f"{sentence}.{apart}"


def pooled_note(total: Prevalence, by_project: Mapping[str, Prevalence]) -> str:
    """A warning that shares put unlike projects together, and how far these lie apart; empty for one project."""
    most = max(total.categories, key=lambda one: one.count, default=None)
    if most is None or len(by_project) < 2:
        return ""
    shares = [one.share.value or 0.0 for one in counts_of(by_project, most.category).values()]
    sentence = f"Shares of all sessions put {len(by_project):,} projects together, which may be unlike each other"
    if len(shares) < 2:
        return f"{sentence}."
    low, high = number_text(min(shares), "share"), number_text(max(shares), "share")
    return f"{sentence}: by project, {in_words(most.category).lower()} goes from {low} to {high}."


def _capitalized(category: str) -> str:
    return in_words(category).capitalize()


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
    share = f"{number_text(one.share.value, 'share')}; {interval_words(one.share.low, one.share.high, 'share')}"
    return (
        f"{category} is most frequent in the {by} {group}: {one.count:,} of "
        f"{counted_text(one.answered, 'session')} ({share})."
    )
