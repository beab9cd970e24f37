"""`misstep judge drift` as a user runs it, on made-up runs."""

import json
from pathlib import Path

import pytest

from misstep.judge import app
from misstep_harness.errors import UsageError
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_runs import LABELS, agents_run, benchmark_of_runs, judged_run, verdict

judge = command_of(app, raises=True)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A run on 40 items that gives every label right."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 40)
    return judged_run(tmp_path / "old", benchmark, [verdict(number, LABELS[number % 2]) for number in range(40)])


@pytest.fixture
def new(tmp_path: Path, old: Path) -> Path:
    """A run on 40 other items with 20 anchors among them, of which another model finds none to loop."""
    anchors = tmp_path / "anchors.jsonl"
    assert judge("drift", old, "--draw", 20, "--out", anchors).stdout.endswith(
        "20 anchors of 40 items: 10 “yes”, 10 “no”\n"
    )
    benchmark = benchmark_of_runs(tmp_path / "later", 40, lambda number: agents_run(number, text="I look elsewhere."))
    items = benchmark / "items.jsonl"
    items.write_bytes(items.read_bytes() + anchors.read_bytes())
    again = [json.loads(line)["id"] for line in anchors.read_text().splitlines()]
    verdicts = [verdict(number, LABELS[number % 2]) for number in range(40)]
    verdicts += [verdict(0, "no", item=one) for one in again]
    return judged_run(tmp_path / "new", benchmark, verdicts, model="small-2")


def test_anchors_tell_the_judges_part_from_the_systems(old: Path, new: Path) -> None:
    document = json.loads(judge("drift", old, new, "--json").stdout)
    (share,), (accuracy,) = document["figures"]["Share of “yes”"], document["figures"]["Accuracy"]
    assert (share["anchors"], share["lost"]["value"], share["gained"]["value"]) == (20, 1.0, 0.0)
    assert (share["total"]["value"], share["judge"]["value"], share["system"]["value"]) == (0.0, -0.5, 0.5)
    assert accuracy["judge"]["value"] == -0.5  # anchors have the gold labels of the first run
    assert document["changed"] == {"new": {"model": ["small-1", "small-2"]}}


def test_the_page_draws_the_figure_over_all_runs(old: Path, new: Path, tmp_path: Path) -> None:
    benchmark = benchmark_of_runs(tmp_path / "third", 20, lambda number: agents_run(number + 100))
    third = judged_run(tmp_path / "third-run", benchmark, [verdict(number, "no") for number in range(20)])
    done = judge("drift", old, new, third, "--html", tmp_path / "page" / "d.html")
    page = (tmp_path / "page" / "d.html").read_text()
    assert "no item was judged in both runs with the same text" in done.stdout
    assert [page.count(name) > 1 for name in ("old", "new", "third-run", "without the judge")] == [True] * 4
    assert page.count("<svg") == 2


def test_a_text_that_only_one_judge_answered_is_in_no_share(old: Path, tmp_path: Path) -> None:
    silent = [verdict(number, None, status="failed", error="none") for number in range(10)]
    again = [verdict(number, LABELS[number % 2]) for number in range(10, 40)]
    run = judged_run(tmp_path / "again", tmp_path / "gates", [*silent, *again])
    document = json.loads(judge("drift", old, run, "--json").stdout)
    assert document["left_out"] == {"again": 10}
    assert document["figures"]["Share of “yes”"][0]["old"]["n"] == 30
    assert document["figures"]["Accuracy"][0]["judge"]["value"] == -0.25


def test_what_cannot_be_held_against_each_other_is_refused(old: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="drift needs two runs"):
        judge("drift", old)
    other = benchmark_of_runs(tmp_path / "other", 2)
    content = (other / "benchmark.toml").read_text()
    (other / "benchmark.toml").write_text(content.replace('"no"]', '"no", "maybe"]'))
    run = judged_run(tmp_path / "other-run", other, [verdict(0), verdict(1)])
    with pytest.raises(UsageError, match="asked different questions"):
        judge("drift", old, run)


def test_anchors_that_no_later_run_judged_are_refused(old: Path, new: Path, tmp_path: Path) -> None:
    others = benchmark_of_runs(tmp_path / "others", 5, lambda number: agents_run(number, 3))
    judge("drift", others, "--draw", 2, "--out", tmp_path / "other.jsonl")
    with pytest.raises(UsageError, match="no later run judged any of the anchors"):
        judge("drift", old, new, "--anchors", tmp_path / "other.jsonl")
    assert judge("drift", old, new, "--anchors", tmp_path / "anchors.jsonl").stdout == judge("drift", old, new).stdout
