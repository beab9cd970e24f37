"""Trials of Harbor: rewards as labels, and verifiers that wrote none."""

import json
from pathlib import Path

from misstep_harness.runs.judging.judge_import import written_verdicts
from tests.families.recordings import verdicts_of
from tests.harness.triage.runs.jobs import made_up_jobs


def test_each_reward_is_a_judge_and_its_number_the_label_and_without_one_a_trial_is_unreadable_or_failed(tmp_path):
    (tmp_path / "trials").write_bytes(verdicts_of("harbor"))
    results = {(one.item, one.judge): one for one in written_verdicts(tmp_path / "trials").verdicts}
    assert {key: one.label for key, one in results.items() if one.label is not None} == {
        ("gate__1", "reward"): "1",
        ("gate__1", "style"): "0.5",
        ("gate__2", "reward"): "0",
    }
    assert results["gate__1", "reward"].names["task_name"] == "gate"
    by_item = {item: one for (item, _), one in results.items()}
    assert [by_item[f"gate__{number}"].status for number in (3, 4, 5)] == ["unreadable", "failed", "unreadable"]
    assert by_item["gate__3"].error == "the trial has no reward: VerifierOutputParseError: reward.txt is empty"


def test_the_trials_of_a_job_folder_are_found_among_its_other_files(tmp_path: Path) -> None:
    job = made_up_jobs.harbor(tmp_path / "job")
    result = written_verdicts(job)
    assert result.forms == ("a trial of Harbor",)
    results = [json.loads(file.read_text()) for file in job.rglob("result.json")]
    assert {one.item for one in result.verdicts} == {one["trial_name"] for one in results if "trial_name" in one}
    assert result.skipped > 0
