"""`misstep report`: runs in, one page out, on which every item can be looked at."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from misstep.classify.findings import classified_findings
from misstep.runs.report import app
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.page import JudgedBy
from misstep_analysis.judging.report import item_browser, report_html
from misstep_analysis.judging.sample import majority
from misstep_harness.benchmarks.folders import benchmark_folder
from misstep_harness.clients import ClientSettings
from misstep_harness.errors import InputError, UsageError
from misstep_harness.exchange import LOCAL_MODEL
from misstep_harness.items import read_items
from misstep_harness.journal.records import VERDICTS, encode_lines, replace_file
from misstep_harness.judges.judge_file import read_judge
from misstep_harness.judges.prompted import prompted_judge
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.verdict import Verdict
from tests.analysis.pages.html_rules import Page, check_page, read_embedded
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up import CATEGORIES, atif_lines, by_id
from tests.misstep.made_up_judges import benchmark, judge_file
from tests.misstep.made_up_runs import HOSTILE, agents_run, benchmark_of_runs, judged_run, verdict


def says_fruit(_: object) -> str:
    return json.dumps({"reasoning": f"It looks sweet. {HOSTILE}", "label": "fruit", "score": 0.8})


command = command_of(app)


def data(page: str, name: str) -> Any:
    """What the page's script reads under a name."""
    return read_embedded(re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page)[1])


def checked(page: str) -> Page:
    """The page, once it keeps every rule, also those of what follows from texts from outside."""
    assert "window.ran" not in re.sub(r"&lt;/?script&gt;[^<]*", "", re.sub(r'"[^"]*"', "", page))
    return check_page(page)


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    return benchmark_of_runs(tmp_path / "gates", 8, raters=("ann", "ben"))


@pytest.fixture
def two(tmp_path: Path, gates: Path) -> list[Path]:
    """Two runs: the first right on six of eight and silent on one, the second right on half."""
    good = [verdict(n, "yes" if n % 2 == 0 else "no", cost_usd=0.01, steps=(2,), judge="good") for n in range(6)]
    good += [
        verdict(6, "no", judge="good", cost_usd=0.03),
        verdict(7, None, status="refused", judge="good", error="will not say"),
    ]
    poor = [verdict(n, "yes", score=0.7, judge="poor") for n in range(8)]
    return [judged_run(tmp_path / "good", gates, good), judged_run(tmp_path / "poor", gates, poor)]


def test_a_run_of_a_judge_becomes_a_page_in_its_folder(tmp_path):
    texts = ["apple", f"carrot {HOSTILE}", "apple pie"]
    folder = benchmark(tmp_path / "plants", texts)
    settings = ClientSettings(client="scripted", script="tests.misstep.runs.test_report:says_fruit")
    run_judge(prompted_judge(read_judge(judge_file(tmp_path))), folder, tmp_path / "run", settings)
    result = command(tmp_path / "run")
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'run' / 'report.html'}\n")
    text = (tmp_path / "run" / "report.html").read_text()
    page = checked(text)
    assert "is_it_fruit agrees with the gold labels on 2 of 3 items" in page.text
    assert data(text, "items-0-index")["ids"] == ["i0", "i1", "i2"]
    assert "⟨U+202E⟩" in data(text, "items-0-index")["runs"][0]["rationale"][0]
    block, place = data(text, "items-0-index")["piece_of"][1].split("/")
    assert data(text, f"items-0-{block}")[int(place)]["text"]["start"].startswith("carrot </script>")


def test_every_wrong_or_missing_answer_stands_in_the_page_for_readers_without_scripts(two):
    page = " ".join(checked(report_html([open_run(run) for run in two[:1]])).text.split())
    assert "1 wrong answer; 1 question without an answer (1 refused)" in page
    assert "item-6yesno" in page
    assert "item-7norefusedwill not say" in page


def test_an_item_opens_with_its_run_and_the_evidence_in_it(two):
    text = report_html([open_run(run) for run in two[:1]])
    index = data(text, "items-0-index")
    run = data(text, f"items-0-{index['run_of'][3]}")
    assert run["id"] == "run-3"
    assert run["steps"][2]["results"][0]["text"]["start"] == "what is in note 2"
    assert run["view"] == "misstep view runs/all.jsonl --id run-3"
    assert index["runs"][0]["steps"][3] == [2]


def test_runs_on_several_benchmarks_stand_in_sections_of_their_own(tmp_path, two):
    other = benchmark_of_runs(tmp_path / "other", 2)
    third = judged_run(tmp_path / "third", other, [verdict(0, "yes"), verdict(1, "no")])
    page = checked(report_html([open_run(run) for run in [two[0], third]]))
    assert {"judged-0", "judged-1", "items-0", "items-1", "items-0-index", "items-1-index"} <= set(page.ids)


def test_a_run_of_the_small_model_says_on_its_page_that_it_is_no_judge(tmp_path, gates, two):
    small = judged_run(tmp_path / "small", gates, [verdict(n) for n in range(8)], model=LOCAL_MODEL)
    assert "it is not a judge" in checked(report_html([open_run(run) for run in [small]])).text
    page = checked(report_html([open_run(run) for run in [small, *two]]))
    assert "small: This small model only tests the set-up" in page.text
    assert "it is not a judge" not in report_html([open_run(run) for run in two])


def test_what_does_not_fit_is_left_out_right_answers_first_and_how_to_see_it_is_said(tmp_path):
    folder = benchmark_of_runs(tmp_path / "gates", 10, lambda number: agents_run(number, 40, f"{number} " * 400))
    right = [verdict(n, "yes" if n % 2 == 0 else "no") for n in range(9)]
    run = open_run(judged_run(tmp_path / "run", folder, [*right, verdict(9, "yes")]))
    judged = JudgedBy("made_up", {one.item: one for one in run.verdicts})
    result = item_browser(folder, ("yes", "no"), majority(run.gold), [judged], room=2_500)
    assert sum(len(content) for name, content in result.data.items() if name != "index") <= 2_500
    index = data(f'<script type="application/json" id="index">{result.data["index"]}</script>', "index")
    assert index["run_of"][9]
    assert "misstep view runs/all.jsonl --id run-8" in index["absent"]["8"]


def test_an_item_whose_run_is_gone_says_so_and_the_page_is_made(two, gates):
    (gates / "runs" / "all.jsonl").unlink()
    text = report_html([open_run(run) for run in two[:1]])
    assert "the benchmark has no file 'runs/all.jsonl'" in data(text, "items-0-index")["absent"]["0"]


def test_a_run_that_failed_throughout_or_was_asked_nothing_has_a_page_that_says_so(tmp_path, gates, two):
    failed = judged_run(tmp_path / "failed", gates, [verdict(n, None, status="failed") for n in range(8)])
    page = checked(report_html([open_run(run) for run in [failed]]))
    assert "has no accuracy on gates (0 of 8 items answered" in page.text
    replace_file(failed / VERDICTS, encode_lines([]))
    page = checked(report_html([open_run(run) for run in [failed, *two]]))
    assert "good gives the gold label most often" in page.text


def test_the_foot_names_the_runs_and_the_seed_and_no_public_set_for_a_benchmark_of_one_s_own(two):
    page = checked(report_html([open_run(run) for run in two]))
    assert "good: good with small-1 on gates" in page.text
    assert "Seed0" in "".join(page.text.split())
    assert "Data sets" not in page.text


@pytest.mark.data
def test_the_foot_of_a_run_on_a_public_set_says_its_version_and_licence(tmp_path, data_folder):
    folder = benchmark_folder("trail", data_folder)
    first = next(read_items(folder))
    run = judged_run(tmp_path / "run", folder, [Verdict(first.id, "made_up", "absent")])
    foot = checked(report_html([open_run(run) for run in [run]])).text.partition("Where this page comes from")[2]
    assert "Data sets" in foot
    assert "licence MIT" in foot


def test_what_is_no_run_or_no_two_runs_of_judges_is_refused(tmp_path, two):
    assert isinstance(command(tmp_path).exception, InputError)
    atif_lines(tmp_path / "runs.jsonl", ["a"])
    classified_findings([tmp_path / "runs.jsonl"], ClassifyPlan(CATEGORIES, by_id), tmp_path / "classified")
    together = command(two[0], tmp_path / "classified").exception
    assert isinstance(together, UsageError)
    assert "of `misstep classify`" in together.line()
