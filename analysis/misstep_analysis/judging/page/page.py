"""The report of runs of judges as one page: the finding, figures, tables, and every item.

Texts from outside enter the page's script only by `textContent`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from misstep_analysis.judging.page.items import JudgedBy
from misstep_analysis.judging.sample import Reference
from misstep_analysis.pages.browser.frame import LINES_SHOWN, browser_page
from misstep_analysis.pages.foot import Foot
from misstep_analysis.pages.page import table_html, table_id
from misstep_analysis.pages.rendering import markup
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text
from misstep_harness.triage.records.attribution import TriageVerdict
from misstep_harness.verdict import Verdict

_REASONS_SHOWN = 300


class WrongAnswer(Struct, frozen=True):
    """An item that a run did not get right, as a line for readers without scripts."""

    item: str
    gold: str
    run: str
    answer: str
    reasons: str


class ItemBrowser(Struct, frozen=True):
    """The items of a section: data for the page's script, by name, and lines for readers without scripts."""

    data: Mapping[str, str]
    wrong: tuple[WrongAnswer, ...]
    wrong_title: str
    several: bool
    notes: tuple[str, ...] = ()


class Section(Struct, frozen=True):
    """The part of the page on one benchmark.

    - `figures`: HTML fragments of this package, in groups that are shown side by side.
    - `tables`: Heading → the tables below it; those without a heading come first, the first of them before the items.
    """

    title: str
    finding: str
    figures: tuple[tuple[str, ...], ...]
    tables: Mapping[str, Sequence[Table]]
    items: ItemBrowser


def judge_page(
    title: str,
    finding: str,
    sections: Sequence[Section],
    notes: Iterable[str] = (),
    warnings: Iterable[str] = (),
    *,
    foot: Foot,
) -> str:
    """Return the page."""
    return browser_page(
        "judges/page.html.jinja",
        title=title,
        finding=finding,
        warnings=warnings,
        foot=foot,
        sections=[_shown(section, place, finding) for place, section in enumerate(sections)],
        notes=tuple(notes),
    )


def wrong_answers(
    ids: Sequence[str], reference: Reference, runs: Sequence[JudgedBy]
) -> tuple[tuple[WrongAnswer, ...], str]:
    """Return the first wrong answers, then the first items without an answer, and a sentence on how many there are."""
    wrong: list[WrongAnswer] = []
    unanswered: list[WrongAnswer] = []
    statuses: Counter[str] = Counter()
    for item in ids:
        gold = reference.label_of.get(item)
        for run in runs:
            verdict = run.verdicts.get(item)
            if verdict is None or gold is None or verdict.label == gold:
                continue
            reasons = _reasons(verdict)
            short = reasons if len(reasons) <= _REASONS_SHOWN else f"{reasons[:_REASONS_SHOWN].rstrip()} …"
            line = WrongAnswer(item, gold, run.name, verdict.label or verdict.status, short)
            if verdict.label is None:
                unanswered.append(line)
                statuses[verdict.status] += 1
            else:
                wrong.append(line)
    lines = tuple((wrong + unanswered)[:LINES_SHOWN])
    some = f"; the first {LINES_SHOWN} of them" if len(wrong) + len(unanswered) > LINES_SHOWN else ""
    sentence = counted_text(len(wrong), "wrong answer") if wrong else "No answer is wrong"
    if unanswered:
        sentence += f"; {counted_text(len(unanswered), 'question')} without an answer ({_listed(statuses)})"
    return lines, sentence + (some if lines else ".")


def _reasons(verdict: Verdict) -> str:
    reasons = verdict.rationale or verdict.error or ""
    first = next(iter(verdict.evidence), None) if isinstance(verdict, TriageVerdict) else None
    return reasons if first is None else f"{reasons} ({first.kind} {first.where}: {first.text})".strip()


def _listed(statuses: Counter[str]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in statuses.most_common())


def _shown(section: Section, place: int, finding: str) -> dict[str, Any]:
    text = f"{finding}\n{section.finding}"
    groups: list[dict[str, Any]] = [
        {
            "heading": heading,
            "id": f"tables-{place}-{number}",
            "titles": [(table_id(table), table.title) for table in tables],
            "tables": [markup(table_html(table, with_finding=table.finding not in text)) for table in tables],
        }
        for number, (heading, tables) in enumerate(section.tables.items())
    ]
    first, *others = groups
    return {
        "title": section.title,
        "finding": section.finding,
        "figures": [[markup(figure) for figure in figures] for figures in section.figures],
        "contents": [*first["titles"][1:], *((group["id"], group["heading"]) for group in others)],
        "first": first["tables"][0],
        "groups": [first | {"tables": first["tables"][1:]}, *others],
        "browser": {
            "data": {name: markup(content) for name, content in section.items.data.items()},
            "wrong": section.items.wrong,
            "wrong_title": section.items.wrong_title,
            "several": section.items.several,
            "notes": section.items.notes,
        },
    }
