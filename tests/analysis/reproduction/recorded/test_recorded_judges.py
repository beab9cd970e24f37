"""Recorded judges against people: the figures that the sets' own papers print."""

import os
from pathlib import Path

import pytest

from misstep_analysis.judging.judged import MarkedScores, marked_scores, scored_items
from misstep_analysis.reproduction.recorded import recorded_judges as studies_judges


@pytest.fixture(params=[pytest.param("measured", marks=pytest.mark.data), "recorded"])
def labels(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels as measured on the sets, and as they come with Misstep."""
    measured = request.param == "measured"
    monkeypatch.setenv("MISSTEP_DATA", os.fspath(request.getfixturevalue("data_folder") if measured else tmp_path))


PRINTED = {
    "agent judge on MetaGPT": ("92.08", "0.7751", ((69, 12), (17, 268)), "77.87"),
    "agent judge on GPT-Pilot": ("86.61", "0.7301", ((142, 21), (28, 175)), "55.46"),
    "agent judge on OpenHands": ("90.16", "0.7995", ((140, 17), (19, 190)), "57.10"),
}


@pytest.mark.usefixtures("labels")
def test_the_agent_judge_agrees_with_people_as_far_as_published() -> None:
    results = {}
    for judged in studies_judges.judged_by_developer():
        scores = scored_items(judged, resamples=100).scores
        results[judged.title] = (
            f"{100 * (scores.accuracy.value or 0):.2f}",
            f"{scores.cohen_kappa.value:.4f}",
            scores.confusion.matrix,
            f"{100 * (scores.majority_share.value or 0):.2f}",
        )
        assert scores.n == scores.answered == 366
        assert "55 clusters" in scores.cohen_kappa.method
    assert results == PRINTED


def _as_printed(scores: MarkedScores) -> list[str]:
    """The authors count a run without people's marks as a share of 0, where ours leaves it out."""
    marked = 1 - scores.unmarked / scores.n
    figures = (scores.weighted_f1.value, *(marked * (one.value or 0.0) for one in (scores.location, scores.joint)))
    return [f"{figure:.4f}" for figure in figures]


@pytest.mark.usefixtures("labels")
def test_trails_judges_score_as_its_authors_print() -> None:
    results = {}
    for judged in studies_judges.marked_runs():
        scores = marked_scores(judged.people, judged.judge, resamples=50)
        results[judged.title] = (scores.n, scores.answered, *_as_printed(scores))
    assert results == {
        "gemini-2.5-flash on gaia": (117, 109, "0.3951", "0.3656", "0.1358"),
        "gemini-2.5-flash on swe_bench": (14, 9, "0.1929", "0.0179", "0.0000"),
        "o4-mini on gaia": (117, 57, "0.2016", "0.0997", "0.0222"),
    }


@pytest.mark.usefixtures("labels")
def test_trails_judge_over_answered_traces_alone_scores_as_its_fork_prints() -> None:
    (judged,) = [one for one in studies_judges.marked_runs() if one.title == "gemini-2.5-flash on gaia"]
    answered = {trace: marks for trace, marks in judged.judge.items() if marks is not None}
    assert _as_printed(marked_scores(judged.people, answered, resamples=50)) == ["0.4163", "0.3925", "0.1457"]


@pytest.mark.usefixtures("labels")
def test_a_trace_that_a_judge_did_not_answer_is_unanswered_for_every_category() -> None:
    scores = {one.title: scored_items(one, resamples=50).scores for one in studies_judges.judged_by_category()}
    o4_mini = scores["o4-mini on gaia"]
    assert (o4_mini.n, o4_mini.answered, o4_mini.failed, o4_mini.unreadable) == (117 * 19, 57 * 19, 59 * 19, 19)


@pytest.mark.usefixtures("labels")
def test_the_agent_judge_comes_whole_with_its_items() -> None:
    ((judged, items),) = studies_judges.agent_judge()
    assert {verdict.item for verdict in judged.verdicts} == {item.id for item in items}
    assert len(items) == 3 * 366
