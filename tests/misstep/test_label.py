"""`misstep label` with an annotation tool: the drawn items go out as tasks, and their labels score the same run."""

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from misstep.analysis.gold import read_gold
from misstep.harness.clients import ClientSettings
from misstep.harness.runs.judging.judge import run_judge
from misstep.harness.runs.judging.recovery_rule import RuleJudge
from misstep.harness.runs.judging.session_benchmark import asked_about
from tests.misstep.made_up import atif_lines


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A rule's run over ten sessions that nobody has labelled."""
    judge, out = RuleJudge("infinite_loop"), tmp_path / "run"
    file = atif_lines(tmp_path / "runs.jsonl", [f"s{number}" for number in range(10)])
    run_judge(judge, asked_about(judge, [file], "", out), out, ClientSettings())
    return out


@pytest.fixture
def label(in_process):
    return partial(in_process, "label")


def _drawn(label, run: Path, file: Path, *line: object) -> list[dict[str, str]]:
    code, out, _ = label(run, "--tasks", file, *line)
    assert (code, f"{file}: " in out) == (0, True)
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _annotation(number: int, who: str, *labels: str) -> dict[str, object]:
    result = {"type": "choices", "from_name": "loop", "to_name": "text", "value": {"choices": list(labels)}}
    return {"id": number, "completed_by": {"id": 1, "email": who}, "was_cancelled": False, "result": [result]}


def _label_studio(rows: list[dict[str, str]]) -> str:
    """Tasks as Label Studio exports them when their CSV was imported: what stood in a row is `data`."""
    return json.dumps(
        [
            {"id": 700 + place, "data": row, "annotations": [_annotation(place, "kim@example.org", "no")]}
            for place, row in enumerate(rows)
        ]
    )


def _plain(rows: list[dict[str, str]]) -> str:
    return _csv([{"item": row["item"], "rater": "kim", "label": "no"} for row in rows])


def _csv(rows: list[dict[str, str]]) -> str:
    return "".join(
        ",".join(json.dumps(cell).replace('\\"', '""') for cell in line) + "\n"
        for line in (rows[0], *map(dict.values, rows))
    )


def test_the_tasks_are_the_drawn_items_with_their_sessions_and_without_the_judges_label(label, run, tmp_path) -> None:
    rows = _drawn(label, run, tmp_path / "tasks.csv", "--n", 4)
    assert len({row["item"] for row in rows}) == 4
    assert list(rows[0]) == ["item", "text"]
    assert all("[step 0]" in row["text"] and "\n" in row["text"] for row in rows)
    assert "comes back three times" in (run / "verdicts.jsonl").read_text()
    assert "comes back three times" not in (tmp_path / "tasks.csv").read_text()


@pytest.mark.parametrize("export", [_label_studio, _plain])
def test_labels_of_a_tool_score_the_run_as_those_given_on_the_page(label, run: Path, tmp_path: Path, export) -> None:
    rows = _drawn(label, run, tmp_path / "tasks.csv", "--n", 4)
    labels = tmp_path / "export"
    labels.write_text(export(rows))
    code, out, said = label(run, "--n", 4, "--labels", labels, "--item", "item")
    assert (code, {row.item for row in read_gold(run / "benchmark")}) == (0, {row["item"] for row in rows}), said
    assert "4 items" in out
    scores = json.loads((run / "scores.json").read_text())
    assert scores["accuracy"]["n"] == 4


def test_labels_outside_the_drawn_sample_are_left_out_and_said(label, run: Path, tmp_path: Path) -> None:
    rows = _drawn(label, run, tmp_path / "all.csv", "--n", 10)
    labels = tmp_path / "labels.csv"
    labels.write_text(_plain(rows))
    code, _, said = label(run, "--n", 4, "--labels", labels)
    assert (code, len(list(read_gold(run / "benchmark")))) == (0, 4)
    assert "6 of 10 labels are of no item of the sample" in said
    code, _, said = label(run, "--labels", labels)
    assert (code, len(list(read_gold(run / "benchmark")))) == (0, 10)
    assert "takes these items for a random sample" in said


def test_labels_of_other_items_are_refused_with_how_items_are_called(label, run: Path, tmp_path: Path) -> None:
    labels = tmp_path / "export.json"
    labels.write_text(_label_studio([{"item": "elsewhere"}]))
    code, _, said = label(run, "--labels", labels)
    assert code == 2
    assert "--item" in said
    assert list(read_gold(run / "benchmark")) == []
