"""`misstep benchmark make`: sessions and people's labels become a folder that any judge is run on."""

import json
from functools import partial
from pathlib import Path

import pytest

from misstep.analysis.gold import read_gold
from tests.misstep.as_a_user import in_this_process
from tests.misstep.made_up import atif_lines


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """`misstep benchmark make` in this process."""
    run = in_this_process("benchmark", monkeypatch, capsys)
    return lambda *line: run("make", *map(str, line))


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    return atif_lines(tmp_path / "runs.jsonl", ["one", "two", "three"])


def test_labels_of_one_person_are_gold_and_a_judge_is_scored_by_them(make, sessions, tmp_path, in_process) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("item,rater,label\none,kim,no\ntwo,kim,yes\nelsewhere,kim,no\n")
    code, out, said = make(sessions, "--labels", labels, "--out", tmp_path / "mine")
    assert (code, "2 labels" in out) == (0, True)
    assert "1 of 3 labels are of no session that was read" in said
    assert {(row.item, row.label) for row in read_gold(tmp_path / "mine")} == {("one", "no"), ("two", "yes")}
    judge = partial(in_process, "judge")
    run = ("--benchmark", str(tmp_path / "mine"), "--out", str(tmp_path / "run"), "--json")
    code, out, _ = judge("run", "infinite_loop@rule", *run)
    scores = json.loads(out)
    assert (code, scores["n"], scores["accuracy"]["n"]) == (0, 3, 2)
