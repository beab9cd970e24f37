"""`misstep benchmark make`: sessions and people's labels become a folder that any judge is run on."""

import json

import pytest

from misstep_analysis.gold import read_gold
from tests.misstep.made_up import atif_lines


def test_labels_of_one_person_are_gold_and_a_judge_is_scored_by_them(tmp_path, in_process) -> None:
    sessions, labels = atif_lines(tmp_path / "runs.jsonl", ["one", "two", "three"]), tmp_path / "labels.csv"
    labels.write_text("item,rater,label\none,kim,no\ntwo,kim,yes\nelsewhere,kim,no\n")
    line = ("make", sessions, "--labels", labels, "--out", tmp_path / "mine")
    code, out, messages = in_process("benchmark", *line)
    assert (code, "2 labels" in out) == (0, True)
    assert "1 of 3 labels are of no session that was read" in messages
    assert {(row.item, row.label) for row in read_gold(tmp_path / "mine")} == {("one", "no"), ("two", "yes")}
    run = ("--benchmark", tmp_path / "mine", "--out", tmp_path / "run", "--json")
    code, out, _ = in_process("judge", "run", "infinite_loop@rule", *run)
    scores = json.loads(out)
    assert (code, scores["n"], scores["accuracy"]["n"]) == (0, 3, 2)


@pytest.mark.parametrize(
    ("line", "text"),
    [(("a", "b", "--kind", "pair"), "2 tables of pairs"), (("a",), "sessions without labels")],
)
def test_a_benchmark_that_cannot_be_made_is_refused_before_anything_is_read(line, text, tmp_path, in_process) -> None:
    code, _, error = in_process("benchmark", "make", *line, "--out", tmp_path / "mine")
    assert (code, text in error) == (2, True)
    assert not (tmp_path / "mine").exists()


def test_a_table_of_labelled_texts_is_a_benchmark_that_shows_no_label(tmp_path, in_process) -> None:
    table, folder = tmp_path / "reviews.csv", tmp_path / "texts"
    table.write_text("id,output,reviewer,llm_judge\n1,All tests pass.,yes,no\n2,It failed.,no,no\n")
    code, out, _ = in_process("benchmark", "make", table, "--out", folder, "--label", "reviewer")
    assert (code, out.startswith("2 texts, 2 labels; go on with: misstep judge run JUDGE --benchmark ")) == (0, True)
    items = (folder / "items.jsonl").read_text()
    assert ("All tests pass." in items, "yes" in items, "no" in items) == (True, False, False)
    assert {(row.item, row.rater, row.label) for row in read_gold(folder)} == {
        ("1", "reviewer", "yes"),
        ("2", "reviewer", "no"),
    }
