"""`misstep agreement` says how far annotators agree, and one line on what is wrong with a file."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.pages.html_rules import check_page

LABELS = """item,ann,ben,cat
run-1,agent,Agent,agent
run-2,task,agent,task
run-3,agent,task,infra
run-4,infra,infra,infra
run-5,task,,task
run-6,,agent,
run-7, task ,task,task
run-8,agent,agent,agent
"""


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text(LABELS, encoding="utf-8")
    return path


@pytest.fixture
def misstep(in_process):
    return partial(in_process, "agreement")


def document(misstep: Any, *arguments: object) -> dict[str, Any]:
    code, out, _ = misstep(*arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_a_report_leads_with_the_finding_and_ends_with_what_did_not_count(misstep: Any, labels: Path) -> None:
    code, out, err = misstep(labels, "--boot", 0)
    assert code == 0
    first = "3 raters agree on 76.2% of paired ratings of 8 items. Fleiss' kappa is 0.617, substantial on the scale of"
    assert " ".join(out.split()).startswith(first)
    assert "\nben                         80.0%   37.6% to 96.4%      5\n" in out
    assert "\ninfra     0.657  −0.263 to 1.000        4\n" in out
    assert "\nConsensus: one label leads on 7 of 8 rated items; 1 is tied\n  run-3: agent / infra / task\n" in out
    assert out.endswith("\n1 item with fewer than two ratings: run-6.\n")
    assert err == f"misstep: {labels}: counted as one label, shown as 'agent': 'Agent', 'agent'\n"


def test_the_json_has_the_shape_that_scripts_rely_on(misstep: Any, labels: Path) -> None:
    result = document(misstep, labels)
    assert " ".join(list(result)[:12]) == (
        "n_items n_raters raters categories percent_agreement fleiss_kappa krippendorff_alpha gwet_ac1 pairs "
        "by_category disagreements consensus"
    )
    assert (result["n_items"], result["n_raters"]) == (8, 3)
    assert (result["raters"], result["categories"]) == (["ann", "ben", "cat"], ["agent", "infra", "task"])
    assert result["percent_agreement"] == pytest.approx((4 + 1 + 1 / 3) / 7)
    for name in ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1"):
        estimate = result[name]
        assert list(estimate) == ["value", "low", "high", "n", "method", "reason"]
        assert estimate["low"] < estimate["value"] < estimate["high"]
    pair = result["pairs"][0]
    assert list(pair) == ["raters", "n", "agreement", "cohen_kappa", "cohen_kappa_interval"]
    assert (pair["raters"], pair["n"], pair["agreement"]) == (["ann", "ben"], 6, pytest.approx(4 / 6))
    assert pair["cohen_kappa"] == pair["cohen_kappa_interval"]["value"] == pytest.approx(5 / 11)
    category = result["by_category"][2]
    assert list(category) == ["category", "n", "kappa", "kappa_interval"]
    assert (category["category"], category["n"]) == ("task", 8)
    assert result["disagreements"] == [
        {"item": "run-2", "labels": {"ann": "task", "ben": "agent", "cat": "task"}},
        {"item": "run-3", "labels": {"ann": "agent", "ben": "task", "cat": "infra"}},
    ]
    assert result["consensus"][1] == {"item": "run-2", "label": "task", "tied": False, "candidates": []}
    names = ["agent", "infra", "task"]
    assert result["consensus"][2] == {"item": "run-3", "label": None, "tied": True, "candidates": names}
    matrix = [[2, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert result["confusion"][0] == {"raters": ["ann", "ben"], "labels": names, "matrix": matrix}
    assert result["items_under_two_ratings"] == ["run-6"]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_intervals(misstep: Any, labels: Path) -> None:
    outputs = [misstep(labels, "--json", "--boot", 200, "--seed", seed)[1] for seed in (1, 1, 2)]
    assert outputs[0] == outputs[1]
    assert json.loads(outputs[0])["fleiss_kappa"] != json.loads(outputs[2])["fleiss_kappa"]


def test_raters_who_share_no_item_have_no_kappa_and_a_reason(misstep: Any, tmp_path: Path) -> None:
    path = tmp_path / "apart.csv"
    path.write_text("item,ann,ben\n1,a,\n2,,b\n")
    result = document(misstep, path)
    assert (result["pairs"][0]["n"], result["pairs"][0]["cohen_kappa"], result["percent_agreement"]) == (0, None, None)
    assert misstep(path)[1].startswith(
        "2 raters labelled 2 items. Fleiss' kappa is undefined: no item has two ratings."
    )


def test_at_an_ordered_level_alpha_leads_and_the_order_counts(misstep: Any, tmp_path: Path) -> None:
    path = tmp_path / "ordered.csv"
    path.write_text("item,ann,ben\n1,low,mid\n2,mid,high\n3,high,high\n4,low,low\n")
    given = ("--level", "ordinal", "--order")
    assert misstep(path, *given, "low,mid,high")[1].partition(". ")[2].startswith("Krippendorff's alpha (ordinal) is ")
    orders = ("low,mid,high", "high,mid,low", "mid,low,high")
    alphas = [document(misstep, path, *given, order)["krippendorff_alpha"]["value"] for order in orders]
    assert alphas[0] == pytest.approx(alphas[1])
    assert alphas[0] > alphas[2]


QUESTIONS = "item,rater,label,topic\n" + "".join(
    f"{item},{rater},{topic}-{(item * weight) % 3},{topic}\n"
    for topic in ("cause", "severity")
    for item in range(12)
    for rater, weight in (("ann", 1), ("ben", 1 if topic == "cause" else 2))
)


def test_several_questions_have_a_report_each_in_the_text_the_json_and_the_page(misstep: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "labels.csv", tmp_path / "page.html"
    path.write_text(QUESTIONS)
    given = ("--by", "topic", "--boot", 50)
    result = document(misstep, path, *given)
    assert list(result) == ["questions", "notes"]
    assert [list(one)[:2] for one in result["questions"]] == [["question", "n_items"]] * 2
    assert [one["question"] for one in result["questions"]] == ["cause", "severity"]
    assert result["questions"][0]["fleiss_kappa"]["value"] == 1
    out = misstep(path, *given, "--html", page)[1]
    assert out.startswith("Fleiss' kappa runs from 0.000 (severity) to 1.000 (cause) over 2 questions.")
    assert "\nQuestion: severity\n==================\n" in out
    text = page.read_text(encoding="utf-8")
    for question in ("cause", "severity"):
        assert f"<summary><h2><bdi>{question}</bdi></h2></summary>" in text
        assert f"<bdi>{question}: ann</bdi>" in text


def test_what_was_read_otherwise_than_written_is_said_once_and_stands_in_the_json(misstep: Any, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("task_id,annotator,category\n1,ann,a\n1,ben,?\n2,ann,b\n2,ben,b\n1,ben,a\n")
    given = (path, "--keep", "last", "--missing", "?", "--boot", 0)
    result = document(misstep, *given)
    assert result["notes"] == [
        "read as one rating a row: items in 'task_id', raters in 'annotator', labels in 'category'",
        "of several ratings of an item by one rater the last is kept, by their order in the file: 1 left out",
        "'?' to stand for a missing rating is in no cell",
    ]
    assert misstep(*given)[2] == "".join(f"misstep: {path}: {note}\n" for note in result["notes"])


def test_control_codes_in_labels_do_not_reach_the_terminal(misstep: Any, tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("item,ann,ben\nrun\x1b[2J,a\x1b[31m,b\nrun-2,b,B\x07\n")
    _, out, err = misstep(path)
    assert "\x1b" not in out + err
    assert "\x07" not in out + err


def test_the_items_that_a_narrower_interval_takes_are_said_and_stand_in_the_json(misstep: Any, labels: Path) -> None:
    given = (labels, "--boot", 0, "--interval-width", 0.2)
    goal = document(misstep, *given)["items_for_width"]
    width = goal["coefficients"][0]["interval_width"]
    assert goal["coefficients"][0]["items"] == int(np.ceil(8 * (width / 0.2) ** 2))
    out = misstep(*given)[1]
    assert f"About {goal['coefficients'][0]['more']} more items" in out
    assert "items_for_width" not in document(misstep, labels, "--boot", 0)
    assert misstep(labels, "--interval-width", 0)[0] == 2


def test_consensus_and_items_to_adjudicate_are_written_for_a_spreadsheet(misstep: Any, labels: Path) -> None:
    consensus, adjudicate = labels.parent / "consensus.csv", labels.parent / "adjudicate.csv"
    given = (labels, "--boot", 0, "--consensus", consensus, "--adjudicate", adjudicate)
    assert misstep(*given)[0] == 0
    assert consensus.read_text().splitlines()[:4] == [
        "item,label,tied,candidates",
        "run-1,agent,no,",
        "run-2,task,no,",
        "run-3,,yes,agent; infra; task",
    ]
    assert adjudicate.read_text() == ("item,ann,ben,cat,decision\nrun-3,agent,task,infra,\nrun-2,task,agent,task,\n")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (LABELS, ["--consensus", "/nowhere/c.csv"], "--consensus /nowhere/c.csv: No such file or directory. "),
        ("item,ann,ben\n1,a,b\n1,a,b\n", [], "{file}:3: item '1' is on line 2 already. "),
        (LABELS, ["--raters", "ann,zoe"], "{file} has no rater 'zoe'. Its raters are 'ann', 'ben', 'cat'."),
        (LABELS, ["--raters", '"ann'], '--raters "ann: unexpected end of data. '),
        (LABELS, ["--level", "interval"], "{file}:2: ann: label 'agent' is not a number. "),
        (LABELS, ["--level", "ordinal"], "{file}: the order of these labels is not known: 'agent', 'infra', 'task'. "),
        (LABELS, ["--html", "/nowhere/page.html"], "--html /nowhere/page.html: No such file or directory. "),
    ],
)
def test_an_error_is_one_line_with_the_place_and_the_remedy(misstep, labels, text, arguments, message) -> None:
    labels.write_text(text)
    code, out, err = misstep(labels, *arguments)
    lines = [line for line in err.splitlines() if "counted as one label" not in line]
    assert (code, out, len(lines)) == (2, "", 1)
    assert lines[0].startswith("misstep: " + message.format(file=labels))


YES_AND_NO = "item,ann,ben\n" + "".join(
    f"i{n},{'yes' if n % 2 else 'no'},{'yes' if n % 3 else 'no'}\n" for n in range(30)
)


@pytest.mark.parametrize(
    ("limit", "code", "outcome"),
    [
        ("alpha=-0.9", 0, "passed: alpha is "),
        ("alpha=0.67", 1, "failed: alpha is "),
        ("ac1.lower=90%", 1, "failed: ac1"),
    ],
)
def test_the_limit_decides_the_exit_code_after_the_report(limit, code, outcome, misstep, tmp_path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(YES_AND_NO)
    ended, out, process = misstep(file, "--boot", "0", "--fail-under", limit)
    assert (ended, outcome in process) == (code, True)
    assert "Krippendorff" in out


def test_each_of_several_questions_has_its_own_limit(misstep: Any, tmp_path: Path) -> None:
    rows = [f"{question},i{n},{rater},yes" for question in ("safe", "true") for n in range(4) for rater in ("a", "b")]
    file = tmp_path / "labels.csv"
    file.write_text("question,item,rater,label\n" + "\n".join([*rows, "safe,i9,a,no", "safe,i9,b,no"]) + "\n")
    line = (file, "--by", "question", "--boot", "0")
    assert misstep(*line, "--fail-under", "safe.alpha=0.9")[0] == 0
    code, _, process = misstep(*line, "--fail-under", "true.alpha=0.9")
    assert (code, "undecided: true.alpha cannot be computed" in process) == (1, True)


def test_the_page_leads_with_the_finding_and_shows_labels_as_text(misstep: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "odd.csv", tmp_path / "odd.html"
    path.write_text('item,ann,ben\n1,<b id=x>bold</b>,a\n2,a,a\n"<img src=x>",<b id=x>bold</b>,<b id=x>bold</b>\n')
    code, _, _ = misstep(path, "--html", page, "--seed", 3)
    assert code == 0
    checked = check_page(page.read_text(encoding="utf-8"))
    text = checked.text
    assert not {"b", "img"} & set(checked.tags)
    assert "<b id=x>bold</b>" in text
    assert "Fleiss' kappa is " in text
    assert "--seed 3" in text
    before = page.read_bytes()
    misstep(path, "--html", page, "--seed", 3)
    assert page.read_bytes() == before


def test_the_page_has_a_section_for_each_rater_that_its_contents_list_links(misstep: Any, labels: Path) -> None:
    page = labels.parent / "page.html"
    misstep(labels, "--boot", 0, "--html", page)
    text = page.read_text(encoding="utf-8")
    contents = text.split('aria-label="On this page">')[1].split("</nav>")[0]
    for number, title in enumerate(("Confusions", "Items in dispute", "ann", "ben", "cat"), start=1):
        assert f'<a href="#section-{number}"><bdi>{title}</bdi></a>' in contents
        assert f'id="section-{number}"' in text
    assert "Labels of cat and of the others on the same items" in text
