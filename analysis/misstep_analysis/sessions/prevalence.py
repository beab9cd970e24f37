"""How many sessions show which misbehaviour: counts of verdicts to shares, alone and together."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, structs

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.stats.proportions import wilson
from misstep_analysis.tables import Evidence, Row, Table, TableHead, made_by_this, rows_in
from misstep_analysis.tables.wording import count_text, counted_text, number_text, problems_list, problems_text
from misstep_harness.verdict import Verdict

Name = TypeVar("Name", bound=Hashable)


def share(count: int, n: int, undefined: str) -> Estimate:
    """Return a share with Wilson's interval; `undefined` is the reason where `n` is 0."""
    return wilson(count, n) if n else Estimate(None, n=0, reason=undefined)


def clustered_share(clusters: Sequence[tuple[int, int]], undefined: str) -> Estimate:
    """Return a share over clusters of (count, n) with Korn and Graubard's interval; empty clusters count nowhere."""
    sizes = [n for _, n in clusters if n]
    if not sizes:
        return Estimate(None, n=0, reason=undefined)
    from misstep_analysis.stats.clusters.clustered_bounds import korn_graubard  # numpy takes a tenth of a second
    from misstep_analysis.stats.estimate import bounded

    share = korn_graubard(clusters)
    return bounded(share, len(sizes)) if len(sizes) < sum(sizes) else share


def summed(counts: Iterable[tuple[Name, int, int]]) -> dict[Name, tuple[int, int]]:
    """Return name → the sums of the counts and of the wholes of that name, in order of appearance."""
    sums: dict[Name, tuple[int, int]] = {}
    for name, count, n in counts:
        before = sums.get(name, (0, 0))
        sums[name] = before[0] + count, before[1] + n
    return sums


Labels = tuple[str | None, ...]
Patterns = Mapping[Labels, int]

YES = "yes"
ANY = "any"

READ_BY_A_JUDGE = ("unrequested_changes", "did_not_follow_instructions")
"""Categories of which a rule sees only what can be told without knowing how a user words a limit."""

_NOT_JUDGED = "Not judged"

FEWEST_FOR_A_RATE = 10
"""Sessions from which on a sentence has a rate with its interval."""


def unread_limits(checked: Mapping[str, tuple[int, int]], n: int) -> tuple[tuple[str, ...], str]:
    """Return the categories without a row, of which rules say next to nothing, and a sentence on what was checked."""
    of_limits = {name: counts for name, counts in checked.items() if name in READ_BY_A_JUDGE and counts[1] < n}
    if not of_limits:
        return (), ""
    most = max(answered for _, answered in of_limits.values())
    sentence = (
        f"Sessions without a recognised instruction are left out of the shares of {problems_list(list(of_limits))}: "
        f"{count_text(most) if most else 'none'} of {n:,} could be checked."
    )
    return tuple(name for name, (count, _) in of_limits.items() if not count), sentence


class CategoryCount(Struct, frozen=True):
    """One category: `count` sessions of `answered` show it, `exclusive` of them nothing else."""

    category: str
    count: int
    exclusive: int
    answered: int
    abstained: int
    share: Estimate


class Prevalence(Struct, frozen=True):
    """All categories of `n` sessions; `any_share` is over those that were judged for any category."""

    n: int
    categories: tuple[CategoryCount, ...]
    any_count: int
    any_share: Estimate


def prevalence(categories: Sequence[str], patterns: Patterns) -> Prevalence:
    """Return the counts and shares of each category and of any."""
    judged = sum(count for labels, count in patterns.items() if any(label is not None for label in labels))
    flagged = sum(count for labels, count in patterns.items() if YES in labels)
    return Prevalence(
        n=sum(patterns.values()),
        categories=tuple(_category_count(name, place, patterns) for place, name in enumerate(categories)),
        any_count=flagged,
        any_share=_share(flagged, judged),
    )


def _category_count(category: str, place: int, patterns: Patterns) -> CategoryCount:
    answered = sum(count for labels, count in patterns.items() if labels[place] is not None)
    shown = {labels: count for labels, count in patterns.items() if labels[place] == YES}
    return CategoryCount(
        category,
        count=sum(shown.values()),
        exclusive=sum(count for labels, count in shown.items() if labels.count(YES) == 1),
        answered=answered,
        abstained=sum(patterns.values()) - answered,
        share=_share(sum(shown.values()), answered),
    )


def _share(count: int, n: int) -> Estimate:
    return wilson(count, n) if n else Estimate(None, n=0, method="Wilson, 95%", reason="no session was judged")


def count_patterns(verdicts: Iterable[Verdict]) -> tuple[tuple[str, ...], dict[Labels, int]]:
    """Return the categories among some verdicts, in order of appearance, and how often their labels occur together."""
    labels_of: dict[str, dict[str, str | None]] = {}
    categories: dict[str, None] = {}
    for verdict in verdicts:
        labels_of.setdefault(verdict.item, {})[verdict.judge] = verdict.label
        categories.setdefault(verdict.judge)
    patterns = Counter(tuple(labels.get(name) for name in categories) for labels in labels_of.values())
    return tuple(categories), dict(patterns)


@made_by_this
def prevalence_table(
    categories: Sequence[str],
    patterns: Patterns,
    *,
    source: str,
    paper: str = "your_agents",
    evidence: Evidence = "real",
    datasets: Sequence[str] = (),
    noun: str = "session",
    every: bool = False,
) -> Table:
    """Return the share of sessions that show each category, and that show nothing else, with 95% Wilson intervals."""
    counts = prevalence(categories, patterns)
    without = () if every else _unread(counts)[0]
    shown = [one for one in counts.categories if one.category not in without]
    shares = {one.category: one.share for one in shown} | {ANY: counts.any_share}
    rows = rows_in("share", shares, f"{noun.capitalize()}s with this problem", source, evidence)
    exclusive = {one.category: _share(one.exclusive, one.answered) for one in shown}
    alone = rows_in("share", exclusive, f"{noun.capitalize()}s with this problem only", source, evidence)
    head = TableHead("prevalence", paper, "Misbehaviour found by rule", _notes(counts, noun))
    finding = counts_sentence(counts, f"generated {noun}" if evidence == "generated" else noun)
    return head.table(finding, (*rows, *alone), datasets=datasets, drawn=rows)


def by_judges_too(table: Table, judged: Sequence[str]) -> Table:
    """Return the table of categories that judges were asked about after the rules, with sentences on that."""
    how = "Found by rules, and by judges where rules left it open; the intervals are of sampling alone, not of errors."
    missing = [note for note in table.notes if note.startswith(_NOT_JUDGED)]
    return structs.replace(table, title="Misbehaviour found by rules and judges", notes=(*judged, how, *missing))


@made_by_this
def co_occurrence_table(
    categories: Sequence[str],
    patterns: Patterns,
    *,
    source: str,
    paper: str = "your_agents",
    evidence: Evidence = "real",
    datasets: Sequence[str] = (),
) -> Table:
    """The share of the sessions with one category that show another."""
    rows: list[Row] = []
    pairs = []
    without = _unread(prevalence(categories, patterns))[0]
    columns = [(place, name) for place, name in enumerate(categories) if name not in without]
    for place, name in columns:
        own = {labels: count for labels, count in patterns.items() if labels[place] == YES}
        shares = {}
        for other_place, other in columns:
            judged = sum(count for labels, count in own.items() if labels[other_place] is not None)
            both = sum(count for labels, count in own.items() if labels[other_place] == YES)
            shares[other] = share(both, judged, f"none shows {name}")
            if place < other_place and both:
                pairs.append((both, name, other))
        rows += rows_in("share", shares, name, source, evidence)
    finding = "No two categories were found in one session."
    if pairs:
        both, one, other = max(pairs, key=lambda pair: pair[0])
        both_text = counted_text(both, "session")
        finding = (
            f"{problems_text(one).capitalize()} and {problems_text(other)} occur together most often: in {both_text}."
        )
    note = "A line takes the sessions with its problem, and says which share of them has the column's, too."
    head = TableHead("co_occurrence", paper, "Which misbehaviours occur together", (note,))
    return head.table(finding, rows, datasets=datasets)


def counts_sentence(report: Prevalence, noun: str = "session") -> str:
    """Return how many sessions were read and went wrong, at which rate, and which problem was commonest.

    Terminal, page and table say what this returns. Too few sessions have no rate.
    """
    share, wrong = report.any_share, report.any_count
    checked = share.n or 0
    read = counted_text(report.n, noun)
    if not checked:
        return f"{read}, none could be checked."
    part = f"{read}, " if checked == report.n else f"{read}, {checked:,} checked, "
    rate = "too few for a rate"
    if checked >= FEWEST_FOR_A_RATE:
        low, high = (number_text(end, "share") for end in (share.low, share.high))
        rate = f"{number_text(share.value, 'share')} ({low} to {high})"
    sentence = f"{part}{count_text(wrong) if wrong else 'none'} went wrong: {rate}."
    shown = [one for one in report.categories if one.count]
    if not shown:
        return sentence
    most = max(shown, key=lambda one: one.count)
    problems = problems_text(most.category)
    if len(shown) == 1:
        return f"{sentence} Only {problems} were found."
    return f"{sentence} {problems.capitalize()} were commonest ({most.count:,})."


def _notes(report: Prevalence, noun: str) -> tuple[str, ...]:
    notes = ["Found by rule, without a model; the intervals are of sampling alone, not of the rules' own errors."]
    without, why = _unread(report)
    rows = [one for one in report.categories if one.category not in without]
    missing = [f"{one.category} {count_text(one.abstained)}" for one in rows if one.abstained]
    if missing:
        notes.append(f"{_NOT_JUDGED}, and not counted as a no: {', '.join(missing)} of {counted_text(report.n, noun)}.")
    if why:
        notes.append(why)
    return tuple(notes)


def _unread(report: Prevalence) -> tuple[tuple[str, ...], str]:
    return unread_limits({one.category: (one.count, one.answered) for one in report.categories}, report.n)
