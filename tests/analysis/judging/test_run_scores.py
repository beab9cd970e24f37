"""`scores.json`: the scores as scripts rely on them, and what else is found of a judge under names of its own."""

import json
from pathlib import Path

import msgspec
import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.report import assessed, scores_text
from misstep_analysis.judging.scored import write_scores
from misstep_harness.journal.records import read_manifest, write_manifest
from tests.misstep.made_up_runs import agents_run, benchmark_of_runs, judged_run, verdict

RATERS = ("ann", "bob", "cid")


@pytest.fixture
def benchmark(tmp_path: Path) -> Path:
    return benchmark_of_runs(tmp_path / "gates", 40, lambda number: agents_run(number, steps=2 + number % 9), RATERS)


def always_yes(tmp_path: Path, benchmark: Path) -> Path:
    verdicts = [verdict(number, "yes", score=1.0, seconds=2.0) for number in range(40)]
    return judged_run(tmp_path / "run", benchmark, verdicts)


def test_the_further_results_stand_beside_the_scores(tmp_path: Path, benchmark: Path) -> None:
    run = always_yes(tmp_path, benchmark)
    write_scores(open_run(run, str(benchmark)))
    document = json.loads((run / "scores.json").read_text())
    assert document["accuracy"]["value"] == 0.5
    assert document["bias"]["flows"][0]["p_adjusted"] < 0.001
    assert document["ceiling"]["people"]["value"] == pytest.approx(1 - 2 / 3 / 40)
    assert document["alternative_annotator"]["replaces"] is False
    assert [field["field"] for field in document["slices"]] == ["length"]
    assert document["slices"][0]["slices"][0]["value"] == "2 to 4 steps"
    assert document["prevalence"]["judge"]["value"] == 1.0
    assert document["cost"]["now"]["seconds"]["median"] == 2.0
    assert document["reliability"]["overconfidence"]["value"] == 0.5


def test_the_terminal_shows_the_scores_and_what_says_most_beside_them(tmp_path: Path, benchmark: Path) -> None:
    text = scores_text(assessed(open_run(always_yes(tmp_path, benchmark)), resamples=50))
    assert "Accuracy of the answered" in text
    assert "Errors flow most clearly from “no” to “yes”: 20 one way and 0 the other" in text
    assert "does not pass the alternative annotator test at epsilon 0.2" in text


def test_votes_are_those_that_the_run_was_asked_with(tmp_path: Path, benchmark: Path) -> None:
    run = judged_run(tmp_path / "run", benchmark, [verdict(0, score=0.8), verdict(1, score=1.0)])
    manifest = read_manifest(run)
    write_manifest(run, msgspec.structs.replace(manifest, settings=manifest.settings | {"votes": 5}))
    votes = assessed(open_run(run), resamples=20).votes
    assert (votes.votes, votes.unanimous.value) == (5, 0.5)
