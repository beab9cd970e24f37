"""Two compared runs of `classify` as sentences and tables."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import structs

from misstep_analysis.sessions.session_comparison import LEVEL, SessionChange, SessionComparison
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Figure, Row, Table, TableHead, Unit, made_by_this, rows_in, rows_of
from misstep_analysis.tables.wording import (
    counted_text,
    interval_words,
    number_text,
    p_text,
    place_text,
    points_text,
    with_interval,
)

DIFFERENCE = "Difference"

_PAPER = "classify"
_LISTED = 200

_STEPS = 6

_NEWLY = TableHead(
    "newly_flagged",
    _PAPER,
    "Newly flagged",
    ("Steps count from 0. `misstep view FILE --id ID` shows a session; --json lists all of them.",),
)


_CORRECTED = TableHead(
    "corrected_changes",
    _PAPER,
    "Corrected by people's labels",
    (
        "The intervals put those of the two corrected shares together (Zou and Donner 2008), as if they were "
        "independent.",
    ),
)
_ONE_BY_ONE = "sessions count one by one: the interval is too short where projects differ"
_NOT_CORRECTED = "No share could be corrected in both runs."
CAUTION = (
    "Two periods are not a randomised comparison: tasks, models and people may have changed with the rules that agents "
    "were given. Only sessions that get the rules by lot tell what the rules do (`misstep experiment`)."
)


def comparison_finding(compared: SessionComparison) -> str:
    """Which category changed, by how much and how sure that is; then any of them."""
    *categories, either = compared.changes
    known = sorted((one for one in categories if one.difference.value is not None), key=_size, reverse=True)
    if not known:
        return f"{compared.a} and {compared.b} cannot be compared: {either.reason or categories[0].reason}."
    changed = [one for one in known if one.changed]
    sentences = [_changed(compared, changed)] if changed else [_unchanged(compared, known)]
    if len(categories) > 1 and either.difference.value:
        sentences.append(f"Sessions with any of them: {_from_to(either)} ({_sure(either)}).")
    return " ".join(sentences)


def _changed(compared: SessionComparison, changed: Sequence[SessionChange]) -> str:
    most, *others = changed
    sentence = f"From {compared.a} to {compared.b}, {most.category} {_moved(most)} ({_sure(most)}): {_from_to(most)}."
    if not others:
        return sentence
    named = ", ".join(f"{one.category} ({number_text(one.difference.value, 'difference')})" for one in others)
    return f"{sentence} Changed as well: {named}."


def _unchanged(compared: SessionComparison, known: Sequence[SessionChange]) -> str:
    none = f"No category changed from {compared.a} to {compared.b}"
    most = known[0]
    if not most.difference.value:
        return f"{none}: no share differs, in {counted_text(most.b.n or 0, 'session')}."
    return (
        f"{none} by more than chance explains (level {LEVEL:g} after Holm's adjustment). The largest difference: "
        f"{most.category} {_moved(most)} ({_sure(most)}), {_from_to(most)}."
    )


def _size(change: SessionChange) -> float:
    return abs(change.difference.value or 0.0)


def _moved(change: SessionChange) -> str:
    value = change.difference.value or 0.0
    return f"{'rose' if value > 0 else 'fell'} by {points_text(value)}" if value else "stayed the same"


def _sure(change: SessionChange) -> str:
    interval = interval_words(change.difference.low, change.difference.high, "difference")
    return f"{interval}; {p_text(change.p_value, change.p_adjusted)}"


def _from_to(change: SessionChange) -> str:
    before, after = (f"{number_text(one.value, 'share')} of {one.n or 0:,}" for one in (change.a, change.b))
    return f"from {before} to {after} sessions"


def _names(names: Sequence[object], most: int) -> str:
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


@made_by_this
def comparison_table(compared: SessionComparison, source: str) -> Table:
    """Return the categories of two compared runs, a line each, with shares, difference and p-values."""
    shown = [one for one in compared.changes if one.a.n or one.b.n]
    known = {one.category: _difference(one) for one in shown if one.difference.value is not None}
    rows = (row for change in shown for row in _rows(compared, change, source))
    head = TableHead("changes", _PAPER, "All sessions", tuple(_notes(compared)))
    return head.table(comparison_finding(compared), rows, drawn=rows_in("difference", known, "", source))


@made_by_this
def corrected_table(compared: SessionComparison, source: str) -> Table:
    """Return the shares of two runs that people's labels put right, and their differences."""
    rows = [
        row
        for one in compared.corrected
        for row in rows_of(
            (
                (f"In {compared.a}", one.a, "share"),
                (f"In {compared.b}", one.b, "share"),
                (DIFFERENCE, _one_by_one(one.difference), "difference"),
            ),
            one.category,
            source,
        )
    ]
    known = [one for one in compared.corrected if one.difference.value is not None]
    changed = [one for one in known if _is_change(one.difference)]
    changes = ", ".join(f"{one.category} {with_interval(one.difference, 'difference')}" for one in changed or known)
    what = "the shares changed so" if changed else "no share is shown to have changed"
    counted = ", with sessions counted one by one"
    finding = f"Corrected by people's labels, {what}: {changes}{counted}." if known else _NOT_CORRECTED
    return _CORRECTED.table(finding, rows)


def _one_by_one(difference: Estimate) -> Estimate:
    return difference if difference.low is None else structs.replace(difference, reason=_ONE_BY_ONE)


def _is_change(difference: Estimate) -> bool:
    """Return whether the interval of a difference leaves out 0."""
    return difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high


@made_by_this
def newly_flagged_table(compared: SessionComparison, source: str) -> Table:
    """Return what only the second run flags, a line a finding, up to a number that a page can show."""
    a, b, flagged = compared.a, compared.b, compared.newly_flagged
    sessions = len({(one.item, one.file) for one in flagged})
    cut = f", the first {_LISTED} of them here" if len(flagged) > _LISTED else ""
    finding = (
        f"{counted_text(sessions, 'session')} of {b} {'is' if sessions == 1 else 'are'} flagged for what "
        f"{a} does not flag: {counted_text(len(flagged), 'finding')}{cut}."
    )
    rows = []
    for one in flagged[:_LISTED]:
        steps = f"steps {_names(one.steps, _STEPS)}" if one.steps else "no step named"
        before = f"not in {a}" if one.before == "not in it" else f"{one.before} in {a}"
        reason = f"{place_text(one.file, one.line)}; {before}. {one.reason}"
        rows.append(Row(one.item, steps, source=source, unit="text", group=one.category, reason=reason))
    return _NEWLY.table(finding, rows, title=f"Newly flagged in {b}")


def _rows(compared: SessionComparison, change: SessionChange, source: str) -> list[Row]:
    # The interval's method names the clustered test as well.
    test = "" if change.difference.method.startswith(change.test) else change.test
    figures: tuple[tuple[str, Figure, Unit], ...] = (
        (f"In {compared.a}", change.a, "share"),
        (f"In {compared.b}", change.b, "share"),
        (DIFFERENCE, _difference(change), "difference"),
        ("p", Estimate(change.p_value, method=test), "p"),
        ("p, adjusted", change.p_adjusted, "p"),
    )
    return rows_of(figures, change.category, source)


def _difference(change: SessionChange) -> Estimate:
    """Return the difference without its n: the shares beside it have theirs."""
    return structs.replace(change.difference, n=None)


def _notes(compared: SessionComparison) -> Iterator[str]:
    a, b = compared.a, compared.b
    tests = counted_text(sum(one.p_value is not None for one in compared.changes), "test")
    yield (
        f"A share is of the sessions that the rule could check; the difference is the share in {b} less that in {a}. "
        f"The p-values are adjusted after Holm for the {tests} of this table."
    )
    yield _design(compared)
    if not compared.paired:
        yield CAUTION
    yield from _remarks(compared.changes)
    if any(compared.sub_agents):
        first, second = compared.sub_agents
        yield f"Runs of sub-agents are left out: {first:,} in {a} and {second:,} in {b}."
    if compared.in_one_run:
        yield f"Only one of the runs looked for {', '.join(compared.in_one_run)}."


def _design(compared: SessionComparison) -> str:
    a, b, shared = compared.a, compared.b, counted_text(compared.shared, "session")
    first, second = (n - compared.shared for n in compared.sessions)
    if compared.paired:
        left_out = f" Left out, as one run alone has them: {first:,} of {a} and {second:,} of {b}."
        return f"The same {shared} are in both runs and are compared pair by pair.{left_out if first or second else ''}"
    sentence = (
        f"Two samples are compared, of {compared.sessions[0]:,} and {counted_text(compared.sessions[1], 'session')}."
    )
    units = {change.unit for change in compared.changes}
    if compared.shared:
        careful = ", which makes the tests over sessions more careful" if "session" in units else ""
        sentence = f"{sentence} {shared} of both runs count in each{careful}."
    if "project" in units:
        sentence = f"{sentence} Projects are what is drawn, and one that both runs have is drawn once."
    return sentence


def _remarks(changes: Sequence[SessionChange]) -> Iterator[str]:
    categories: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.reason and change.difference.value is not None:
            categories[change.reason].append(change.category)
    for reason, named in categories.items():
        yield f"{'All lines' if len(named) == len(changes) else ', '.join(named)}: {reason}."
    unchecked = [one.category for one in changes if not (one.a.n or one.b.n)]
    if unchecked:
        yield f"No session could be checked for {' or '.join(unchecked)}."
    lone = [f"{one.category} {one.unchecked_pairs:,}" for one in changes if one.unchecked_pairs]
    if lone:
        yield f"Sessions that only one of the runs could check are not pairs: {', '.join(lone)}."
