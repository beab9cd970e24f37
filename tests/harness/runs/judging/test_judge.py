"""A judge's run: every item accounted for, nothing asked twice that was answered, scores as if undisturbed."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.report import assessed
from misstep_analysis.judging.scores import Scores
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import MissingPrerequisite
from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.journal.records import read_verdicts
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.judging.judge import run_judge
from tests.misstep.made_up_judges import benchmark

asked: Counter[str] = Counter()
mood: dict[str, int] = {"fails_after": 10**9}


def answer(request: Request) -> Outcome | str:
    """A model: fruit if there is an apple; it fails after so many requests."""
    text = request.messages[-1].content
    asked[text] += 1
    if sum(asked.values()) > mood["fails_after"]:
        return Failure("connection", "the connection was reset")
    if "mumble" in text:
        return "the answer is fruit"
    return json.dumps({"reasoning": "r", "label": "fruit" if "apple" in text else "vegetable"})


def scored(run: Path, folder: Path) -> Scores:
    return assessed(open_run(run, str(folder))).scores


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    asked.clear()
    monkeypatch.setitem(mood, "fails_after", 10**9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return benchmark(tmp_path / "plants", ["apple", "carrot", "apple mumble", "leek", "apple pie", "bean"])


SCRIPTED = ClientSettings(
    client="scripted", script="tests.harness.runs.judging.test_judge:answer", attempts=1, failures_to_stop=100
)


def test_every_item_has_a_verdict_and_the_scores_count_the_unanswered_both_ways(tmp_path, folder, spec) -> None:
    ended = run_judge(prompted_judge(spec), folder, tmp_path / "run", SCRIPTED)
    assert (ended.done, ended.failed, ended.stopped) == (6, 0, "")
    scores = scored(tmp_path / "run", folder)
    assert (scores.n, scores.answered, scores.unreadable) == (6, 5, 1)
    assert scores.accuracy.value == 1.0
    assert scores.accuracy_all.value == 5 / 6


def test_a_server_that_is_gone_stops_the_run_and_keeps_what_was_answered(tmp_path, folder, spec, monkeypatch) -> None:
    monkeypatch.setitem(mood, "fails_after", 3)
    settings = msgspec.structs.replace(SCRIPTED, failures_to_stop=2)
    with pytest.raises(MissingPrerequisite):
        run_judge(prompted_judge(spec), folder, tmp_path / "run", settings, concurrency=1)
    kept = {verdict.item: verdict.status for verdict in read_verdicts(tmp_path / "run", unfinished=True)}
    assert list(kept.values()).count("failed") <= 3
    assert sum(status != "failed" for status in kept.values()) == 3
