"""The report of judges of triage: whose fault first, then subcategories and direction, and each case's evidence."""

import re
from html import unescape
from pathlib import Path

import pytest

from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.page import JudgedBy, item_index
from misstep_analysis.judging.report import report_html
from misstep_analysis.judging.sample import majority
from misstep_analysis.triage.judged import judged_cases, triage_comparison
from misstep_harness.verdict import Verdict
from tests.misstep.made_up_runs import GOLD, triage_benchmark, triage_run

ALL = list(GOLD) * 2
ANSWER = "10 runs: 4 the agent's fault"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return triage_benchmark(tmp_path / "cases")


def test_the_page_answers_whose_fault_before_anything_else(tmp_path: Path, cases: Path) -> None:
    page = unescape(report_html([open_run(triage_run(tmp_path / "run", cases, ALL))]))
    assert ANSWER in page.split("</p>")[0] + page.split("</p>")[1]
    for title in ("Whose fault the runs are", "Subcategories", "Which way errors go"):
        assert title in page


def test_the_figures_on_constructed_labels_are_called_generated_and_are_over_families(tmp_path, cases) -> None:
    opened = open_run(triage_run(tmp_path / "run", cases, ALL))
    assert set(opened.clusters.values()) == {"family family-0", "family family-1"}
    tables = triage_comparison({"a": opened}, 0)
    assert {row.evidence for table in tables for row in table.rows} == {"generated"}


def test_without_gold_a_row_is_a_trial_whose_fault_why_and_what_to_do_and_comes_before_any_share(tmp_path) -> None:
    unlabelled = triage_benchmark(tmp_path / "cases", labelled=False)
    page = unescape(report_html([open_run(triage_run(tmp_path / "run", unlabelled, ALL))]))
    assert ANSWER in page
    assert re.findall(r'<th scope="col">([^<]+)</th>', page)[:4] == ["trial", "whose fault", "why", "what to do"]
    assert page.index(">what to do</th>") < page.index("Whose fault the runs are")
    row = r'<th scope="row"><bdi>(case-\d)</bdi></th><td><bdi>(\w+)</bdi></td>.*?<td>([\w ]+)</td></tr>'
    rows = re.findall(row, page)
    assert rows[0] == ("case-0", "agent", "keep")
    assert {step for _, _, step in rows} == {"keep", "run again", "repair the task"}
    for absent in ("Which way errors go", "gold label</th>", "No answer is wrong"):
        assert absent not in page


def test_several_runs_are_compared_as_table_3_does(tmp_path: Path, cases: Path) -> None:
    runs = [
        triage_run(tmp_path / "good", cases, ALL, "triage@good"),
        triage_run(tmp_path / "poor", cases, ["task", "task", "", "agent", "pass"] * 2, "triage@poor"),
    ]
    page = report_html([open_run(run) for run in runs])
    assert re.search(r"triage@good finds (\d+) of \1 defects of tasks, with kappa 1\.000", page)
    assert "triage@good is ahead, but its lead over triage@poor may be chance." in page
    assert "judges beside each other on cases" in page


def test_a_verdict_brings_its_evidence_and_its_subcategory_to_the_browser(tmp_path: Path, cases: Path) -> None:
    run = open_run(triage_run(tmp_path / "run", cases, ALL))
    verdicts = judged_cases({"a": run}).runs["a"]
    judged = JudgedBy("a", {one.item: one for one in verdicts})
    index = item_index(["case-0"], (), majority(run.gold), [judged], excerpts={}, piece_of={}, run_of={}, absent={})
    (column,) = index["runs"]
    assert column["subcategory"] == ["timeout"]
    assert [(kind, where) for kind, where, _ in column["evidence"][0]] == [
        ("log", "logs/tests.log:3"),
        ("command", "python -m unittest"),
    ]


def test_what_evidence_quotes_is_text_in_the_page(tmp_path: Path, cases: Path) -> None:
    page = report_html([open_run(triage_run(tmp_path / "run", cases, ["task"] * 10))])
    assert "<img src=x" not in page
    assert "logs/tests.log:3" in page


def test_verdicts_of_other_kinds_have_no_evidence(tmp_path: Path, cases: Path) -> None:
    (cases / "benchmark.toml").write_text('name = "cases"\nkind = "triage"\nlabels = ["yes", "no"]\n')
    (cases / "gold.csv").write_text("item,rater,label\ncase-0,ann,yes\n")
    run = open_run(triage_run(tmp_path / "run", cases, ["yes"] * 10))
    assert not run.is_triage
    assert {type(one) for one in run.verdicts} == {Verdict}
    assert "Whose fault the runs are" not in report_html([run])
