"""The findings of `misstep audit` as one HTML page."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from misstep_analysis.audit.findings import Finding, as_one, headline, merged
from misstep_analysis.audit.overview import counted_by, findings_table
from misstep_analysis.pages import Foot, page
from misstep_analysis.pages.page import Section
from misstep_analysis.tables import FAILED, WORST_FIRST
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
    names = list(dict.fromkeys(one.row if not one.place else f"{one.place}: {one.name}" for one in alike))
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
    from misstep_analysis.plots import can_draw, heat_map

    if not can_draw():
        return []
    sources = {finding.source for finding in findings}
    counts = counted_by(findings, by_check=len(sources) == 1)
    values = [[float(count) for count in ended.values()] for ended in counts.values()]
    title = "Results of the checks"
    return [heat_map(values, list(counts), WORST_FIRST, title, row_axis="check" if len(sources) == 1 else "source")]
