"""`misstep annotate` as a user runs it: a sample goes out as tasks, a study is measured and exported."""

import csv
import json
from functools import partial
from pathlib import Path

import pytest

from misstep_analysis.annotation.study import AnnotationStudy
from misstep_analysis.gold import check_gold, read_gold
from misstep_harness.annotation import RaterAnswer
from tests.analysis.annotation.made_up import opened, unlabelled_run, write_cases
from tests.analysis.pages.html_rules import check_page

LABELS = {"ann": "aaaatt", "ben": "aaattt", "cho": "aattti"}
NAMES = {"a": ("agent", "timeout"), "t": ("task", "brittle_tests"), "i": ("infrastructure", "harness_bug")}


@pytest.fixture
def annotate(in_process):
    return partial(in_process, "annotate")


def _answer(study: AnnotationStudy, rater: str, item: str, label: str, finer: str) -> None:
    study.answer(RaterAnswer(item, rater, study.state.phase, label, finer, "high", note="=1+1"))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Three raters have labelled six cases blind, two of them for calibration; nothing is reconciled."""
    cases = write_cases(tmp_path / "cases", 6)
    with opened(cases, tmp_path / "study", ("ann", "ben", "cho")) as running:
        for _ in range(2):
            for rater in LABELS:
                for item in running.state.left(rater):
                    _answer(running, rater, item, *NAMES[LABELS[rater][int(item[-1])]])
    return tmp_path / "study"


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A rule's run over ten sessions that nobody has labelled."""
    return unlabelled_run(tmp_path, 10)


def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_an_export_has_labels_consensus_gold_and_history(annotate, study: Path, tmp_path: Path) -> None:
    code, out, err = annotate(study, "--out", tmp_path / "out", "--boot", 0)
    assert (code, out.startswith("Agreement of the raters on blind labels")) == (0, True)
    assert "not finished" in err
    labels, calibration = _rows(tmp_path / "out/labels.csv"), _rows(tmp_path / "out/calibration.csv")
    assert (len(labels), len(calibration)) == (12, 6)
    assert {row["note"] for row in labels} == {"'=1+1"}, "no formula in a spreadsheet"
    assert list(labels[0])[:6] == ["item", "rater", "label", "subcategory", "phase", "certainty"]
    assert {row["item"] for row in labels} & {row["item"] for row in calibration} == set()
    consensus = {row["item"]: row["label"] for row in _rows(tmp_path / "out/consensus.csv")}
    assert consensus == dict(zip((f"case-{n}" for n in range(6)), ["agent"] * 3 + ["task"] * 3, strict=True))
    assert len(_rows(tmp_path / "out/history.csv")) == 18
    check_gold(tmp_path / "out", ("task", "agent", "infrastructure", "pass"), consensus)
    assert {row.item: row.label for row in read_gold(tmp_path / "out")} == consensus


def test_agreement_reads_the_labels_and_gives_the_same_figures(annotate, study, tmp_path, in_process) -> None:
    _, out, _ = annotate(study, "--out", tmp_path / "out", "--json", "--boot", 0)
    document = json.loads(out)
    code, out, _ = in_process("agreement", tmp_path / "out/labels.csv", "--json", "--boot", 0)
    assert code == 0
    alone = json.loads(out)
    assert document["agreement"]["fleiss_kappa"]["value"] == pytest.approx(alone["fleiss_kappa"]["value"])
    assert [one["agreement"] for one in document["agreement"]["pairs"]] == [one["agreement"] for one in alone["pairs"]]
    assert document["phase"] == "reconciliation"
    assert document["left"] == {rater: len(document["consensus"]) - 3 for rater in LABELS}


def test_the_page_of_the_result_keeps_the_rules_of_pages(annotate, study: Path, tmp_path: Path) -> None:
    code, _, _ = annotate(study, "--html", tmp_path / "study.html", "--boot", 0)
    page = check_page((tmp_path / "study.html").read_text())
    assert code == 0
    assert "Fleiss' kappa is" in page.text
    assert "The study is not finished" in page.text
    assert "Cases in dispute" in page.text


def test_of_one_rater_labels_are_counted_and_no_agreement_is_shown(annotate, tmp_path: Path) -> None:
    cases = write_cases(tmp_path / "cases", 3)
    with opened(cases, tmp_path / "study", ("kim",), 0) as running:
        for item in running.state.left("kim")[1:]:
            _answer(running, "kim", item, "agent", "timeout")
    code, out, _ = annotate(tmp_path / "study", "--out", tmp_path / "out", "--html", tmp_path / "study.html")
    assert (code, "2 of 3 cases have a label" in out, "kappa" in out) == (0, True, False)
    assert "One rater labelled 2 cases." in check_page((tmp_path / "study.html").read_text()).text
    assert [(row.rater, row.label) for row in read_gold(tmp_path / "out")] == [("kim", "agent")] * 2


def test_a_sample_goes_out_as_tasks_without_gold_or_what_the_judge_said(annotate, judged: Path, tmp_path: Path) -> None:
    lines = {}
    for name, seed in (("tasks", 0), ("again", 0), ("other", 1)):
        code, out, _ = annotate(judged, "--sample", 4, "--seed", seed, "--tasks", tmp_path / f"{name}.csv")
        assert (code, f"misstep judge check {judged} --labels EXPORT --item item" in out) == (0, True)
        lines[name] = _rows(tmp_path / f"{name}.csv")
    assert lines["tasks"] == lines["again"] != lines["other"]
    assert [list(row) for row in lines["tasks"]] == [["item", "text"]] * 4
    assert len({row["item"] for row in lines["tasks"]}) == 4
    assert all("[step 0]" in row["text"] for row in lines["tasks"])
    assert "comes back three times" in (judged / "verdicts.jsonl").read_text()
    assert "comes back three times" not in (tmp_path / "tasks.csv").read_text()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (("absent", "--study", "s"), "does not exist"),
        (("cases", "--study", "s", "--raters", "ann,Ann"), "named twice"),
        (("cases", "--study", "s", "--raters", "ann,ben", "--calibration", "9"), "--calibration 9"),
        (("cases", "--study", "study", "--raters", "ann,dan"), "holds another run: raters were"),
        (("cases",), "--study is missing"),
        (("cases", "--study", "s", "--out", "labels"), "--out has no effect: cases is not a study"),
        (("study", "--raters", "ann"), "--raters has no effect: study is a study"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(annotate, study, monkeypatch, line, text) -> None:
    monkeypatch.chdir(study.parent)
    code, out, err = annotate(*line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert text in err


def test_a_port_that_is_taken_is_named(annotate, tmp_path: Path) -> None:
    import socket

    cases = write_cases(tmp_path / "cases", 4)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = annotate(cases, "--study", tmp_path / "study", "--raters", "a,b", "--port", port)
    assert (code, f"--port {port}" in err) == (2, True)
