"""The findings of `misstep classify`: the JSON document that scripts rely on, and the same for people."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.sessions.costs import Costs, cost_sentence, cost_text
from misstep_analysis.sessions.prevalence import (
    ANY,
    READ_BY_A_JUDGE,
    counts_sentence,
    prevalence,
    unread_limits,
)
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables.wording import MISSING, count_text, number_text, place_text, problems_list, with_interval
from misstep_harness.escaping import plain
from misstep_harness.journal.classified import AskedJudge, FailedClassifier, Labels, SessionFinding, Summary
from misstep_harness.journal.records import encode
from misstep_harness.trajectory import Evidence, Skipped, Unreadable

RULE = "rule"
_EXAMPLES = 3
_STEPS_PRINTED = 6
_SKIPPED_PRINTED = 3
_UNREADABLE_PRINTED = 10


class Share(Struct, frozen=True):
    """How many sessions show it, as a share of the judged ones; `interval` is the same as an estimate."""

    count: int
    share: float | None
    interval: Estimate


class CategoryShare(Share, frozen=True):
    """A category, whose share is of the `checked`: the sessions in which the rule found something to check.

    `exclusive` sessions show nothing else; `abstained` sessions were read and not judged.
    """

    checked: int
    exclusive: int
    abstained: int


class _Pattern(Struct, frozen=True):
    """How many sessions have these labels, one a category, in order; `null` where one was not judged."""

    labels: Labels
    count: int


class SubAgents(Struct, frozen=True):
    """The runs of sub-agents, which are counted apart from the sessions that started them."""

    n: int
    categories: dict[str, CategoryShare]
    any: Share
    patterns: list[_Pattern] = []


class AskedBy(Struct, frozen=True):
    """How many sessions a category was asked about by a judge, or was checked in `by` rule, and how many answers."""

    category: str
    by: str
    sessions: int
    answered: int
    model: str | None = None


class NewSessions(Struct, frozen=True):
    """The sessions that an earlier run in the folder, finished at `since`, did not have, or had with other content.

    `wrong` counts those of them that show any category.
    """

    since: str
    sessions: int
    wrong: int
    items: list[str]


class Findings(Struct, frozen=True):
    """The document: `n` sessions were read; `renamed` sessions had an id that another one had taken.

    `asked` says by what each category was looked for. `corrected` has the share of a category, and of `any`, put right
    by labels of people; empty without a judge, and `null` with a reason where too few sessions are labelled.

    `evidence` is `generated` if a program made one of them. A session on which a classifier `failed` was not judged
    for its category. `findings` include those of sub-agents. `costs` is null in runs of an earlier Misstep, and `new`
    in a first run and in the scores of any. What is `worth_a_look` is in no count.
    """

    n: int
    unreadable: list[Unreadable]
    categories: dict[str, CategoryShare]
    any: Share
    skipped: list[Skipped]
    renamed: int
    patterns: list[_Pattern]
    findings: list[SessionFinding]
    failed: list[FailedClassifier] = []
    sub_agents: SubAgents | None = None
    evidence: Evidence = "real"
    asked: list[AskedBy] = []
    corrected: dict[str, Estimate] = {}
    costs: Costs | None = None
    new: NewSessions | None = None
    worth_a_look: list[SessionFinding] = []


def findings(
    categories: Sequence[str],
    summary: Summary,
    corrected: Mapping[str, Estimate] | None = None,
    costs: Costs | None = None,
) -> Findings:
    """Return the document for what was found in these categories."""
    shares, flagged = _shares(categories, summary.patterns)
    apart = SubAgents(
        sum(summary.sub_agents.values()), *_shares(categories, summary.sub_agents), _patterns(summary.sub_agents)
    )
    return Findings(
        n=summary.n,
        unreadable=summary.unreadable,
        categories=shares,
        any=flagged,
        skipped=summary.skipped,
        renamed=summary.renamed,
        patterns=_patterns(summary.patterns),
        findings=summary.findings,
        failed=summary.failed,
        sub_agents=apart if summary.sub_agents else None,
        evidence=summary.evidence,
        asked=list(_asked_by(shares, summary.judges)),
        corrected=dict(corrected or {}),
        costs=costs,
        worth_a_look=summary.worth_a_look,
    )


def _asked_by(shares: Mapping[str, CategoryShare], judges: Sequence[AskedJudge]) -> Iterator[AskedBy]:
    for name, one in shares.items():
        own = [judge for judge in judges if judge.category == name]
        by_rule = one.checked - sum(judge.answered for judge in own)
        yield AskedBy(name, RULE, by_rule, by_rule)
        yield from (AskedBy(name, judge.judge, judge.sessions, judge.answered, judge.model) for judge in own)


def _shares(categories: Sequence[str], patterns: Mapping[Labels, int]) -> tuple[dict[str, CategoryShare], Share]:
    rates = prevalence(categories, patterns)
    shares = {
        one.category: CategoryShare(one.count, one.share.value, one.share, one.answered, one.exclusive, one.abstained)
        for one in rates.categories
    }
    return shares, Share(rates.any_count, rates.any_share.value, rates.any_share)


def with_new(findings: Findings, since: str, items: Sequence[str]) -> Findings:
    """Return the document with what it says of the new sessions among all."""
    wrong = {one.item for one in findings.findings}.intersection(items)
    return replace(findings, new=NewSessions(since, len(items), len(wrong), list(items)))


def new_text(new: NewSessions, now: datetime) -> str:
    """Return how many sessions are new since the last look, and how many of them went wrong."""
    since = _since(datetime.fromisoformat(new.since).astimezone(now.tzinfo), now)
    if not new.sessions:
        return f"nothing new since {since}"
    return f"{new.sessions:,} new since {since}, {new.wrong:,} of them went wrong"


def _since(last: datetime, now: datetime) -> str:
    days = (now.date() - last.date()).days
    if days == 1:
        return "yesterday"
    return f"the last look at {last:%H:%M}" if days == 0 else f"{last:%Y-%m-%d}"


def shares(findings: Findings) -> dict[str, Estimate]:
    """Return the share of each category and of `any`, by name, and how many sessions a judge left unanswered."""
    lacking = {
        one.category: f"{one.category}: {one.sessions - one.answered:,} of "
        f"{_plural(one.sessions, 'session', 'sessions')} had no answer"
        for one in findings.asked
        if one.answered < one.sessions
    }
    every = {name: one.interval for name, one in findings.categories.items()} | {ANY: findings.any.interval}
    remarks = lacking | {ANY: "; ".join(lacking.values())}
    return {
        name: replace(one, reason="; ".join(filter(None, (one.reason, remarks.get(name, "")))))
        for name, one in every.items()
    }


def _patterns(counts: Mapping[Labels, int]) -> list[_Pattern]:
    return [_Pattern(labels, count) for labels, count in counts.items()]


def findings_text(findings: Findings, page: Path | str | None = None) -> str:
    """Return the document for a terminal: a table, three examples, what was left out, and the page of the run."""
    lines = [
        first_line(findings),
        checked_line(findings),
        *_apart(findings),
        "",
        *_table_lines(findings),
    ]
    examples = _spread(findings)
    if examples:
        width = max(len(example.category) for example in examples)
        lines += ["", "For example"]
        lines += [f"  {example.category:{width}}  {finding_line(example)}" for example in examples]
    remarks = [
        *looks(findings),
        *costs_said(findings),
        *corrections(findings),
        *left_out(findings),
        *([f"open {page}"] if page else []),
    ]
    return "\n".join(lines + ([""] if remarks else []) + remarks)


def first_line(findings: Findings) -> str:
    """Return how many sessions were read and went wrong, as the page of the run says it."""
    counts = {pattern.labels: pattern.count for pattern in findings.patterns}
    noun = "generated session" if findings.evidence == "generated" else "session"
    return plain(counts_sentence(prevalence(tuple(findings.categories), counts), noun))


def checked_line(findings: Findings) -> str:
    """Return how many sessions were checked for each category, and by what."""
    if any(one.by != RULE for one in findings.asked):
        own = {name: [_by(one) for one in findings.asked if one.category == name] for name in findings.categories}
        each = (f"{name}: {', '.join(filter(None, parts)) or 'none'}" for name, parts in own.items())
        return plain(f"Checked for {'; '.join(each)}.")
    groups: dict[int, list[str]] = {}
    for name, one in sorted(findings.categories.items(), key=lambda entry: -entry[1].checked):
        groups.setdefault(one.checked, []).append(name)
    amounts = {0: "none", findings.n: "all"}
    parts = [f"{amounts.get(count, count_text(count))} for {problems_list(names)}" for count, names in groups.items()]
    sentence = ", ".join(parts).replace(" for ", " were checked for ", 1)
    hardly = any(name in READ_BY_A_JUDGE and one.checked < findings.n for name, one in findings.categories.items())
    hint = " (add --model M to check the rest)" if hardly else ""
    return plain(f"{sentence[0].upper()}{sentence[1:]}{hint}.")


def _by(one: AskedBy) -> str:
    model = f" ({one.model})" if one.model else ""
    without = f", {one.sessions - one.answered:,} without an answer" if one.answered < one.sessions else ""
    return f"{one.sessions:,} by {one.by}{model}{without}" if one.sessions else ""


def corrections(findings: Findings) -> Iterator[str]:
    """Return a sentence on each share that was put right for the errors of what found it, or why it was not."""
    left: dict[str, list[str]] = {}
    for name, one in findings.corrected.items():
        what = "any of them" if name == "any" else name
        if one.value is not None:
            yield f"Corrected by people's labels, {what}: {with_interval(one, 'share')}."
        else:
            left.setdefault(one.reason or "", []).append(what)
    for reason, names in left.items():
        all_of_them = len(names) == len(findings.corrected)
        who = "No share is corrected for errors" if all_of_them else f"Not corrected for errors: {', '.join(names)}"
        yield f"{who}: {reason}."


def looks(findings: Findings) -> Iterator[str]:
    """Return how many sessions are worth a look and not counted, by family of rules, with an example of each."""
    by_rule: dict[str, list[SessionFinding]] = {}
    for one in findings.worth_a_look:
        by_rule.setdefault(str(one.rule), []).append(one)
    if by_rule:
        counts = ", ".join(f"{len(some):,} {rule.replace('_', ' ')}" for rule, some in by_rule.items())
        yield f"Not counted, but worth a look: {counts}."
        yield from (f"  {finding_line(some[0])}" for some in by_rule.values())


def costs_said(findings: Findings) -> Iterator[str]:
    """Return what the findings cost, and what each category did, the dearest first."""
    if findings.costs is not None and findings.costs.any.runs:
        yield cost_sentence(findings.costs)
        several = findings.costs.categories.items() if len(findings.costs.categories) > 1 else ()
        yield from (plain(f"  {name}: {cost_text(cost)}") for name, cost in several)


def _apart(findings: Findings) -> Iterator[str]:
    if findings.sub_agents is not None:
        n, flagged = findings.sub_agents.n, findings.sub_agents.any.count
        yield f"{_plural(n, 'run', 'runs')} of sub-agents, counted apart: {flagged:,} with misbehaviour"


def _table_lines(findings: Findings) -> Iterator[str]:
    names = {name: plain(name) for name in findings.categories}
    width = max(len("category"), len("any of them"), *map(len, names.values()))
    yield f"{'category':{width}}  {'count':>9}  {'checked':>9}  {'share':>7}  {'95% interval':>15}  {'only this':>9}"
    without = _unread(findings)
    for name, one in findings.categories.items():
        if name in without:
            continue
        yield f"{names[name]:{width}}  {_share_cells(one, one.checked)}  {count_text(one.exclusive):>9}"
    yield f"{'any of them':{width}}  {_share_cells(findings.any, findings.any.interval.n or 0)}"


def _share_cells(share: Share, checked: int) -> str:
    low, high = share.interval.low, share.interval.high
    interval = MISSING if low is None else f"{number_text(low, 'share')} – {number_text(high, 'share')}"
    counts = f"{count_text(share.count):>9}  {count_text(checked):>9}"
    return f"{counts}  {number_text(share.share, 'share'):>7}  {interval:>15}"


def _spread(findings: Findings) -> list[SessionFinding]:
    by_frequency = sorted(findings.categories, key=lambda name: -findings.categories[name].count)
    ranked: list[tuple[int, int, SessionFinding]] = []
    for place, name in enumerate(by_frequency):
        own = [example for example in findings.findings if example.category == name]
        ranked += [(turn, place, example) for turn, example in enumerate(own)]
    ranked.sort(key=lambda entry: entry[:2])
    return [example for _, _, example in ranked[:_EXAMPLES]]


def complaints(findings: Findings) -> Iterator[str]:
    """Return a sentence on each thing left out or renamed: the first unreadable sessions with their places."""
    for one in findings.unreadable[:_UNREADABLE_PRINTED]:
        yield f"{plain(place_text(one.file, one.line))}: {plain(one.error)}"
    more = len(findings.unreadable) - _UNREADABLE_PRINTED
    if more > 0:
        yield f"and {more:,} more unreadable sessions; --json lists them all."
    for failed in findings.failed:
        yield plain(failed.error)
    if findings.renamed:
        had = "1 session had an id" if findings.renamed == 1 else f"{findings.renamed:,} sessions had an id"
        yield f"{had} that was taken: it has ~2 (or the next free number) behind it."


def finding_line(example: SessionFinding) -> str:
    """Return a finding in one line: the session, its file, the evidence steps and the reason."""
    where = place_text(example.file, example.line)
    return plain(f"{example.item} ({where}){_steps(example)}: {example.rationale}")


def _steps(example: SessionFinding) -> str:
    """Return the evidence steps, unless the sentence that follows names them itself."""
    if not example.steps or "step" in example.rationale:
        return ""
    more = ", …" if len(example.steps) > _STEPS_PRINTED else ""
    named = ", ".join(map(str, example.steps[:_STEPS_PRINTED]))
    return f", {'step' if len(example.steps) == 1 else 'steps'} {named}{more}"


def left_out(findings: Findings) -> Iterator[str]:
    """Return a sentence on each thing that could not be read, and on each rule that failed."""
    if findings.unreadable:
        yield f"{_plural(len(findings.unreadable), 'session was', 'sessions were')} unreadable and not counted."
    for one in findings.failed:
        yield plain(f"{one.category} failed on {_plural(one.count, 'session', 'sessions')}: {one.error}")
    if findings.skipped:
        named = ", ".join(plain(one.file) for one in findings.skipped[:_SKIPPED_PRINTED])
        more = ", …" if len(findings.skipped) > _SKIPPED_PRINTED else ""
        yield f"{_plural(len(findings.skipped), 'file', 'files')} skipped, of no known format: {named}{more}"


def _unread(findings: Findings) -> tuple[str, ...]:
    judged = {one.category for one in findings.asked if one.by != RULE}
    counts = {name: (one.count, one.checked) for name, one in findings.categories.items() if name not in judged}
    return unread_limits(counts, findings.n)[0]


def judged_notes(findings: Findings) -> tuple[str, ...]:
    """Return sentences on what judges were asked after the rules, and how the shares are corrected; none without."""
    return (checked_line(findings), *corrections(findings)) if findings.corrected else ()


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def as_json(result: Findings) -> bytes:
    """Return the document as indented JSON, with a line end."""
    return msgspec.json.format(encode(result), indent=2) + b"\n"
