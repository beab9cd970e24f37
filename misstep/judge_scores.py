"""The run of a judge, scored: `scores.json`, a page, and text for a terminal."""

import json
from importlib.util import find_spec
from pathlib import Path

from analysis.gold import read_gold, read_items
from analysis.judging.reference import clusters_of
from analysis.judging.score_tables import headline, scores_table
from analysis.judging.scores import Scores, score, scores_document
from analysis.report import Foot, page, table_text
from harness.items import read_question
from harness.records import REPORT, SCORES, read_verdicts, replace_file

NO_JUDGE = "The model is a small one that proves the plumbing: it is no judge, and these figures say nothing of one."


def scored(run: Path, benchmark: Path) -> Scores:
    """The scores of a run's verdicts against the gold labels of its benchmark.

    Raises
    ------
    InputError
        There are no gold labels or no verdicts, or a line of either breaks the form.
    """
    question = read_question(benchmark)
    return score(
        read_verdicts(run, unfinished=True),
        read_gold(benchmark),
        tuple(question.labels),
        benchmark=question.name,
        clusters=clusters_of(read_items(benchmark)),
    )


def write_scores(run: Path, benchmark: Path, *, plumbing: bool = False) -> Scores:
    """Score a run and write `scores.json` and `report.html` into its folder; raises as `scored`."""
    scores = scored(run, benchmark)
    replace_file(run / SCORES, scores_text_json(scores).encode())
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
    return scores


def scores_text_json(scores: Scores) -> str:
    """The scores as one JSON document."""
    return json.dumps(scores_document(scores), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def scores_text(scores: Scores, *, plumbing: bool = False) -> str:
    """The scores for a terminal."""
    told = table_text(scores_table(scores, scores.benchmark))
    return f"{told}\n{NO_JUDGE}" if plumbing else told


def _figures(scores: Scores) -> list[str]:
    if find_spec("matplotlib") is None or not scores.answered:
        return []
    from analysis.plots import confusion

    matrix = [list(row) for row in scores.confusion.matrix]
    return [confusion(matrix, list(scores.confusion.labels), "Gold labels against the judge's answers")]
