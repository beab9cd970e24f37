"""The patches of repair runs as a benchmark of judges: gold is whether the tests pass, and no judge can see it."""

from pathlib import Path

import pytest

from misstep_analysis.gold import read_gold
from misstep_harness.clients import ClientSettings
from misstep_harness.datasets.benchmark import Gold
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import read_items, read_question
from misstep_harness.journal.records import read_verdicts
from misstep_harness.repair.records import Signal
from misstep_harness.repair.runs.patches import add_review, decisions, write_patches
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.judging.known_judges import known_judge
from tests.harness.runs.repairs import opened, recorded_attempts
from tests.misstep.made_up_runs import four, repaired, repaired_run

EXECUTED = "the oracle and the suite have said so"
SIGNALS = (
    Signal("oracle", True, EXECUTED),
    Signal("static_analysis", True, "no new errors"),
    Signal("suite", True, EXECUTED),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    without = [repaired("quince", None, 1), repaired("plum", False, 1, patch="")]
    without.append(repaired("pear", None, 1, ended="not_affirmed"))
    return repaired_run(tmp_path / "run", [*four("apple pear", signals=SIGNALS), *without])


def test_every_scored_patch_is_an_item_with_the_executed_truth_as_gold(run: Path, tmp_path: Path) -> None:
    written = write_patches([opened(run)], tmp_path / "patches")
    assert (written.counts["items"], written.raters, written.positive) == (4, ("oracle",), "unacceptable")
    gold = {row.item.partition("/")[0]: row.label for row in read_gold(tmp_path / "patches")}
    assert gold == dict.fromkeys(("apple", "pear"), "acceptable") | dict.fromkeys(("plum", "quince"), "unacceptable")
    assert set(read_question(tmp_path / "patches").labels) == {"acceptable", "unacceptable"}
    items = list(read_items(tmp_path / "patches"))
    assert [(item.task, item.text, item.extra) for item in items[:1]] == [
        ("Mend apple.", "static_analysis: passed (no new errors)", {"cluster": "apple"})
    ]


def test_no_item_says_whether_the_tests_pass(run: Path, tmp_path: Path) -> None:
    write_patches([opened(run)], tmp_path / "patches")
    assert EXECUTED not in (tmp_path / "patches/items.jsonl").read_text()
    assert all(item.trajectory is None for item in read_items(tmp_path / "patches"))


@pytest.mark.parametrize("name", ["patch_judge", "patch_acceptability", "tests.harness.repair.judging:AcceptsNothing"])
def test_any_judge_of_patches_is_run_on_them(run: Path, tmp_path: Path, name: str) -> None:
    write_patches([opened(run)], tmp_path / "patches")
    client = ClientSettings(client="scripted", script="tests.harness.repair.judging:rejects")
    ended = run_judge(known_judge(name, model="small-1"), tmp_path / "patches", tmp_path / "judged", client)
    assert (ended.done, ended.failed) == (4, 0)
    assert {verdict.label for verdict in read_verdicts(tmp_path / "judged")} == {"unacceptable"}


def test_a_folder_that_is_there_is_left_as_it_is(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there already"):
        write_patches([opened(run)], tmp_path)


def test_the_same_attempt_of_two_runs_is_refused_and_leaves_nothing(run: Path, tmp_path: Path) -> None:
    again = repaired_run(tmp_path / "again", four())
    with pytest.raises(UsageError, match=r"two of the runs made the attempt apple/"):
        write_patches([opened(run), opened(again)], tmp_path / "patches")
    assert not (tmp_path / "patches").exists()


def test_a_run_without_patches_and_what_is_no_run_are_said(tmp_path: Path) -> None:
    bare = repaired_run(tmp_path / "bare", four(patch=""))
    with pytest.raises(InputError, match="no attempt has a patch"):
        write_patches([opened(bare)], tmp_path / "patches")
    with pytest.raises(InputError, match=r"run\.toml is missing"):
        write_patches([opened(tmp_path)], tmp_path / "patches")


def test_reviews_are_gold_and_the_last_decision_counts(run: Path, tmp_path: Path) -> None:
    apple, pear, *_ = (attempt for attempt in recorded_attempts(run) if attempt.solved)
    add_review(run, apple, "accepted", "kim")
    add_review(run, pear, "accepted", "kim")
    add_review(run, pear, "rejected", "lee", "It silences the symptom.")
    write_patches([opened(run)], tmp_path / "patches", decisions(run))
    assert {(row.item, row.rater): row.label for row in read_gold(tmp_path / "patches")} == {
        (apple.id, "review"): "acceptable",
        (pear.id, "review"): "unacceptable",
    }


def test_labels_of_people_leave_out_what_nobody_labelled(run: Path, tmp_path: Path) -> None:
    names = [attempt.id for attempt in recorded_attempts(run) if attempt.patch]
    labels = [Gold(name, rater, "unacceptable") for name in names[1:3] for rater in ("ann", "ben")]
    written = write_patches([opened(run)], tmp_path / "patches", labels)
    assert (written.counts["items"], written.raters) == (2, ("ann", "ben"))
    with pytest.raises(UsageError, match="'nowhere' is of no patch"):
        write_patches([opened(run)], tmp_path / "other", [Gold("nowhere", "ann", "acceptable")])
