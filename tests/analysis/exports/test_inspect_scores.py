"""An export for Inspect: a file of scores a judge, which `precomputed_scores` reads; without a label no record."""

import json
from pathlib import Path

import pytest

from misstep_analysis.exports.inspect_scores import _sample
from misstep_analysis.exports.writing import export_run
from misstep_analysis.runs.kind import Choice
from misstep_harness.errors import UsageError


def _records(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_verdict_is_a_score_and_one_without_a_label_is_none(runs: dict[str, Path], tmp_path: Path) -> None:
    assert export_run(runs["judged"], "inspect", tmp_path / "out", Choice()) == {"made_up": 5}
    records = _records(tmp_path / "out" / "made_up.jsonl")
    assert [one["value"] for one in records] == [True, False, True, False, True]
    assert [one["answer"] for one in records] == ["yes", "no", "yes", "no", "yes"]
    assert records[0]["metadata"] == {"status": "answered", "score": 0.75, "steps": [1, 3], "model": "m-1"}
    assert all(set(one) == {"id", "value", "answer", "explanation", "metadata"} for one in records)


def test_other_labels_than_yes_and_no_stay_labels(runs: dict[str, Path], tmp_path: Path) -> None:
    export_run(runs["triaged"], "inspect", tmp_path / "out", Choice())
    (file,) = (tmp_path / "out").glob("*.jsonl")
    assert {one["value"] for one in _records(file)} == {"agent", "task", "pass"}


def test_each_category_of_a_classified_run_has_a_file(runs: dict[str, Path], tmp_path: Path) -> None:
    export_run(runs["classified"], "inspect", tmp_path / "out", Choice())
    assert {file.name for file in (tmp_path / "out").glob("*.jsonl")} == {"first.jsonl", "second.jsonl"}


@pytest.mark.parametrize(
    ("item", "sample"),
    [
        ("a1", {"id": "a1", "epoch": 1}),
        ("a1-e2", {"id": "a1", "epoch": 2}),
        ("b-e2", {"id": "b-e2"}),
        ("c", {"id": "c"}),
    ],
)
def test_an_id_of_a_later_epoch_is_the_samples_where_the_first_is_there(item: str, sample: dict[str, object]) -> None:
    assert _sample(item, {"a1", "a1-e2", "b-e2", "c"}) == sample


def test_gold_labels_and_runs_without_verdicts_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no place for gold labels"):
        export_run(runs["judged"], "inspect", tmp_path / "out", Choice(gold=True))
    with pytest.raises(UsageError, match="has no verdicts"):
        export_run(runs["repaired"], "inspect", tmp_path / "out", Choice())


def test_inspect_itself_reads_the_scores(runs: dict[str, Path], tmp_path: Path) -> None:
    precomputed = pytest.importorskip("inspect_ai.scorer._precomputed")
    export_run(runs["judged"], "inspect", tmp_path / "out", Choice())
    scores = precomputed._read_scores_file(str(tmp_path / "out" / "made_up.jsonl"))
    assert [score.value for score in scores.values()] == [True, False, True, False, True]
