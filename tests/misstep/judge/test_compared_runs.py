"""`misstep judge compare` as a user runs them: several runs on one benchmark."""

import json
import shutil
from pathlib import Path

import pytest

from misstep.judge import app
from misstep_harness.errors import InputError, UsageError
from tests.misstep.as_a_user import command_of
from tests.misstep.made_up_runs import benchmark_of_runs, judged_run, verdict

judge = command_of(app, raises=True)


@pytest.fixture
def ranked(tmp_path: Path) -> list[Path]:
    """Two judges of eight items, four of the site north and four of the site south, who disagree on which is better."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 8)
    items = benchmark / "items.jsonl"
    lines = [json.loads(line) for line in items.read_text().splitlines()]
    for number, line in enumerate(lines):
        line["extra"]["site"] = "south" if number >= 4 else "north"
    items.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    first = [verdict(number, "yes" if number < 3 else "no") for number in range(8)]
    second = [verdict(number, "no" if number < 5 else "yes", judge="other") for number in range(8)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("one", first), ("two", second))]


@pytest.fixture
def rated(tmp_path: Path) -> list[Path]:
    """Two judges of six items: of three raters one finds misbehaviour twice as often as the others."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 6)
    items = [json.loads(line)["id"] for line in (benchmark / "items.jsonl").read_text().splitlines()]
    votes = {"Ann": "yynnnn", "Bea": "yynnnn", "Cid": "yyyynn"}
    rows = [
        f"{item},{rater},{'yes' if vote == 'y' else 'no'}\n"
        for rater, given in votes.items()
        for item, vote in zip(items, given, strict=True)
    ]
    (benchmark / "gold.csv").write_text("item,rater,label\n" + "".join(rows))
    strict = [verdict(number, "yes" if number < 4 else "no") for number in range(6)]
    lenient = [verdict(number, "yes" if number < 2 else "no", judge="other") for number in range(6)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("strict", strict), ("lenient", lenient))]


@pytest.fixture
def repeated(tmp_path: Path) -> list[Path]:
    """Two runs of a judge that changes its mind on two of eight items, and on one of them does not answer."""
    benchmark = benchmark_of_runs(tmp_path / "gates", 8)
    first = [verdict(number, "yes" if number % 2 == 0 else "no") for number in range(8)]
    second = [verdict(0, "no"), verdict(1, None, status="refused"), *first[2:7], verdict(7, "no", cached=True)]
    return [judged_run(tmp_path / name, benchmark, given) for name, given in (("one", first), ("two", second))]


def test_the_share_of_items_whose_label_changes_is_said_first(repeated: list[Path]) -> None:
    done = judge("compare", *repeated, "--repeats")
    assert done.exit_code == 0
    assert "The label changes between 2 runs on 14.3%" in done.stdout
    assert "From a cache, which repeats itself: 1 answer." in done.stdout


def test_repeats_as_json_is_one_document(repeated: list[Path]) -> None:
    document = json.loads(judge("compare", *repeated, "--repeats", "--json").stdout)
    assert document["runs"] == ["one", "two"]
    result = document["stability"]
    assert (result["runs"], result["n"]) == (2, 8)
    assert result["changed_all"]["value"] == 0.25
    assert [one["value"] for one in result["accuracies"]] == [1.0, 0.75]
    assert result["spread"] == 0.25


def test_runs_of_different_judges_and_a_single_run_are_refused(repeated: list[Path], tmp_path: Path) -> None:
    other = judged_run(tmp_path / "other", tmp_path / "gates", [verdict(0)], model="small-2")
    with pytest.raises(UsageError, match="differ in their model"):
        judge("compare", repeated[0], other, "--repeats")
    with pytest.raises(UsageError, match="needs two runs"):
        judge("compare", repeated[0], "--repeats")


@pytest.fixture
def compared(tmp_path: Path) -> list[Path]:
    """Three judges of eight items: two right on half of them, one silent."""
    gates = benchmark_of_runs(tmp_path / "gates", 8)
    given = {
        "always": [verdict(number) for number in range(8)],
        "green": [verdict(number, "no" if number > 5 else "yes", judge="green") for number in range(8)],
        "mute": [verdict(number, None, status="refused", judge="mute") for number in range(8)],
    }
    return [judged_run(tmp_path / name, gates, verdicts) for name, verdicts in given.items()]


def test_two_runs_are_compared_on_the_same_items(compared: list[Path]) -> None:
    done = judge("compare", *compared[:2], "--json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    (pair,) = document["pairs"]
    assert (pair["a"], pair["b"], pair["n"]) == ("always", "green", 8)
    assert (pair["both"], pair["only_a"], pair["only_b"], pair["neither"]) == (3, 1, 1, 3)
    assert (pair["difference"], pair["p_value"]) == (0, pytest.approx(0.75))
    assert pair["p_adjusted"] == pair["p_value"]
    assert (pair["n_needed"], pair["test"]) == (None, "McNemar, mid-p")
    assert "no number of items" in pair["reason"]
    assert [(run["run"], run["accuracy_all"]["value"]) for run in document["runs"]] == [("always", 0.5), ("green", 0.5)]


def test_the_text_says_who_is_ahead_and_shows_the_runs_by_themselves(compared: list[Path]) -> None:
    output = judge("compare", *compared[::2], "--test", "bootstrap").stdout
    assert " ".join(output.split()).count("always gives the gold label on 50.0 points more of 8 items than mute") == 1
    assert "they answered no item in common" in " ".join(output.split())
    assert "paired bootstrap, 10,000 resamples of items" in " ".join(output.split())
    assert "Cohen's kappa" in output


def test_a_benchmark_that_was_moved_is_named(compared: list[Path], tmp_path: Path) -> None:
    shutil.move(tmp_path / "gates", tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="--benchmark"):
        judge("compare", *compared[::2])
    assert judge("compare", *compared[::2], "--benchmark", tmp_path / "elsewhere").exit_code == 0


def test_runs_that_are_held_against_different_gold_labels_are_refused_until_one_benchmark_is_named(compared, tmp_path):
    shutil.copytree(tmp_path / "gates", tmp_path / "copy")
    mute = [verdict(n, None, status="refused", judge="other") for n in range(8)]
    runs = [compared[0], judged_run(tmp_path / "copied", tmp_path / "copy", mute)]
    assert judge("compare", *runs).exit_code == 0
    gold = tmp_path / "copy" / "gold.csv"
    gold.write_text(gold.read_text().replace("item-0,ann,yes", "item-0,ann,no"))
    with pytest.raises(UsageError, match=r"the gold labels of .*always and .*copied differ"):
        judge("compare", *runs)
    assert judge("compare", *runs, "--benchmark", tmp_path / "copy").exit_code == 0


def test_one_run_no_run_and_a_run_named_twice_are_refused(compared: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name two or more runs"):
        judge("compare", compared[0])
    with pytest.raises(UsageError, match="named twice"):
        judge("compare", compared[0], compared[0])
    with pytest.raises(InputError, match=r"run\.toml"):
        judge("compare", compared[0], tmp_path)
