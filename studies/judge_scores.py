"""The run of a judge, scored and assessed: `scores.json`, a page, and text for a terminal."""

import json
from pathlib import Path
from textwrap import fill

from analysis.measures.judging.assessment import Assessment, assess, assessment_document, most_telling
from analysis.measures.judging.score_tables import scores_table
from analysis.pages import table_text
from harness.journal.records import REPORT, SCORES, replace_file
from misstep.judge.calibrate import votes_of
from studies.item_lengths import item_lengths
from studies.judged_runs import JudgedRun, open_run

_WIDTH = 110
"""Signs a line, as tables have them."""

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
        resamples=resamples,
        seed=seed,
    )


def write_scores(run: Path, benchmark: Path) -> Assessment:
    """Assess a run and write `scores.json` and `report.html` into its folder; raises as `open_run` and `assessed`."""
    from studies.judge_report import report_html

    opened = open_run(run, str(benchmark))
    assessment = assessed(opened)
    replace_file(run / SCORES, scores_text_json(assessment).encode())
    replace_file(run / REPORT, report_html([opened], [assessment]).encode())
    return assessment


def scores_text_json(assessment: Assessment) -> str:
    """The assessment as one JSON document."""
    return json.dumps(assessment_document(assessment), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(assessment: Assessment) -> str:
    """The scores for a terminal, with what else says most of the judge."""
    source = assessment.scores.benchmark
    further = "".join(f"{fill(sentence, _WIDTH)}\n" for sentence in most_telling(assessment, source))
    return table_text(scores_table(assessment.scores, source)) + (f"\n{further}" if further else "")
