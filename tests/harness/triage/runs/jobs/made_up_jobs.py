"""A made-up job of each public harness: one solved trial, one that failed, and one that the harness broke."""

import json
from pathlib import Path
from typing import Any

from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory

ASKED = "Sort the lines of words.txt."


def written(file: Path, content: Any) -> None:
    """A file with a text, or with JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


def session() -> Any:
    """A run in ATIF."""
    call = ToolCall("bash", {"command": "sort words.txt"}, "c1")
    steps = (Step("user", ASKED), Step("agent", "I sort.", calls=(call,), results=(ToolResult("a\nb", call_id="c1"),)))
    return to_atif(Trajectory("r1", Source("atif"), ASKED, steps, Outcome("failed"), agent="made-up", model="m"))


def harbor(folder: Path) -> Path:
    """A Harbor job of three trials."""
    raised = {
        "exception_type": "EnvironmentStartError",
        "exception_message": "the container did not start",
        "exception_traceback": "Traceback (most recent call last): …",
        "occurred_at": "2026-01-01T10:00:00",
    }
    results: dict[str, Any] = {
        "sort__a": {"verifier_result": {"rewards": {"reward": 1.0}}},
        "sort__b": {"verifier_result": {"rewards": {"reward": 0.0}}},
        "sort__c": {"verifier_result": None, "exception_info": raised},
    }
    written(folder / "config.json", {"jobs_dir": "jobs"})
    written(folder / "result.json", {"n_total_trials": 3, "stats": {}})
    for name, result in results.items():
        written(folder / name / "result.json", {"task_name": "sort", "trial_name": name, **result})
        written(folder / name / "config.json", {"trial_name": name})
        if name != "sort__c":
            written(folder / name / "agent/trajectory.json", session())
            written(folder / name / "verifier/test-stdout.txt", f"1 test of {name}")
    written(folder / "sort__b/artifacts/words.txt", "b\na\n")
    written(folder / "sort__c/trial.log", "starting the trial")
    return folder


def terminal_bench(folder: Path) -> Path:
    """A Terminal-Bench run of three trials; the last left no folder."""
    trials: list[dict[str, Any]] = [
        {"trial_name": "sort.1", "is_resolved": True, "failure_mode": "unset", "parser_results": {"test_a": "passed"}},
        {"trial_name": "sort.2", "is_resolved": False, "failure_mode": "unset", "parser_results": {"test_a": "failed"}},
        {"trial_name": "sort.3", "is_resolved": None, "failure_mode": "unknown_agent_error"},
    ]
    trials = [{"task_id": "sort", "instruction": ASKED, **trial} for trial in trials]
    written(folder / "results.json", {"results": trials, "accuracy": 1 / 3})
    for trial in trials[:2]:
        place = folder / "sort" / trial["trial_name"]
        written(place / "results.json", trial)
        written(place / "panes/post-test.txt", "FAILED test_a" if trial["is_resolved"] is False else "1 passed")
        written(place / "panes/post-agent.txt", "$ sort words.txt")
    written(folder / "sort/sort.1/commands.txt", "sort words.txt\n")
    for number in range(12):
        written(folder / f"sort/sort.2/agent-logs/episode-{number}/prompt.txt", f"screen {number}")
        written(folder / f"sort/sort.2/agent-logs/episode-{number}/response.txt", f"keys {number}")
    return folder


def swe_bench(folder: Path) -> Path:
    """A SWE-bench evaluation of two instances that were evaluated, one that was not, and one without a patch."""
    names = ["made__up-1", "made__up-2", "made__up-3", "made__up-4"]
    patches = {name: "" if name == names[3] else f"--- a/{name}.py\n+++ b/{name}.py\n" for name in names}
    rows = [{"instance_id": name, "model_name_or_path": "m", "model_patch": patch} for name, patch in patches.items()]
    written(folder / "predictions.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    for number, name in enumerate(names[:3]):
        place = folder / "logs/run_evaluation/first/m" / name
        written(place / "patch.diff", patches[name])
        written(place / "run_instance.log", "Test runtime: 3 seconds" if number < 2 else "BuildImageError: no space")
        if number < 2:
            report = {"patch_exists": True, "patch_successfully_applied": True, "resolved": number == 0}
            written(place / "report.json", {name: report})
            written(place / "test_output.txt", "FAILED tests/test_a.py" if number else "1 passed")
    written(folder / "trajs" / f"{names[1]}.json", session())
    return folder


def nemo_gym(folder: Path) -> Path:
    """A file of two NeMo Gym rollouts, and one of a rollout that failed."""
    asked = {"input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]}
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "I should sort."}]},
        {"type": "function_call", "name": "bash", "call_id": "c1", "arguments": '{"command": "sort words.txt"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a\nb"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sorted."}]},
    ]
    rows = [
        {
            "responses_create_params": asked,
            "response": {"output": output},
            "reward": reward,
            "_ng_task_index": 0,
            "_ng_rollout_index": number,
            "expected": "sorted",
        }
        for number, reward in enumerate([1.0, 0.0])
    ]
    failed = {"responses_create_params": asked, "_ng_failure_class": "timeout", "_ng_task_index": 1}
    written(folder / "rollouts.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    written(folder / "rollouts_failures.jsonl", f"{json.dumps(failed)}\n")
    return folder
