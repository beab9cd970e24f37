"""Evaluations of SWE-bench: a folder an instance with `report.json`, `test_output.txt`, `patch.diff` and its log.

They are below `logs/run_evaluation/<run>/<model>/`, or below `logs/` of a submission, whose runs are in `trajs/`
or beside it in a folder an instance, as SWE-agent leaves them.
An instance without a report was not evaluated to the end: its log says why.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from misstep_harness.triage.records import PATCH
from misstep_harness.triage.runs.jobs.trials import (
    JobTrial,
    RunBy,
    content_of,
    decoded,
    exported,
    first_run,
    folders_within,
    json_value,
    task_folder,
    text_of,
)

NAME = "a SWE-bench evaluation"

_REPORT, _LOG, _OUTPUT, _PATCH = "report.json", "run_instance.log", "test_output.txt", "patch.diff"
_DEPTH = 6
_TRAJECTORIES = "trajs"


def is_job(path: Path) -> bool:
    """Return whether a folder holds instances that were evaluated."""
    return next(_instances(path), None) is not None


def trials(path: Path) -> Iterator[JobTrial]:
    """Return the instances, then the predictions that have no folder; a patch that is empty is not evaluated."""
    predictions = _predictions(path)
    runs = [path, *(folder for folder in folders_within(path, 2) if folder.name == _TRAJECTORIES)]
    folders = list(_instances(path))
    several = len({folder.parent for folder in folders}) > 1
    for folder in folders:
        instance = folder.name
        report = _report_of(folder)
        patch = text_of(folder / _PATCH) or predictions.pop(instance, "")
        predictions.pop(instance, None)
        report_text = "" if report is None else msgspec.json.format(msgspec.json.encode(report), indent=1).decode()
        unfinished = "" if report is not None else "The evaluation has no report for this instance."
        roots, script = exported(folder, instance, task_folder(folder, instance)), text_of(folder / _SCRIPT)
        files = {"tests/eval.sh": script, "tests/required.txt": _required(report)}
        files |= {PATCH: patch} if patch.strip() else {}
        yield JobTrial(
            f"{instance}@{folder.parent.name}" if several else instance,
            instance,
            outcome=("passed" if report is not None and report["resolved"] is True else "failed"),
            run=first_run(*(file for place in runs for file in _of_instance(place, instance) if file not in folders)),
            logs={
                "tests.log": text_of(folder / _OUTPUT),
                "report.json": report_text,
                "patch.diff": patch,
                "harness.log": "\n".join(filter(None, (text_of(folder / _LOG), unfinished))),
            },
            files=files if script else {},
            roots=roots,
            run_by=RunBy("swe_bench_grade /tests/eval.sh", "/testbed", _GRADE) if roots and script else None,
        )
    for instance, patch in predictions.items():
        note = "" if patch.strip() else "The prediction has an empty patch, which is not evaluated."
        run = first_run(*(file for place in runs for file in _of_instance(place, instance)))
        yield JobTrial(instance, instance, outcome="failed", run=run, logs={"patch.diff": patch, "harness.log": note})


_SCRIPT = "eval.sh"
_GRADE = """swe_bench_grade() {
bash "$1" > /tmp/evaluation.log 2>&1
cat /tmp/evaluation.log
code=$(sed -n 's/.*>>>>> Test Exit Code: *\\([0-9]*\\).*/\\1/p' /tmp/evaluation.log | tail -n 1)
[ -s /tests/required.txt ] || return "${code:-1}"
while IFS= read -r name; do
    name="$name" awk '{
        line = $0; sub(/^[ \\t]+/, "", line); first = sub(/^(PASSED|XFAIL) +/, "", line); sub(/^test +/, "", line)
        rest = substr(line, length(ENVIRON["name"]) + 1)
        if (index(line, ENVIRON["name"]) != 1) next
        if (rest ~ (first ? "^( |$)" : "^ (.* )?(PASSED|XFAIL|passed|ok|OK)( +\\\\[ *[0-9]+%\\\\])?$")) seen = 1
    } END { exit !seen }' /tmp/evaluation.log && continue
    echo "not passed: $name"
    return 1
done < /tests/required.txt
}"""
"""Run the evaluation again; it passes where every test that has to pass is seen to pass: its status is before its name
or at the end of the line, and no longer name or message of a failure counts."""


def _required(report: dict[str, Any] | None) -> str:
    """Return the names of the tests that have to pass, a line each."""
    statuses = report.get("tests_status") if report is not None else None
    kinds = [statuses.get(name) for name in ("FAIL_TO_PASS", "PASS_TO_PASS")] if isinstance(statuses, dict) else []
    lists = [value for kind in kinds if isinstance(kind, dict) for value in kind.values()]
    names = [name for names in lists if isinstance(names, list) for name in names if isinstance(name, str)]
    return "".join(f"{name}\n" for name in names if "\n" not in name)


def _instances(path: Path) -> Iterator[Path]:
    for folder in folders_within(path, _DEPTH):
        if _report_of(folder) is not None or ((folder / _LOG).is_file() and (folder / _PATCH).is_file()):
            yield folder


def _report_of(folder: Path) -> dict[str, Any] | None:
    value = json_value(folder / _REPORT)
    report = value.get(folder.name) if isinstance(value, dict) else None
    return report if isinstance(report, dict) and "resolved" in report else None


def _predictions(path: Path) -> dict[str, str]:
    """Instance → patch of the predictions beside the evaluation."""
    patches: dict[str, str] = {}
    for file in sorted([*path.glob("*.jsonl"), *path.glob("*.json")]) if path.is_dir() else []:
        for value in _rows(file):
            if isinstance(value, dict) and isinstance(value.get("instance_id"), str) and "model_patch" in value:
                patches[value["instance_id"]] = str(value["model_patch"] or "")
    return patches


def _rows(file: Path) -> list[Any]:
    if file.suffix == ".json":
        value = json_value(file)
        return value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    return [decoded(line) for line in (content_of(file) or b"").splitlines()]


def _of_instance(place: Path, instance: str) -> list[Path]:
    return [child for child in sorted(place.iterdir()) if f"{child.name}.".startswith(f"{instance}.")]
