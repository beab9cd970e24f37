"""All items of some runs of judges as one index, which a report's item browser filters, sorts and searches.

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
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from misstep_analysis.judging.sample import Reference
from misstep_analysis.pages.browser.wanted import NONE, Numbered
from misstep_analysis.tables.wording import counted_text
from misstep_harness.pair import PairVerdict
from misstep_harness.triage.records.attribution import TriageVerdict
from misstep_harness.verdict import STATUSES, Verdict

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
