"""The findings of an audit as tables and as a page: how the checks ended, which figures fail or stay open, and why."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from textwrap import wrap

from msgspec import structs

from misstep_analysis.audit.findings import Finding, as_one, counted, headline, is_one_figure, merged, paper_findings
from misstep_analysis.audit.tables import ROUNDING
from misstep_analysis.pages import Foot, page
from misstep_analysis.pages.page import Section
from misstep_analysis.published import Derivation, Figure, Paper, load_paper, published_papers
from misstep_analysis.tables import FAILED, STATUS_WORDS, WORST_FIRST, Row, Status, Table, TableHead, made_by_this
from misstep_harness.escaping import plain

_WIDTH = 110
_INDENT = "    "
_REASONS_SHOWN = 8
_NAMED = 6

Lines = Iterator[str]


def findings_text(findings: Sequence[Finding], *, every: bool = False) -> str:
    """Return the findings as text."""
    several = len({finding.source for finding in findings}) > 1
    shown = [one for one in findings if every or one.status in FAILED]
    lines = [line for alike in merged(shown) for line in _group(alike, several=several)]
    if not every:
        lines += _underdetermined([one for one in findings if one.status == "underdetermined"], several=several)
        sound = sum(one.status == "reproduced" for one in findings)
        if sound:
            lines += [f"reproduced: {sound:,} (--all lists them)", ""]
    return "\n".join([*lines, *_folded(headline(findings), "")])


def _group(alike: Sequence[Finding], *, several: bool) -> Lines:
    claim = as_one(alike)
    where = f"{claim.place}: {claim.name}" if claim.place else _names(alike)
    source = f"{claim.source}, " if several else ""
    title = f"{claim.status}: {source}{where} ({claim.check}), printed {claim.printed}"
    yield from _folded(title, "", later=_INDENT)
    yield from _folded(f"{claim.sentence} {claim.remark}".strip(), _INDENT)
    if claim.suggestion:
        yield from _folded(f"Suggestion: {claim.suggestion}.", _INDENT)
    yield ""


def _underdetermined(findings: Sequence[Finding], *, several: bool) -> Lines:
    groups = merged(findings)
    for alike in groups[:_REASONS_SHOWN]:
        source = f"{alike[0].source}, " if several else ""
        times = f"{len(alike):,} figures, " if len(alike) > 1 else ""
        yield from _folded(f"underdetermined: {source}{times}{_names(alike)} ({alike[0].check})", "", later=_INDENT)
        yield from _folded(alike[0].explanation, _INDENT)
        yield ""
    left = sum(len(alike) for alike in groups[_REASONS_SHOWN:])
    if left:
        yield f"underdetermined: {left:,} more (--all lists them)"
        yield ""


def _names(alike: Sequence[Finding]) -> str:
    names = list(
        dict.fromkeys(finding.row if not finding.place else f"{finding.place}: {finding.name}" for finding in alike)
    )
    left = len(names) - _NAMED
    return "; ".join(names[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")


def _folded(text: str, indent: str, later: str | None = None) -> list[str]:
    return wrap(
        plain(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )


_NOTES = (
    "Each figure is recomputed from the figures that it depends on. It differs if no values inside the rounding of "
    "those give the printed digits, and it is impossible if no whole counts round to them.",
    "An underdetermined figure is not a finding: the source does not print what is needed to recompute it.",
)
_OPEN = ("impossible", "differs")
_LONG = 20
"""From how many rows on a table of sound or open figures is folded."""


def findings_page(findings: Sequence[Finding], command: str, files: Sequence[str]) -> str:
    """Return one self-contained page: how the checks ended, as a figure too, then each finding, the worst first."""
    statuses = {finding.status for finding in findings}
    tables = {status: findings_table(findings, status) for status in WORST_FIRST if status in statuses}
    folded = {status: table for status, table in tables.items() if status not in _OPEN and len(table.rows) > _LONG}
    return page(
        "Audit of printed figures",
        headline(findings),
        [table for status, table in tables.items() if status not in folded],
        _figures(findings),
        _NOTES,
        [Section(table.title, (table,), folded=True) for table in folded.values()],
        foot=Foot(command, inputs=tuple(f"{name}: printed figures" for name in files)),
    )


def _figures(findings: Sequence[Finding]) -> list[str]:
    from misstep_analysis.plots.drawing import can_draw
    from misstep_analysis.plots.points import heat_map

    if not can_draw():
        return []
    sources = {finding.source for finding in findings}
    counts = counted_by(findings, by_check=len(sources) == 1)
    values = [[float(count) for count in ended.values()] for ended in counts.values()]
    title = "Results of the checks"
    return [heat_map(values, list(counts), WORST_FIRST, title, row_axis="check" if len(sources) == 1 else "source")]


PAPERS = {
    "wink": "Wink",
    "engineering_agent": "Engineering Agent",
    "reflexive": "Reflexive harness",
    "autotriage": "AutoTriage",
}

SLUG = "audit"
_TITLES: dict[Status, str] = {
    "impossible": "What is impossible: no whole counts round to it",
    "differs": "What differs from the figures it is worked out from",
    "underdetermined": "What cannot be told",
    "reproduced": "What is reproduced",
}
_ALONE = "figures that stand alone"
_SUGGESTION = "A suggestion is a small repair that would make the figures fit; only the authors can know."


@cache
def all_findings() -> tuple[Finding, ...]:
    """Return the findings on the shipped papers, paper by paper."""
    return tuple(finding for slug in _slugs() for finding in paper_findings(load_paper(slug), slug))


_OVERVIEW = TableHead(
    "overview",
    SLUG,
    "How the checks of four papers ended",
    (
        "Checks count here, and a figure may have several; the index counts printed figures, each by the worst "
        "that was found of it on any page, and the rates that are stated with public results as well. Figures "
        "count, not checks, where they stand alone.",
        "Differs: no values inside the rounding of the inputs print so. Impossible: no whole counts round to it.",
    ),
)


@made_by_this
def overview_table() -> Table:
    """Return how the checks of each paper ended, and how many of its printed figures no check says anything about."""
    findings = all_findings()
    papers = [load_paper(slug) for slug in dict.fromkeys(finding.source for finding in findings)]
    rows = [row for paper in papers for row in _overview_rows(paper, findings)]
    alone = sum(len(_standing_alone(paper)) for paper in papers)
    printed = sum(len(_printed(paper)) for paper in papers)
    checked = len({name for finding in findings for name in finding.figures})
    return _OVERVIEW.table(
        (
            f"{headline(findings)} They are of {checked:,} printed figures, and the index counts figures. {alone:,} "
            f"of the {printed:,} printed figures stand alone: no other printed figure says anything about them."
        ),
        rows,
    )


@made_by_this
def findings_table(findings: Sequence[Finding], status: Status) -> Table:
    """Return the findings of one status, each with its sentence; grouped findings are one, with the worst of them."""
    rows = merged(findings)
    groups = [alike for alike in rows if alike[0].status == status]
    several = len({finding.source for finding in findings}) > 1
    checks = counted(findings)[status]
    further = sum(len(alike) - 1 for alike in groups if is_one_figure(alike))
    beside = sum(one.status == status for alike in rows if not is_one_figure(alike) for one in alike[1:])
    repeated = [f"{further:,} of them the same figure in a further place"] if further else []
    repeated += [f"{beside:,} told together with another figure of their table"] if beside else []
    shown = [as_one(alike) for alike in groups]
    names = Counter((one.source, _name(one)) for one in shown)
    return Table(
        name=status,
        paper=SLUG,
        title=_TITLES[status],
        finding=f"{checks:,} of {len(findings):,} checks {', '.join([STATUS_WORDS[status][checks != 1], *repeated])}.",
        rows=tuple(
            row
            for one in shown
            for row in _finding_rows(one, several=several, repeated_name=names[one.source, _name(one)] > 1)
        ),
        notes=(_SUGGESTION,) if status in FAILED else (),
    )


_UNDERDETERMINED = TableHead(
    "underdetermined",
    SLUG,
    "What cannot be told, and why",
    ("A reason is given in the words of its first figure; for the others only the numbers in it differ.",),
)


@made_by_this
def underdetermined_table(findings: Sequence[Finding] | None = None) -> Table:
    """Return what cannot be told, by the reason: how many checks of each paper want the same."""
    open_ones = [finding for finding in findings or all_findings() if finding.status == "underdetermined"]
    reasons: dict[tuple[str, str], list[Finding]] = {}
    for one in open_ones:
        reasons.setdefault((one.check, one.wanting or one.sentence), []).append(one)
    rows = [
        Row(
            quantity=PAPERS.get(source, source),
            value=len(alike),
            evidence="recomputed",
            source=_places(alike),
            unit="count",
            group=f"{wanting[0].check}: {wanting[0].sentence}",
            papers=(source,),
            status="underdetermined",
            figures=tuple(dict.fromkeys(name for finding in alike for name in finding.figures)),
        )
        for wanting in sorted(reasons.values(), key=len, reverse=True)
        for source in dict.fromkeys(finding.source for finding in wanting)
        for alike in [[finding for finding in wanting if finding.source == source]]
    ]
    return _UNDERDETERMINED.table(f"{len(open_ones):,} checks are underdetermined, for {len(reasons):,} reasons.", rows)


_UNCHECKED = TableHead(
    "unchecked",
    SLUG,
    "Printed figures that stand alone, by the place that prints them",
    ("Most are facts of one run or of other people's work, which nothing in the paper repeats or sums up.",),
)


@made_by_this
def unchecked_table() -> Table:
    """Return how many printed figures stand alone, by the place that prints them."""
    places = {
        slug: Counter(figure.place.partition(",")[0] for figure in _standing_alone(load_paper(slug)))
        for slug in _slugs()
    }
    total = sum(counts.total() for counts in places.values())
    return _UNCHECKED.table(
        f"{total:,} printed figures are neither worked out again nor an input of one that is.",
        (
            Row(place, count, evidence="published", unit="count", group=PAPERS.get(slug, slug), papers=(slug,))
            for slug, counts in places.items()
            for place, count in counts.most_common()
        ),
    )


def counted_by(findings: Iterable[Finding], by_check: bool = False) -> dict[str, dict[Status, int]]:
    """Return how many findings there are of each status, by source or by check, for a drawing."""
    every = [(finding.check if by_check else finding.source, finding) for finding in findings]
    names = dict.fromkeys(name for name, _ in every)
    return {PAPERS.get(name, name): counted(one for of, one in every if of == name) for name in names}


def _slugs() -> list[str]:
    return [slug for slug in dict.fromkeys([*PAPERS, *published_papers()]) if slug in published_papers()]


def _overview_rows(paper: Paper, findings: Iterable[Finding]) -> list[Row]:
    counts = counted(finding for finding in findings if finding.source == paper.slug)
    name, alone = PAPERS.get(paper.slug, paper.slug), len(_standing_alone(paper))
    return [
        Row(quantity, count, evidence="recomputed", unit="count", group=name, papers=(paper.slug,))
        for quantity, count in [*counts.items(), (_ALONE, alone)]
    ]


def _printed(paper: Paper) -> list[Figure]:
    return [figure for figure in paper.figure if not figure.is_worked_out]


def _standing_alone(paper: Paper) -> list[Figure]:
    """Return the printed figures that are neither worked out again nor an input of one that is."""
    inputs = {name for figure in paper.figure for way in figure.derivations for name in _named(way)}
    inputs |= {name for matrix in paper.matrix for row in matrix.cells for name in row}
    return [figure for figure in _printed(paper) if not figure.derivations and figure.id not in inputs]


def _named(way: Derivation) -> Iterable[str]:
    for value in way.inputs.values():
        yield from (value,) if isinstance(value, str) else value


def _finding_rows(first: Finding, *, several: bool, repeated_name: bool) -> list[Row]:
    printed = Row(
        quantity=f"{_name(first)}, {_places([first])}" if repeated_name else _name(first),
        value=first.printed,
        evidence="published",
        source=_places([first]),
        unit="text",
        printed=first.printed,
        group=PAPERS.get(first.source, first.source) if several else "",
        figures=first.figures,
    )
    computed = structs.replace(
        printed,
        value=first.value,
        low=first.low,
        high=first.high,
        evidence="recomputed",
        status=first.status,
        reason="" if first.status == "reproduced" else first.explanation,
        unit="number" if first.unit == "text" else first.unit,
        printed=None,
        method="" if first.low is None else ROUNDING,
    )
    return [printed, computed]


def _name(finding: Finding) -> str:
    return f"{finding.name} ({finding.check})"


def _places(alike: Sequence[Finding]) -> str:
    return "; ".join(dict.fromkeys(finding.place or finding.check for finding in alike))
