"""Runs of the reflexive loop shown: as text, as JSON, and as one page on which every item opens its attempts."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import msgspec

from misstep_analysis.pages.page import Foot, figure_html
from misstep_analysis.passing.paired_systems import ComparedPair
from misstep_analysis.plots.rows import forest
from misstep_analysis.reflexive.ablation import ablate, compare_loops, is_ablation, loop_pairs_table
from misstep_analysis.reflexive.page import run_page, runs_page
from misstep_analysis.reflexive.runs import ReflexiveRun, remarks_of, warn_of
from misstep_analysis.reflexive.scores import loop_document
from misstep_analysis.reflexive.tables import (
    ablation_effects_table,
    ablation_table,
    ends_table,
    items_table,
    mechanisms_table,
    runs_table,
)
from misstep_analysis.tables import Table
from misstep_analysis.tables.text import table_text
from misstep_analysis.tables.wording import counted_text
from misstep_harness.journal.opened import distinct_names
from misstep_harness.reflexive.records import MECHANISMS

_COMPARED = 8
"""Nobody reads a table of the pairs of more runs."""


def reflection_tables(runs: Sequence[ReflexiveRun]) -> list[Table]:
    """The tables of runs: of one its ends, mechanisms and items; of several an ablation, or each beside the others."""
    evidence, scores = runs[0].evidence, [run.scores for run in runs]
    if len(runs) == 1:
        one = scores[0]
        return [ends_table(one, evidence), mechanisms_table(one, evidence), items_table(runs[0].work, evidence)]
    if not is_ablation(scores):
        pairs = _pairs(runs)
        table = runs_table({name: run.scores for name, run in _named(runs).items()}, pairs, evidence)
        return [table, loop_pairs_table(pairs, evidence)] if pairs and len(runs) <= _COMPARED else [table]
    ablation = ablate(scores, tuple(MECHANISMS))
    return [ablation_table(ablation, evidence), ablation_effects_table(ablation, evidence)]


def reflections_text(runs: Sequence[ReflexiveRun]) -> str:
    """Return the tables for a terminal."""
    return "\n".join(table_text(table) for table in reflection_tables(runs))


def run_text(run: ReflexiveRun) -> str:
    """Return the tables that a run ends with in a terminal: how its items ended, and each of them."""
    scores = run.scores
    return "\n".join(
        table_text(each) for each in (ends_table(scores, run.evidence), items_table(run.work, run.evidence))
    )


def reflections_json(runs: Sequence[ReflexiveRun]) -> str:
    """Return the figures of some runs as one JSON document; of one run as `misstep reflect run --json` prints it."""
    documents = [{"run": run.name, "remarks": remarks_of(run), **loop_document(run.work, run.scores)} for run in runs]
    if len(runs) == 1:
        return _json(documents[0])
    scores = [run.scores for run in runs]
    if is_ablation(scores):
        return _json({"runs": documents, "ablation": msgspec.to_builtins(ablate(scores, tuple(MECHANISMS)))})
    return _json({"runs": documents, "pairs": msgspec.to_builtins(_pairs(runs))})


def _named(runs: Sequence[ReflexiveRun]) -> dict[str, ReflexiveRun]:
    return dict(zip(distinct_names([run.folder for run in runs]), runs, strict=True))


def _pairs(runs: Sequence[ReflexiveRun]) -> tuple[ComparedPair, ...]:
    return compare_loops({name: run.work for name, run in _named(runs).items()})


def reflections_html(runs: Sequence[ReflexiveRun], again: str) -> str:
    """Some runs as one self-contained page; of one run with every item over time and what happened in each attempt."""
    tables = reflection_tables(runs)
    foot = Foot(again, inputs=tuple(map(_input, runs)), seed=runs[0].scores.seed if len(runs) == 1 else None)
    if len(runs) == 1:
        title = f"The reflexive loop on {runs[0].scores.skill}"
        return run_page(title, tables[0].finding, runs[0].work, tables, warn_of(runs), foot=foot)
    title = f"{len(runs)} runs of the reflexive loop"
    return runs_page(title, tables, warn_of(runs), figures=_figures(tables[0]), foot=foot)


def _figures(table: Table) -> tuple[str, ...]:
    if len(table.drawn) < 2 or find_spec("matplotlib") is None:
        return ()
    drawing = forest(table.drawn, "Items truly solved")
    return (figure_html(drawing, "The share of items truly solved without each mechanism, with its 95% interval."),)


def _input(run: ReflexiveRun) -> str:
    scores = run.scores
    without = f", without {', '.join(scores.without)}" if scores.without else ""
    unfinished = "" if scores.finished else ", not finished"
    return (
        f"{run.name}: {scores.skill} by {scores.agents}, seed {scores.seed}{without}, "
        f"{counted_text(len(run.work.events), 'event')}, begun {run.manifest.started}{unfinished}"
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
