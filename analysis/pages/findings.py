"""What `misstep classify` found: the JSON document that scripts rely on, and the same for people."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from analysis.measures.prevalence import (
    BY_RULE,
    READ_BY_A_JUDGE,
    co_occurrence_table,
    prevalence,
    prevalence_table,
)
from analysis.stats.estimate import Estimate
from analysis.tables import Table
from analysis.tables.wording import MISSING, count_text, number_text
from harness.escaping import plain
from harness.journal.classified import Failed, Finding, Labels, Summary
from harness.trajectory import Skipped, Unreadable

_EXAMPLES = 3
_STEPS_PRINTED = 6
_SKIPPED_PRINTED = 3


class Share(Struct, frozen=True):
    """How many show it, and what share of those that were judged; `interval` is the same as an estimate."""

    count: int
    share: float | None
    interval: Estimate


class CategoryShare(Share, frozen=True):
    """A category, whose share is of the `checked`: the trajectories in which the rule found something to check.

    `exclusive` trajectories show nothing else; `abstained` trajectories were read and not judged.
    """

    checked: int
    exclusive: int
    abstained: int


class Pattern(Struct, frozen=True):
    """How many trajectories have these labels, one a category, in order; `null` where one was not judged."""

    labels: Labels
    count: int


class SubAgents(Struct, frozen=True):
    """The runs of sub-agents, which are counted apart from the sessions that started them."""

    n: int
    categories: dict[str, CategoryShare]
    any: Share


class Findings(Struct, frozen=True):
    """The document: `n` sessions were read; `renamed` trajectories had an id that another one had taken.

    A trajectory on which a classifier `failed` was not judged for its category. `findings` are all of them, those of
    sub-agents too.
    """

    n: int
    unreadable: list[Unreadable]
    categories: dict[str, CategoryShare]
    any: Share
    skipped: list[Skipped]
    renamed: int
    patterns: list[Pattern]
    findings: list[Finding]
    failed: list[Failed] = []
    sub_agents: SubAgents | None = None


def findings(categories: Sequence[str], summary: Summary) -> Findings:
    """The document for what was found in these categories."""
    shares, flagged = _shares(categories, summary.patterns)
    apart = _shares(categories, summary.sub_agents)
    return Findings(
        n=summary.n,
        unreadable=summary.unreadable,
        categories=shares,
        any=flagged,
        skipped=summary.skipped,
        renamed=summary.renamed,
        patterns=[Pattern(labels, count) for labels, count in summary.patterns.items()],
        findings=summary.findings,
        failed=summary.failed,
        sub_agents=SubAgents(sum(summary.sub_agents.values()), *apart) if summary.sub_agents else None,
    )


def _shares(categories: Sequence[str], patterns: Mapping[Labels, int]) -> tuple[dict[str, CategoryShare], Share]:
    found = prevalence(categories, patterns)
    shares = {
        one.category: CategoryShare(one.count, one.share.value, one.share, one.answered, one.exclusive, one.abstained)
        for one in found.categories
    }
    return shares, Share(found.any_count, found.any_share.value, found.any_share)


def shares(found: Findings) -> dict[str, Estimate]:
    """The share of each category and of `any`, by name."""
    return {**{name: one.interval for name, one in found.categories.items()}, "any": found.any.interval}


def tables(found: Findings, source: str) -> tuple[Table, Table]:
    """Prevalence and co-occurrence as tables for a page."""
    names = tuple(found.categories)
    patterns = {pattern.labels: pattern.count for pattern in found.patterns}
    return (
        prevalence_table(names, patterns, source=source, paper="classify"),
        co_occurrence_table(names, patterns, source=source, paper="classify"),
    )


def findings_page(found: Findings, paths: Sequence[Path], arguments: Sequence[str]) -> str:
    """One HTML page; `arguments` are those of the command that makes it again."""
    from analysis.pages import Foot, page

    source = f"{found.n:,} trajectories"
    prevalent, together = tables(found, source)
    return page(
        prevalent.title,
        prevalent.finding,
        (prevalent, together),
        notes=(*_page_examples(found), *_left_out(found)),
        foot=Foot(shlex.join(["misstep", "classify", *arguments]), inputs=tuple(str(path) for path in paths)),
    )


def _page_examples(found: Findings) -> Iterator[str]:
    for name in found.categories:
        own = [one for one in found.findings if one.category == name]
        for example in own[:_EXAMPLES]:
            yield f"{example.category}: {finding_line(example)}"


def findings_text(found: Findings) -> str:
    """The document as a table, three examples and what was left out, for a terminal."""
    lines = [f"{_plural(found.n, 'trajectory', 'trajectories')} read", "", *_table_lines(found)]
    examples = _spread(found)
    if examples:
        width = max(len(example.category) for example in examples)
        lines += ["", "For example"]
        lines += [f"  {example.category:{width}}  {finding_line(example)}" for example in examples]
    left_out = list(_left_out(found))
    return "\n".join(lines + ([""] if left_out else []) + left_out)


def _table_lines(found: Findings) -> Iterator[str]:
    names = {name: plain(name) for name in found.categories}
    width = max(len("category"), len("any of them"), *map(len, names.values()))
    yield f"{'category':{width}}  {'count':>9}  {'checked':>9}  {'share':>7}  {'95% interval':>15}  {'only this':>9}"
    for name, one in found.categories.items():
        yield f"{names[name]:{width}}  {_share_cells(one, one.checked)}  {count_text(one.exclusive):>9}"
    yield f"{'any of them':{width}}  {_share_cells(found.any, found.any.interval.n or 0)}"


def _share_cells(share: Share, checked: int) -> str:
    low, high = share.interval.low, share.interval.high
    interval = MISSING if low is None else f"{number_text(low, 'share')} – {number_text(high, 'share')}"
    counts = f"{count_text(share.count):>9}  {count_text(checked):>9}"
    return f"{counts}  {number_text(share.share, 'share'):>7}  {interval:>15}"


def _spread(found: Findings) -> list[Finding]:
    """A few examples, of as many categories as there are, the most frequent first."""
    by_frequency = sorted(found.categories, key=lambda name: -found.categories[name].count)
    ranked: list[tuple[int, int, Finding]] = []
    for place, name in enumerate(by_frequency):
        own = [example for example in found.findings if example.category == name]
        ranked += [(turn, place, example) for turn, example in enumerate(own)]
    ranked.sort(key=lambda entry: entry[:2])
    return [example for _, _, example in ranked[:_EXAMPLES]]


def finding_line(example: Finding) -> str:
    """A finding in one line: the session, its file, the evidence steps and the reason."""
    where = example.file if example.line is None else f"{example.file}:{example.line}"
    return plain(f"{example.item} ({where}){_steps(example)}: {example.rationale}")


def _steps(example: Finding) -> str:
    """The evidence steps, unless the sentence that follows names them itself."""
    if not example.steps or "step" in example.rationale:
        return ""
    more = ", …" if len(example.steps) > _STEPS_PRINTED else ""
    named = ", ".join(map(str, example.steps[:_STEPS_PRINTED]))
    return f", {'step' if len(example.steps) == 1 else 'steps'} {named}{more}"


def _left_out(found: Findings) -> Iterator[str]:
    unchecked = [name for name in found.categories if name in READ_BY_A_JUDGE and found.categories[name].abstained]
    if unchecked:
        yield f"{BY_RULE} For example: misstep judge run {unchecked[-1]} --benchmark BENCHMARK --out RUN."
    if found.unreadable:
        yield f"{_plural(len(found.unreadable), 'trajectory was', 'trajectories were')} unreadable and not counted."
    for one in found.failed:
        yield plain(f"{one.category} failed on {_plural(one.count, 'trajectory', 'trajectories')}: {one.error}")
    if found.skipped:
        named = ", ".join(plain(one.file) for one in found.skipped[:_SKIPPED_PRINTED])
        more = ", …" if len(found.skipped) > _SKIPPED_PRINTED else ""
        yield f"{_plural(len(found.skipped), 'file', 'files')} skipped, of no known format: {named}{more}"


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
