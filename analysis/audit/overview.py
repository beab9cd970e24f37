"""The findings of an audit as tables: how the checks ended, what fails and why, what cannot be told and why not."""

import re
from collections.abc import Iterable, Sequence

from analysis.audit.findings import Finding, counted, headline, merged, paper_findings
from analysis.published import Paper, load_paper, published_papers
from analysis.tables import FAILED, Row, Status, Table

PAPERS = {
    "wink": "Wink",
    "engineering_agent": "Engineering Agent",
    "reflexive": "Reflexive harness",
    "autotriage": "AutoTriage",
}
"""The slug of a paper → its short name."""

SLUG = "audit"
_TITLES: dict[Status, str] = {
    "impossible": "What is impossible: no whole counts print so",
    "differs": "What differs from the figures it is worked out from",
    "underdetermined": "What cannot be told",
    "reproduced": "What is reproduced",
}
_UNCHECKED = "no check"
_FIGURES = re.compile(r"[~<>−+-]?\d[\d.,]*(?:%|pp\b|[hsk]\b)?")
_ROUNDING = "range that the rounding of the printed inputs leaves open"


def all_findings() -> list[Finding]:
    """The findings on the shipped papers, paper by paper."""
    slugs = sorted(published_papers(), key=lambda slug: list(PAPERS).index(slug) if slug in PAPERS else len(PAPERS))
    return [finding for slug in slugs for finding in paper_findings(load_paper(slug), slug)]


def overview_table() -> Table:
    """How the checks of each paper ended, and how many of its printed figures have no check at all."""
    findings = all_findings()
    papers = [load_paper(slug) for slug in dict.fromkeys(finding.source for finding in findings)]
    rows = [row for paper in papers for row in _overview_rows(paper, findings)]
    unchecked = sum(map(_unchecked, papers))
    printed = sum(len(_printed(paper)) for paper in papers)
    return Table(
        name="overview",
        paper=SLUG,
        title="How the checks of four papers ended",
        finding=(
            f"{headline(findings)} {unchecked:,} of the {printed:,} printed figures have no check: "
            "no other printed figure says what they should be."
        ),
        rows=tuple(rows),
        notes=(
            "A figure may be checked in more than one way; figures without a check are counted once.",
            "Differs: no values inside the rounding of the inputs print so. Impossible: no whole counts do.",
        ),
    )


def status_table(status: Status) -> Table:
    """The findings of one status on the shipped papers, each with its sentence."""
    return findings_table(all_findings(), status)


def findings_table(findings: Sequence[Finding], status: Status) -> Table:
    """The findings of one status, each with its sentence; the same of one figure in several places is told once."""
    groups = merged(finding for finding in findings if finding.status == status)
    several = len({finding.source for finding in findings}) > 1
    figures = sum(map(len, groups))
    return Table(
        name=status,
        paper=SLUG,
        title=_TITLES[status],
        finding=f"{figures:,} of {len(findings):,} checks; {len(groups):,} of them say something of their own.",
        rows=tuple(row for alike in groups for row in _finding_rows(alike, several=several)),
        notes=_notes(status),
    )


def untold_table(findings: Sequence[Finding] | None = None) -> Table:
    """What cannot be told, by the reason: how many checks of each paper want the same."""
    found = [one for one in findings or all_findings() if one.status == "underdetermined"]
    reasons: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        reasons.setdefault((_reason(one), one.source), []).append(one)
    rows = [
        Row(
            quantity=PAPERS.get(source, source),
            value=len(alike),
            evidence="recomputed",
            source=_places(alike),
            unit="count",
            group=reason,
        )
        for (reason, source), alike in sorted(reasons.items(), key=lambda item: -len(item[1]))
    ]
    return Table(
        name="underdetermined",
        paper=SLUG,
        title="What cannot be told, and why",
        finding=f"{len(found):,} checks cannot be told, for {len({key for key, _ in reasons}):,} reasons.",
        rows=tuple(rows),
        notes=("Numbers in a reason are left out, so that one reason stands for all figures that have it.",),
    )


def status_rows(findings: Iterable[Finding], by_check: bool = False) -> list[Row]:
    """How many findings there are of each status, source by source or check by check: what a figure draws."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.check if by_check else finding.source, []).append(finding)
    return [
        Row(quantity=status, value=count, evidence="recomputed", unit="count", group=PAPERS.get(name, name))
        for name, found in groups.items()
        for status, count in counted(found).items()
    ]


def _overview_rows(paper: Paper, findings: Iterable[Finding]) -> list[Row]:
    rows = status_rows(finding for finding in findings if finding.source == paper.slug)
    return [*rows, Row(_UNCHECKED, _unchecked(paper), evidence="recomputed", unit="count", group=rows[0].group)]


def _printed(paper: Paper) -> list[str]:
    return [figure.id for figure in paper.figure if not figure.place.startswith("worked out:")]


def _unchecked(paper: Paper) -> int:
    """How many printed figures are neither worked out nor an input of what is."""
    printed = set(_printed(paper))
    return sum(figure.id in printed and not figure.derivations for figure in paper.figure)


def _finding_rows(alike: Sequence[Finding], *, several: bool) -> list[Row]:
    """A figure as printed, and what working it out gave."""
    first = alike[0]
    group = PAPERS.get(first.source, first.source) if several else ""
    name = first.name if first.place == "" else f"{first.name} ({first.check})"
    printed = Row(
        quantity=name,
        value=first.printed,
        evidence="published",
        source=_places(alike),
        unit="text",
        printed=first.printed,
        group=group,
    )
    computed = Row(
        quantity=name,
        value=first.value,
        low=first.low,
        high=first.high,
        evidence="recomputed",
        source=_places(alike),
        status=first.status,
        reason=first.explanation,
        unit="number" if first.unit == "text" else first.unit,
        method="" if first.low is None else _ROUNDING,
        group=group,
    )
    return [printed, computed]


def _places(alike: Sequence[Finding]) -> str:
    return "; ".join(dict.fromkeys(one.place or one.check for one in alike))


def _reason(finding: Finding) -> str:
    return _FIGURES.sub("…", finding.sentence)


def _notes(status: Status) -> tuple[str, ...]:
    if status in FAILED:
        return ("A suggestion is a small repair that would make the figures fit; only the authors can know.",)
    return ()
