"""The run of a judge, scored and assessed: `scores.json`, a page, and text for a terminal."""

import json
from importlib.util import find_spec
from pathlib import Path

from analysis.judging.assessment import Assessment, assessment_document
from analysis.judging.score_tables import headline, scores_table
from analysis.judging.scores import Scores, score
from analysis.report import Foot, page, table_text
from harness.records import REPORT, SCORES, replace_file
from misstep.judged_runs import JudgedRun, open_run

NO_JUDGE = "The model is a small one that proves the plumbing: it is no judge, and these figures say nothing of one."


def assessed(run: JudgedRun, *, resamples: int = 10_000, seed: int = 0) -> Assessment:
    """What the judge of a run is worth.

    Parameters
    ----------
    run
        The run, opened.
    resamples, seed
        Of the bootstraps.

    Raises
    ------
    InputError
        A line of the gold labels breaks the form.
    """
    scores = score(
        run.verdicts,
        run.gold,
        tuple(run.question.labels),
        benchmark=run.question.name,
        clusters=run.clusters,
        resamples=resamples,
        seed=seed,
    )
    return Assessment(scores)


def write_scores(run: Path, benchmark: Path, *, plumbing: bool = False) -> Assessment:
    """Assess a run and write `scores.json` and `report.html` into its folder; raises as `open_run` and `assessed`."""
    assessment = assessed(open_run(run, str(benchmark)))
    scores = assessment.scores
    replace_file(run / SCORES, scores_text_json(assessment).encode())
    table = scores_table(scores, scores.benchmark)
    notes = [NO_JUDGE] if plumbing else []
    written = page(
        f"{scores.judge} on {scores.benchmark}",
        headline(scores),
        [table],
        _figures(scores),
        notes,
        foot=Foot(f"misstep judge run … --out {run.name}", inputs=(f"{scores.benchmark}: {scores.n:,} items",)),
    )
    replace_file(run / REPORT, written.encode())
    return assessment


def scores_text_json(assessment: Assessment) -> str:
    """The assessment as one JSON document."""
    return json.dumps(assessment_document(assessment), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(assessment: Assessment, *, plumbing: bool = False) -> str:
    """The scores for a terminal."""
    told = table_text(scores_table(assessment.scores, assessment.scores.benchmark))
    return f"{told}\n{NO_JUDGE}" if plumbing else told


def _figures(scores: Scores) -> list[str]:
    if find_spec("matplotlib") is None or not scores.answered:
        return []
    from analysis.plots import confusion

    matrix = [list(row) for row in scores.confusion.matrix]
    return [confusion(matrix, list(scores.confusion.labels), "Gold labels against the judge's answers")]
