"""How frequent misbehaviour is by project, model, agent or week: sessions with their labels to shares per group.

A share is of the sessions that a rule could check, within one group. Runs of sub-agents are no sessions and are left
out. The intervals treat sessions as independent draws from their group.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from analysis.measures.prevalence import ANY, CategoryCount, Labels, Prevalence, prevalence
from analysis.tables import Evidence, Table, estimate_row, made_by_this
from analysis.tables.wording import counted_text, interval_words, number_text
from harness.session import Session

Grouping = Literal["project", "model", "agent", "week"]

GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)
"""By what sessions can be told apart."""

NOT_RECORDED = "not recorded"
"""The group of sessions that do not say to which group they belong."""


def group_of(session: Session, by: Grouping) -> str:
    """The group of a session, such as its model."""
    return getattr(session, by) or NOT_RECORDED


def rates_by(
    categories: Sequence[str], sessions: Iterable[tuple[Session, Labels]], by: Grouping
) -> dict[str, Prevalence]:
    """The counts and shares of each category in each group.

    Parameters
    ----------
    categories
        Their names, in the order of the labels.
    sessions
        Sessions with their labels; those of sub-agents are left out.
    by
        What groups them.

    Returns
    -------
    dict
        Group → its prevalence: weeks in their order, other groups by their number of sessions, and `NOT_RECORDED` last.
    """
    patterns: defaultdict[str, Counter[Labels]] = defaultdict(Counter)
    for session, labels in sessions:
        if session.parent is None:
            patterns[group_of(session, by)][labels] += 1

    def place(group: str) -> tuple[bool, int, str]:
        return group == NOT_RECORDED, 0 if by == "week" else -patterns[group].total(), group

    return {group: prevalence(categories, patterns[group]) for group in sorted(patterns, key=place)}


def counts_of(rates: Mapping[str, Prevalence], category: str) -> dict[str, CategoryCount]:
    """Group → one category in it, without the groups in which no session could be checked for it."""
    counts = {
        group: next(one for one in found.categories if one.category == category) for group, found in rates.items()
    }
    return {group: one for group, one in counts.items() if one.answered}


def worst_group(rates: Mapping[str, Prevalence], category: str) -> tuple[str, CategoryCount] | None:
    """The group with the highest lower bound of its share, so that one bad session of one makes no group the worst.

    `None` where no group shows the category.
    """
    shown = [(group, one) for group, one in counts_of(rates, category).items() if one.count]
    return max(shown, key=lambda pair: pair[1].share.low or 0.0, default=None)


@made_by_this
def session_rates_table(
    rates: Mapping[str, Prevalence],
    by: Grouping,
    *,
    source: str,
    paper: str = "your_agents",
    evidence: Evidence = "real",
    datasets: Sequence[str] = (),
) -> Table:
    """The share of sessions that show each category, a line a group, with 95% Wilson intervals.

    Parameters
    ----------
    rates, by
        As from and for `rates_by`.
    source, paper, evidence, datasets
        As for `prevalence_table`.
    """
    rows = []
    for group, found in rates.items():
        shares = [(one.category, one.share) for one in found.categories] + [(ANY, found.any_share)]
        rows += [estimate_row(name, share, "share", group, source, evidence=evidence) for name, share in shares]
    return Table(
        name=f"rates_by_{by}",
        paper=paper,
        title=f"Share of sessions by {by}",
        finding=_finding(rates, by),
        rows=tuple(rows),
        notes=("Each n counts the sessions that the rule could check; runs of sub-agents are left out.",),
        datasets=tuple(datasets),
    )


def _finding(rates: Mapping[str, Prevalence], by: Grouping) -> str:
    counts: Counter[str] = Counter()
    for found in rates.values():
        counts.update({one.category: one.count for one in found.categories})
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
