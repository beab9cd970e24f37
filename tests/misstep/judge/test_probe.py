"""`misstep judge probe` as a user runs it: a planted bias is found by its own probe, and none where none is planted."""

import json
from pathlib import Path
from typing import Any

import pytest

from misstep.judge import app
from misstep_harness.errors import UsageError
from tests.misstep.as_a_user import command_of

probe = command_of(app, "probe", raises=True)
HERE = "tests.misstep.judge.biased_judges"
INSTRUCTIONS = ("instruction", "system_message", "already_decided")
ALL = {"verbosity", "authority", "self_preference", "label_order", "markdown", "json_indented", *INSTRUCTIONS}


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Texts of two models, one of them the judge's own; a quarter are JSON."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "benchmark.toml").write_text(
        'name = "answers"\nkind = "text"\nlabels = ["good", "bad"]\npositive = "good"\n'
    )
    texts = [f"Answer {n} is {('odd', 'even')[n % 2]}. It was short." for n in range(36)]
    texts += [json.dumps({"n": n, "is": ("odd", "even")[n % 2]}) for n in range(24)]
    items = [
        {"id": f"i{n}", "kind": "text", "text": text, "extra": {"author": ("small-1", "large-2")[n % 3 == 0]}}
        for n, text in enumerate(texts)
    ]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    gold = [f"i{n},ann,{('bad', 'good')['even' in text]}" for n, text in enumerate(texts)]
    (folder / "gold.csv").write_text("\n".join(["item,rater,label", *gold]) + "\n")
    return folder


def probed(judge: str, answers: Path, *more: str) -> dict[str, Any]:
    out = answers.parent / judge
    line = (f"{HERE}:{judge}", "--benchmark", str(answers), "--out", out, "--model", "acme/small-1", "--json")
    return json.loads(probe(*line, *more).stdout)


def shown(document: dict[str, Any]) -> set[str]:
    return {one["probe"] for one in document["probes"] if one["p_adjusted"] is not None and one["p_adjusted"] <= 0.05}


@pytest.mark.parametrize(
    ("judge", "result"),
    [
        ("fair", set()),
        ("prefers_long", {"verbosity"}),
        ("prefers_experts", {"authority"}),
        ("prefers_itself", {"self_preference"}),
        ("prefers_last", {"label_order"}),
        ("prefers_lists", {"markdown"}),
        ("prefers_indents", {"json_indented"}),
        ("obeys_orders", set(INSTRUCTIONS)),
    ],
)
def test_a_planted_bias_is_found_by_its_own_probe_and_by_no_other(judge: str, result: set[str], answers: Path) -> None:
    document = probed(judge, answers)
    assert {one["probe"] for one in document["probes"]} == ALL
    assert shown(document) == result
    assert document["control"]["flips"] == 0
    for one in document["probes"]:
        assert (
            one["flips"]
            == one["to_label"]
            == len([pair for pair in document["flipped"] if pair["probe"] == one["probe"]])
        )
        assert one["change"]["value"] == one["flips"] / one["n"] == -one["accuracy"]["value"]
        assert one["directions"] == ({"bad → good": one["flips"]} if one["flips"] else {})


def test_own_names_are_compared_with_other_names_and_not_with_none(answers: Path) -> None:
    probed("prefers_itself", answers)
    lines = (answers.parent / "prefers_itself" / "benchmark" / "items.jsonl").read_text().splitlines()
    items = {item["id"]: item for item in map(json.loads, lines)}
    assert items["i0~self_preference-0"]["text"].endswith("(Written by large-2.)")
    assert items["i0~self_preference"]["text"].endswith("(Written by acme/small-1.)")
    assert items["i0~self_preference"]["extra"]["change"]["twin"] == "i0~self_preference-0"


def test_a_missing_answer_is_no_flip(answers: Path) -> None:
    document = probed("silent", answers)
    [authority] = [one for one in document["probes"] if one["probe"] == "authority"]
    assert (authority["n"], authority["silent"], authority["flips"]) == (0, 60, 0)
    assert authority["change"]["value"] is None
    assert shown(document) == set()


def test_the_run_has_a_document_and_a_page_and_goes_on_where_it_was(answers: Path) -> None:
    document = probed("prefers_lists", answers, "--probe", "markdown", "--items", "20")
    out = answers.parent / "prefers_lists"
    assert json.loads((out / "probes.json").read_text()) == document
    verdicts = (out / "verdicts.jsonl").read_text()
    assert probed("prefers_lists", answers, "--probe", "markdown", "--items", "20") == document
    assert (out / "verdicts.jsonl").read_text() == verdicts
    page = (out / "probes.html").read_text()
    assert "1 of 1 probe changes how often prefers_lists" in page
    assert "What the changes do to the accuracy" in page


def test_sessions_of_ones_own_are_changed_without_gold_labels(answers: Path) -> None:
    run = {
        "id": "s",
        "source": {"format": "misstep", "file": "s"},
        "steps": [{"role": "agent", "text": "I looked. All is well."}],
    }
    folder = answers.parent / "mine"
    folder.mkdir()
    for n in range(3):
        (folder / f"{n}.json").write_text(json.dumps(run | {"id": f"s{n}"}))
    document = json.loads(probe("infinite_loop@rule", folder, "--out", answers.parent / "run", "--json").stdout)
    assert [one["probe"] for one in document["probes"]] == ["verbosity", "authority", "markdown", *INSTRUCTIONS]
    assert document["without_items"] == [
        "self_preference",
        "label_order",
        "no_markdown",
        "json_indented",
        "json_compact",
    ]
    assert document["probes"][0]["accuracy"]["value"] is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--probe", "length"), "unknown probe 'length'"),
        (("--label", "fine"), "'fine' is none of the labels good, bad"),
    ],
)
def test_what_does_not_exist_is_refused(more: tuple[str, ...], message: str, answers: Path) -> None:
    with pytest.raises(UsageError, match=message):
        probed("fair", answers, *more)


@pytest.mark.data
def test_a_recorded_judge_is_refused_because_it_has_no_answer_to_a_changed_item(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="are recorded: it cannot be asked about a changed item"):
        probe("trail/gemini-2.5-flash_gaia", "--benchmark", "trail", "--out", tmp_path / "run")
