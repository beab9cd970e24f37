"""Runs of the reflexive loop shown: as text, as JSON, and as one page on which every item opens its attempts."""

import json
from collections.abc import Sequence
from typing import Any

from analysis.measures.reflexive.ablation import ablate, is_ablation
from analysis.measures.reflexive.document import ablation_document, loop_document
from analysis.measures.reflexive.tables import (
    ablation_effects_table,
    ablation_table,
    ends_table,
    items_table,
    mechanisms_table,
    runs_table,
)
from analysis.pages import table_text
from analysis.tables import Table
from studies.judged_runs import distinct_names
from studies.reflexive_runs import ReflexiveRun


def reflection_tables(runs: Sequence[ReflexiveRun]) -> list[Table]:
    """The tables of runs: of one its ends, mechanisms and items; of several an ablation, or each beside the others.

    Parameters
    ----------
    runs
        At least one.
    """
    evidence = runs[0].evidence
    scores = [run.scores for run in runs]
    if len(runs) == 1:
        return [
            ends_table(scores[0], evidence),
            mechanisms_table(scores[0], evidence),
            items_table(runs[0].work, evidence),
        ]
    named = dict(zip(distinct_names([run.folder for run in runs]), scores, strict=True))
    if not is_ablation(scores):
        return [runs_table(named, evidence)]
    found = ablate(scores)
    return [ablation_table(found, evidence), ablation_effects_table(found, evidence)]


def reflections_text(runs: Sequence[ReflexiveRun]) -> str:
    """The tables for a terminal."""
    return "\n".join(table_text(table) for table in reflection_tables(runs))


def reflections_json(runs: Sequence[ReflexiveRun]) -> str:
    """The figures of some runs as one JSON document; of one run as `misstep reflect run --json` prints it."""
    documents = [{"run": run.name, **loop_document(run.work, run.scores)} for run in runs]
    if len(runs) == 1:
        return _json(documents[0])
    scores = [run.scores for run in runs]
    ablation = {"ablation": ablation_document(ablate(scores))} if is_ablation(scores) else {}
    return _json({"runs": documents} | ablation)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
