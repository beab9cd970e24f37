"""The run of a judge, scored and assessed: `scores.json`, a page, and text for a terminal."""

import json
from pathlib import Path
from textwrap import fill

from misstep.analysis.measures.judging.assessment import (
    Assessment,
    assessment_document,
    assessment_tables,
    main_findings,
)
from misstep.analysis.pages import table_text
from misstep.harness.journal.records import REPORT, SCORES, replace_file
from misstep.studies.judged_runs import open_run
from misstep.studies.judging.assessment import assessed
from misstep.studies.judging.report import report_html

_WIDTH = 110
"""Line width of the printed text, in characters."""


def write_scores(run: Path, benchmark: Path) -> Assessment:
    """Assess a run and write `scores.json` and `report.html` into its folder."""
    opened = open_run(run, str(benchmark))
    assessment = assessed(opened)
    replace_file(run / SCORES, scores_text_json(assessment).encode())
    replace_file(run / REPORT, report_html([opened], [assessment]).encode())
    return assessment


def scores_text_json(assessment: Assessment) -> str:
    """Return the assessment as one JSON document."""
    return json.dumps(assessment_document(assessment), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(assessment: Assessment) -> str:
    """Return the scores for a terminal, with what else says most of the judge."""
    source = assessment.scores.benchmark
    further = "".join(f"{fill(sentence, _WIDTH)}\n" for sentence in main_findings(assessment, source))
    return table_text(assessment_tables(assessment, source)[0]) + (f"\n{further}" if further else "")
