"""`misstep count`: files and runs of several machines, counted and added up."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from misstep.agreement import app as agreement
from misstep.harness.classifiers import classify_all
from misstep.harness.errors import InputError, UsageError
from misstep.harness.records.whole_counts import decoded_parts
from misstep.harness.runs.classify import ClassifyPlan, classify_paths
from misstep.runs.count import app
from tests.misstep.made_up import atif
from tests.misstep.made_up_runs import benchmark_of_runs, four, judged_run, repaired_run, verdict

LABELS = "item,ann,ben,cat\n1,yes,Yes,no\n2,no,no,no\n3,yes,,yes\n4,no,yes,yes\n"


def command(*arguments: object, boot: int = 200):
    return CliRunner().invoke(app, [*map(str, arguments), "--boot", str(boot)])


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels whole and cut in two, in files of one name."""
    monkeypatch.chdir(tmp_path)
    header, *rows = LABELS.splitlines(keepends=True)
    for name, part in (("all", rows), ("one", rows[:1]), ("two", rows[1:])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "labels.csv").write_text(header + "".join(part))
    return tmp_path


def test_counts_of_two_machines_say_what_agreement_says_of_all_labels(machines: Path) -> None:
    for name in ("one", "two"):
        assert command(f"{name}/labels.csv", "--out", f"{name}.json").exit_code == 0
    one, two = machines / "one.json", machines / "two.json"
    result = command(one, two, one, "--json", "--out", "both.json")
    whole = CliRunner().invoke(agreement, ["all/labels.csv", "--boot", "200", "--json"])
    report, expected = json.loads(result.stdout)["agreement"][""], json.loads(whole.stdout)
    assert report["pairs"] == expected["pairs"]
    assert report["fleiss_kappa"] == expected["fleiss_kappa"]
    assert report["items_named"] is False
    assert command(two, one, "both.json", "--out", "again.json").exit_code == 0
    assert (machines / "again.json").read_bytes() == (machines / "both.json").read_bytes()


def test_a_file_that_has_changed_since_it_was_counted_is_an_error_and_a_name_tells_machines_apart(machines) -> None:
    command("one/labels.csv", "--out", "old.json")
    (machines / "one/labels.csv").write_text(LABELS)
    changed = command("one/labels.csv", "old.json")
    assert isinstance(changed.exception, InputError)
    assert "two parts are called 'one/labels.csv'" in str(changed.exception)
    named = command("one/labels.csv", "old.json", "--name", "second", "--out", "new.json")
    assert named.exit_code == 0
    parts = decoded_parts((machines / "new.json").read_bytes(), "new.json").parts
    assert list(parts) == ["one/labels.csv", "second/one/labels.csv"]


def test_attempts_in_a_file_and_in_a_run_of_repairs_are_counted_by_task(tmp_path: Path) -> None:
    file = tmp_path / "attempts.csv"
    file.write_text("task,passed\na,yes\na,no\nb,yes\nb,yes\nc,\n")
    run = repaired_run(tmp_path / "repaired", four(), evidence="generated")
    result = json.loads(command(file, run, "--system", "small", "--k", "1,2", "--json").stdout)
    repaired, small = result["systems"]
    assert (repaired["evidence"], repaired["at"][0]["pass_at_k"]["value"]) == ("generated", 0.5)
    assert (small["system"], small["n_tasks"], small["n_attempts"], small["answered"]) == ("small", 3, 5, 4)
    assert [one["n_tasks"] for one in small["at"]] == [2, 2]
    assert small["at"][1]["pass_hat_k"]["value"] == 0.5


def test_a_run_of_a_judge_is_counted_against_its_gold_labels(tmp_path: Path) -> None:
    benchmark = benchmark_of_runs(tmp_path / "gates", 6)
    verdicts = [verdict(number, "yes", score=0.9, seconds=2.0) for number in range(5)]
    refused = verdict(5, None, status="refused")
    run = judged_run(tmp_path / "judged", benchmark, [*verdicts, refused])
    result = json.loads(command(run, "--json").stdout)
    (judge,) = result["judges"]
    assert (judge["judge"], judge["n"], judge["answered"], judge["refused"]) == ("made_up", 6, 5, 1)
    assert judge["labels"]["yes"]["precision"]["value"] == 0.6
    assert judge["confusion"]["unanswered"] == [0, 1]
    (times,) = result["times"]
    assert (times["n"], times["unknown"]) == (5, 1)
    assert times["quantiles"][0]["least"] <= 2.0 < times["quantiles"][0]["below"]
    output = command(run).stdout
    assert "made_up gives the gold label on 60.0%" in output
    assert "Counts do not say which items hang together" in output


def test_sessions_are_counted_by_category_and_stratum(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    with_helper = json.loads(atif("three")) | {"subagent_trajectories": [json.loads(atif("helper"))]}
    runs.write_bytes(b"".join([atif("one"), atif("two"), json.dumps(with_helper).encode() + b"\n"]))
    classify_paths([runs], ClassifyPlan(("infinite_loop",), classify_all), tmp_path / "run")
    result = json.loads(command(tmp_path / "run", "--stratum", "agent", "--json").stdout)
    assert (result["sessions"]["n"], result["sessions"]["categories"][0]["count"]) == (3, 0)
    assert [one["n"] for one in result["strata"]["agent"].values()] == [3]
    assert result["sub_agents"]["n"] == 1


def test_what_cannot_be_counted_is_refused(tmp_path: Path) -> None:
    assert isinstance(command(tmp_path).exception, InputError)
    assert isinstance(command(tmp_path / "none.csv").exception, InputError)
    unfinished = repaired_run(tmp_path / "repaired", four(), finished=False)
    assert isinstance(command(unfinished).exception, UsageError)
