"""What the judge of a run is worth: its scores by every measure, as text and as JSON."""

import json
from functools import cache
from pathlib import Path
from textwrap import fill

from misstep_analysis.judging.assessment import (
    Assessment,
    assess,
    assessment_document,
    assessment_tables,
    main_findings,
)
from misstep_analysis.judging.judged_runs import JudgedRun, votes_of
from misstep_analysis.judging.slices import Lengths
from misstep_analysis.pages import table_text
from misstep_harness.benchmarks.trajectories import run_in, steps_by_run
from misstep_harness.exchange import LOCAL_MODEL
from misstep_harness.items import Item, read_items

_WIDTH = 110
NO_JUDGE = "This small model only tests the set-up: it is not a judge, and its figures say nothing about one."


def assessed(run: JudgedRun, *, resamples: int = 10_000, seed: int = 0) -> Assessment:
    """Return what the judge of a run is worth."""
    return assess(
        run.verdicts,
        run.gold,
        tuple(run.question.labels),
        judge=run.judge,
        benchmark=run.question.name,
        clusters=run.clusters,
        items=run.items,
        lengths=item_lengths(run.benchmark),
        positive=run.question.positive,
        level=run.question.level,
        votes=votes_of(run),
        evidence=run.question.evidence,
        resamples=resamples,
        seed=seed,
    )


def is_plumbing(run: JudgedRun) -> bool:
    """Return whether a run asked the small model of `--local`, which is not a judge."""
    return run.manifest.settings.get("model") == LOCAL_MODEL


def scores_text_json(assessment: Assessment) -> str:
    """Return the assessment as one JSON document."""
    return json.dumps(assessment_document(assessment), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(assessment: Assessment) -> str:
    """Return the scores for a terminal, with what else says most of the judge."""
    source = assessment.scores.benchmark
    further = "".join(f"{fill(sentence, _WIDTH)}\n" for sentence in main_findings(assessment, source))
    return table_text(assessment_tables(assessment, source)[0]) + (f"\n{further}" if further else "")


def item_lengths(folder: Path) -> Lengths:
    """The lengths of a benchmark's items: in steps where any item is about a run, else in characters of its text."""
    inside = folder.resolve()
    steps_of = cache(lambda path: steps_by_run(inside, path))
    steps: dict[str, int] = {}
    characters: dict[str, int] = {}
    for item in read_items(folder):
        if isinstance(item.trajectory, dict):
            if (run := run_in(item).run) is not None:
                steps[item.id] = len(run.steps)
        elif item.trajectory is not None:
            if (length := _of_run(item, steps_of(item.trajectory))) is not None:
                steps[item.id] = length
        elif shown := item.text or item.patch or item.output_a + item.output_b or item.task:
            characters[item.id] = len(shown)
    return Lengths("steps", steps) if steps else Lengths("characters", characters)


def _of_run(item: Item, steps: dict[str, int]) -> int | None:
    if item.trajectory_id is None and len(steps) == 1:
        return next(iter(steps.values()))
    return steps.get(item.id if item.trajectory_id is None else item.trajectory_id)
