"""`misstep judge check RUN --labels`: a judge's run is scored by labels of a study or of a tool."""

import json
from functools import partial
from pathlib import Path

import pytest

from misstep_analysis.gold import read_gold
from misstep_harness.annotation import RaterAnswer
from tests.analysis.annotation.made_up import opened, unlabelled_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A rule's run over ten sessions that nobody has labelled."""
    return unlabelled_run(tmp_path, 10)


@pytest.fixture
def check(in_process):
    return partial(in_process, "judge", "check")


def _label_studio(items: list[str]) -> str:
    """Tasks as Label Studio exports them when a CSV was imported: what stood in a row is `data`."""
    result = {"type": "choices", "from_name": "loop", "to_name": "text", "value": {"choices": ["no"]}}
    who = {"id": 1, "email": "kim@example.org"}
    annotation = {"id": 1, "completed_by": who, "was_cancelled": False, "result": [result]}
    return json.dumps([{"id": n, "data": {"item": item}, "annotations": [annotation]} for n, item in enumerate(items)])


def _plain(items: list[str]) -> str:
    return "\n".join(["item,rater,label", *(f"{item},kim,no" for item in items)])


def _gold(run: Path) -> list[tuple[str, str, str]]:
    return [(row.item, row.rater, row.label) for row in read_gold(run / "benchmark")]


def test_labels_of_a_study_join_those_of_others_and_score_the_run(check, run: Path, tmp_path: Path) -> None:
    (run / "benchmark/gold.csv").write_text("item,rater,label\ns0,ann,no\n")
    with opened(run, tmp_path / "study", ("kim",), 0) as study:
        first, second = study.state.left("kim")[:2]
        for item, label in ((first, "no"), (second, "yes")):
            study.answer(RaterAnswer(item, "kim", "independent", label, certainty="high"))
    code, out, _ = check(run, "--labels", tmp_path / "study", "--json")
    assert (code, _gold(run)) == (0, [("s0", "ann", "no"), (first, "kim", "no"), (second, "kim", "yes")])
    assert out == (run / "scores.json").read_text()
    assert json.loads(out)["accuracy"]["n"] == len({"s0", first, second})


def test_a_word_that_is_no_label_of_the_run_is_named_and_may_be_taken_for_a_missing_one(check, run, tmp_path) -> None:
    labels = tmp_path / "export.csv"
    labels.write_text("item,rater,label\ns1,kim,NO \ns2,kim,maybe\n")
    code, _, said = check(run, "--labels", labels)
    assert (code, "--missing maybe" in said) == (2, True)
    assert check(run, "--labels", labels, "--missing", "maybe")[0] == 0
    assert _gold(run) == [("s1", "kim", "no")]


@pytest.mark.parametrize("export", [_label_studio, _plain])
def test_labels_of_a_tool_score_the_run_and_those_of_other_items_are_left_out(check, run, tmp_path, export) -> None:
    labels = tmp_path / "export"
    labels.write_text(export(["s1", "s2", "elsewhere"]))
    code, out, said = check(run, "--labels", labels, "--item", "item")
    assert (code, {item for item, _, _ in _gold(run)}) == (0, {"s1", "s2"}), said
    assert "2 items" in out
    assert "1 of 3 labels are of no item" in said
    assert "takes these items for a random sample" in said


@pytest.mark.parametrize("options", [(), ("--label", "human_label"), ("--item", "id", "--label", "human_label")])
def test_a_column_of_labels_beside_others_needs_no_column_of_raters(check, run, tmp_path: Path, options) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id;human_label;comment;seconds\ns1;no;it stops;12\ns2;yes;;7\n")
    code, _, said = check(run, "--labels", labels, *options)
    assert (code, _gold(run)) == (0, [("s1", "human_label", "no"), ("s2", "human_label", "yes")]), said
    assert ("labels are read from 'human_label'; not taken for labels: 'comment' (its name)" in said) is (not options)


def test_columns_that_share_no_label_are_asked_about_by_the_option_that_there_is(
    check, run: Path, tmp_path: Path
) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("".join(["id,left,right\n", *(f"s{n},l{n},r{n}\n" for n in range(8))]))
    code, _, said = check(run, "--labels", labels)
    assert (code, "Name the column of the labels with --label." in said, _gold(run)) == (2, True, [])


def test_labels_of_other_items_are_refused_with_how_items_are_called(check, run: Path, tmp_path: Path) -> None:
    labels = tmp_path / "export.json"
    labels.write_text(_label_studio(["elsewhere"]))
    code, _, said = check(run, "--labels", labels)
    assert (code, "--item" in said, _gold(run)) == (2, True, [])


def test_a_limit_on_a_figure_of_the_run_decides_the_exit_code(check, run: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(_plain(["s1", "s2"]))
    assert check(run, "--labels", labels, "--fail-under", "accuracy.lower=0.9")[0] == 1
    assert check(run, "--labels", labels, "--fail-under", "accuracy=0")[0] == 0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (("run",), "with --labels"),
        (("run", "--labels", "."), "not a folder of an annotation study"),
        (("run", "--labels", "table.csv", "--by", "part"), "--by has no effect: run is not a table"),
        (("table.csv", "--labels", "study"), "--labels has no effect: table.csv is a table"),
    ],
)
def test_what_does_not_fit_a_run_or_a_table_is_refused(check, run: Path, monkeypatch, line, text) -> None:
    monkeypatch.chdir(run.parent)
    Path("table.csv").write_text(_plain(["s1"]))
    code, out, said = check(*line)
    assert (code, out, text in said) == (2, "", True), said
