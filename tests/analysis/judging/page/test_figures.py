"""The figures of a report on judges: those that want comparing stand side by side."""

import re

from misstep_analysis.gold import GoldLabel
from misstep_analysis.judging.assessment import Assessment, assess
from misstep_analysis.judging.page import judge_figures
from misstep_harness.verdict import Verdict

GOLD = [GoldLabel(f"i{n}", "ann", "yes" if n % 2 else "no") for n in range(40)]


def assessed(*, scores: bool = False) -> Assessment:
    """A judge that always says yes, with scores or without."""
    verdicts = [Verdict(row.item, "strict", "yes", score=n / 40 if scores else None) for n, row in enumerate(GOLD)]
    return assess(verdicts, GOLD, resamples=50)


def titles(figures: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    return [[re.search(r"<title[^>]*>(.*?)</title>", one)[1] for one in beside] for beside in figures]


def test_what_a_run_says_stands_beside_how_far_its_scores_can_be_trusted():
    assert titles(judge_figures({"a": assessed(scores=True), "b": assessed()})) == [
        ["Accuracy of each run, unanswered counted as wrong"],
        ["Gold labels against the answers of a", "Share right by score of a"],
        ["Gold labels against the answers of b"],
    ]


def test_the_matrices_of_runs_without_scores_stand_beside_each_other():
    assert titles(judge_figures({"a": assessed(), "b": assessed()})) == [
        ["Accuracy of each run, unanswered counted as wrong"],
        ["Gold labels against the answers of a", "Gold labels against the answers of b"],
    ]


def test_a_run_by_itself_is_compared_with_none():
    assert titles(judge_figures({"a": assessed()})) == [["Gold labels against the answers"]]
