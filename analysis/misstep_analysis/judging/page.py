"""The page of runs of judges: figures, findings, and every item to look at.

All items of some runs of judges as one index, which a report's item browser filters, sorts and searches.

A list a field, in the order of the items, so that thousands of them stay small; labels, models and prompts are held
once and then counted from 0. With made-up values:

    {"labels": ["fruit", "vegetable"], "statuses": ["answered", …], "raters": ["ann"], "models": ["small-1"],
     "ids": ["i0", "i1"], "gold": [0, -2], "ratings": [[0, 1]], "excerpts": ["an apple", "a leek"],
     "run_of": ["run-0", ""], "piece_of": ["text-0/0", ""], "absent": {},
     "runs": [{"name": "strict", "label": [0, -1], "status": [0, 3], "rationale": ["It is one.", ""], …}]}

A verdict on a pair has its answer and reason in each order, by the output in the first place; others have none.
A verdict of triage also has a subcategory and evidence (kind, place and text); without any, both lists are empty.
`piece_of` and `run_of` name the parts of the page with an item's own text and its run; `absent` gives the reason why an
item, by its place, has none. `gold_subcategories` is empty if none is known.

The report of runs of judges as one page: the finding, figures, tables, and every item.

Texts from outside enter the page's script only by `textContent`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from misstep_analysis.judging.assessment import Assessment
from misstep_analysis.judging.calibrated_scores import Reliability
from misstep_analysis.judging.sample import Reference
from misstep_analysis.judging.scores import Scores
from misstep_analysis.pages.browser import LINES_SHOWN, NONE, Numbered, browser_page
from misstep_analysis.pages.page import Foot, figure_html, markup, table_html, table_id
from misstep_analysis.plots.points import cost_quality, heat_map, reliability
from misstep_analysis.tables import Row, Table, estimate_row
from misstep_analysis.tables.wording import counted_text, number_text
from misstep_harness.fault_mappings import next_step
from misstep_harness.triage.records import TriageVerdict
from misstep_harness.verdict import STATUSES, PairVerdict, Verdict

RUNS_DRAWN = 6
LABELS_DRAWN = 24


def judge_figures(assessments: Mapping[str, Assessment]) -> tuple[tuple[str, ...], ...]:
    """Return all figures of the runs on one benchmark, those that belong side by side together."""
    scored = {name: assessment.scores for name, assessment in assessments.items()}
    of_runs = []
    for name in list(assessments)[:RUNS_DRAWN]:
        of = "" if len(scored) == 1 else f" of {name}"
        of_runs.append([*_confusions(scored[name], of), *_reliabilities(assessments[name].reliability, of)])
    compared = _compared(scored) if len(scored) > 1 else []
    if all(len(figures) <= 1 for figures in of_runs):
        of_runs = [[figure for figures in of_runs for figure in figures]]
    return tuple(tuple(figures) for figures in (compared, *of_runs) if figures)


def _compared(scored: Mapping[str, Scores]) -> list[str]:
    rows = [
        estimate_row(name, scores.accuracy_all, "share", source=scores.benchmark)
        for name, scores in scored.items()
        if scores.accuracy_all.value is not None
    ]
    if not rows:
        return []
    from misstep_analysis.plots.rows import forest

    figures = [
        figure_html(
            forest(rows, "Accuracy of each run, unanswered counted as wrong"),
            "The share of gold labels given, with its 95% interval; an item without an answer counts as wrong.",
        )
    ]
    costs = {name: cost for name, scores in scored.items() if (cost := _cost_per_item(scores)) is not None}
    if costs:
        drawing = cost_quality(rows, costs, "Cost against accuracy", x_label="US dollars an item")
        unknown = [name for name in scored if name not in costs]
        caption = "Accuracy, unanswered counted as wrong, over what an item costs."
        figures.append(
            figure_html(
                drawing,
                f"{caption} Without a known cost, and so not drawn: {', '.join(unknown)}." if unknown else caption,
            )
        )
    return figures


def _cost_per_item(scores: Scores) -> float | None:
    """US dollars an item; `None` where the cost of no item, or not of every one that was answered, is on record."""
    reported = scores.reported["cost_usd"]
    if scores.cost_usd is None or reported < scores.answered:
        return None
    return scores.cost_usd / scores.n


def _confusions(scores: Scores, of: str) -> list[str]:
    matrix = scores.confusion
    if not scores.accuracy_all.n or len(matrix.labels) > LABELS_DRAWN:
        return []
    columns = {"another answer": matrix.unknown, "no answer": matrix.unanswered}
    extra = {name: counts for name, counts in columns.items() if any(counts)}
    rows = [[*counts, *(column[place] for column in extra.values())] for place, counts in enumerate(matrix.matrix)]
    title = f"Gold labels against the answers{of}"
    drawing = heat_map(rows, matrix.labels, [*matrix.labels, *extra], title, row_axis="gold", column_axis="judge")
    caption = f"{title}: rows are what people said, columns what the judge said, items in each cell."
    return [figure_html(drawing, caption)]


def _reliabilities(result: Reliability, of: str) -> list[str]:
    if not result.bins:
        return []
    rows, means = [], {}
    for one in result.bins:
        ends = [number_text(end, "coefficient") for end in dict.fromkeys((one.lowest, one.highest))]
        name = f"Score {' to '.join(ends)}"
        means[name] = one.mean_score
        right = one.right
        rows.append(Row(name, right.value, right.low, right.high, one.n, unit="share", method=right.method))
    drawing = reliability(rows, means, f"Share right by score{of}")
    caption = (
        f"How often the answers{of} are right, by the score that the judge gave them. On the dashed line a score says "
        "how often an answer is right; below it the judge is too sure of itself."
    )
    return [figure_html(drawing, caption)]


TIED = -2
TEXTS_SHOWN = 8_000_000
"""How many characters of judges' reasons an index holds: of more, each is cut."""

_LONGEST_REASON = 4_000
_SHORTEST_REASON = 160
_EVIDENCE_SHOWN = 12


class JudgedBy(Struct, frozen=True):
    """The verdicts of one run of a judge: item → its verdict."""

    name: str
    verdicts: Mapping[str, Verdict]


def rank(item: str, reference: Reference, runs: Sequence[JudgedBy]) -> int:
    """Return a reader's interest in an item: 3 a wrong answer, 2 a missing one, 1 no gold label, 0 all right."""
    verdicts = [verdict for run in runs if (verdict := run.verdicts.get(item)) is not None]
    gold = reference.label_of.get(item)
    if gold is not None and any(verdict.label not in (None, gold) for verdict in verdicts):
        return 3
    if any(verdict.label is None for verdict in verdicts):
        return 2
    return 1 if gold is None else 0


def item_index(
    ids: Sequence[str],
    labels: Sequence[str],
    reference: Reference,
    runs: Sequence[JudgedBy],
    *,
    excerpts: Mapping[str, str],
    piece_of: Mapping[str, str],
    run_of: Mapping[str, str],
    absent: Mapping[str, str],
    subcategories: Mapping[str, str] = {},
) -> dict[str, Any]:
    """Return the index of items."""
    numbered, models, prompts = Numbered(labels), Numbered(), Numbered()
    count = sum(len(run.verdicts) for run in runs)
    most = max(_SHORTEST_REASON, min(_LONGEST_REASON, TEXTS_SHOWN // max(count, 1)))
    columns = [_columns(ids, run, numbered, models, prompts, most) for run in runs]
    gold = [TIED if item in reference.tied else numbered.of(reference.label_of.get(item)) for item in ids]
    ratings = [[numbered.of(labels_of.get(item)) for item in ids] for labels_of in reference.by_rater.values()]
    return {
        "labels": numbered.words(),
        "statuses": list(STATUSES),
        "raters": list(reference.by_rater),
        "models": models.words(),
        "prompts": prompts.words(),
        "ids": list(ids),
        "gold": gold,
        "gold_subcategories": [subcategories.get(item, "") for item in ids] if subcategories else [],
        "ratings": ratings,
        "excerpts": [excerpts.get(item, "") for item in ids],
        "piece_of": [piece_of.get(item, "") for item in ids],
        "run_of": [run_of.get(item, "") for item in ids],
        "absent": {place: absent[item] for place, item in enumerate(ids) if item in absent},
        "runs": columns,
    }


def _columns(
    ids: Sequence[str], run: JudgedBy, numbered: Numbered, models: Numbered, prompts: Numbered, most: int
) -> dict[str, Any]:
    verdicts = [run.verdicts.get(item) for item in ids]
    answers = [verdict or _NOT_ASKED for verdict in verdicts]
    is_pair = any(isinstance(verdict, PairVerdict) for verdict in answers)
    is_triage = any(isinstance(verdict, TriageVerdict) for verdict in answers)
    triaged = [one if isinstance(one, TriageVerdict) else _NOTHING_FOUND for one in answers] if is_triage else []
    return {
        "name": run.name,
        "label": [numbered.of(verdict.label) for verdict in answers],
        "status": [NONE if verdict is None else STATUSES.index(verdict.status) for verdict in verdicts],
        "score": [verdict.score for verdict in answers],
        "steps": [verdict.steps for verdict in answers],
        "rationale": [_shortened(verdict.rationale, most) for verdict in answers],
        "subcategory": [verdict.subcategory for verdict in triaged],
        "evidence": [_evidence(verdict, most) for verdict in triaged],
        "next_step": [next_step(verdict.label, verdict.subcategory) for verdict in triaged],
        "orders": [_orders(one, most) if isinstance(one, PairVerdict) else [] for one in answers] if is_pair else [],
        "error": [_shortened(verdict.error or "", most) for verdict in answers],
        "model": [models.of(verdict.model) for verdict in answers],
        "prompt": [prompts.of(verdict.prompt) for verdict in answers],
        "cached": [verdict.cached for verdict in answers],
        "seconds": [verdict.seconds for verdict in answers],
        "input_tokens": [verdict.input_tokens for verdict in answers],
        "output_tokens": [verdict.output_tokens for verdict in answers],
        "cost_usd": [verdict.cost_usd for verdict in answers],
    }


def _orders(verdict: PairVerdict, most: int) -> list[tuple[str, str, str]]:
    return [(one.first, one.label or one.status, _shortened(one.rationale, most)) for one in verdict.orders]


_NOT_ASKED = Verdict(item="", judge="", label=None, status="abstained")
_NOTHING_FOUND = TriageVerdict(item="", judge="", label=None, status="abstained")


def _evidence(verdict: TriageVerdict, most: int) -> list[tuple[str, str, str]]:
    shown: list[tuple[str, str, str]] = [
        (one.kind, _shortened(one.where, most), _shortened(one.text, most)) for one in verdict.evidence
    ]
    more = len(shown) - _EVIDENCE_SHOWN
    if more <= 0:
        return shown
    return [*shown[:_EVIDENCE_SHOWN], ("", "", f"{counted_text(more, 'piece')} of evidence more")]


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} […{len(text) - most:,} more characters]"


_REASONS_SHOWN = 300


class WrongAnswer(Struct, frozen=True):
    """An item that a run did not get right, or any without gold labels, as a line for readers without scripts.

    - `next_step`: What to do with a run of an agent, by a verdict of triage.
    """

    item: str
    gold: str
    run: str
    answer: str
    reasons: str
    next_step: str = ""


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
    if not reference.by_rater:
        lines = [
            _line(item, "", run.name, verdict) for item in ids for run in runs if (verdict := run.verdicts.get(item))
        ]
        some = f"; the first {LINES_SHOWN} of them" if len(lines) > LINES_SHOWN else ""
        return tuple(lines[:LINES_SHOWN]), f"{counted_text(len(lines), 'verdict')}{some}."
    wrong: list[WrongAnswer] = []
    unanswered: list[WrongAnswer] = []
    statuses: Counter[str] = Counter()
    for item in ids:
        gold = reference.label_of.get(item)
        for run in runs:
            verdict = run.verdicts.get(item)
            if verdict is None or gold is None or verdict.label == gold:
                continue
            line = _line(item, gold, run.name, verdict)
            if verdict.label is None:
                unanswered.append(line)
                statuses[verdict.status] += 1
            else:
                wrong.append(line)
    lines = (wrong + unanswered)[:LINES_SHOWN]
    some = f"; the first {LINES_SHOWN} of them" if len(wrong) + len(unanswered) > LINES_SHOWN else ""
    sentence = counted_text(len(wrong), "wrong answer") if wrong else "No answer is wrong"
    if unanswered:
        sentence += f"; {counted_text(len(unanswered), 'question')} without an answer ({_listed(statuses)})"
    return tuple(lines), sentence + (some if lines else ".")


def _line(item: str, gold: str, run: str, verdict: Verdict) -> WrongAnswer:
    reasons = _reasons(verdict)
    short = reasons if len(reasons) <= _REASONS_SHOWN else f"{reasons[:_REASONS_SHOWN].rstrip()} …"
    step = next_step(verdict.label, verdict.subcategory) if isinstance(verdict, TriageVerdict) else ""
    return WrongAnswer(item, gold, run, verdict.label or verdict.status, short, step)


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
            "has_gold": any(line.gold for line in section.items.wrong) or not section.items.wrong,
            "is_triage": any(line.next_step for line in section.items.wrong),
            "notes": section.items.notes,
        },
    }
