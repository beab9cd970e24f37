"""Made-up runs of repairs as folders, some of what they say hostile."""

from collections.abc import Iterable
from pathlib import Path

from misstep.harness.journal.records import (
    ATTEMPT_RECORDS,
    SCHEMA,
    Inputs,
    Manifest,
    encode_lines,
    replace_file,
    write_manifest,
    written_in,
)
from misstep.harness.records.repair_attempt import RepairAttempt, Signal
from misstep.harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from tests.misstep.made_up_runs import HOSTILE

CASES = ("apple", "pear", "plum", "quince")


def repaired_run(
    folder: Path, attempts: Iterable[RepairAttempt], *, finished: bool = True, digest: str = "c4", **asked: object
) -> Path:
    """A run's folder."""
    folder.mkdir(parents=True)
    replace_file(folder / ATTEMPT_RECORDS.file, encode_lines(list(attempts)))
    settings = {"policy": "search", "setting": "react+tests", "format": "search_replace", "attempts": 1, **asked}
    manifest = Manifest(
        SCHEMA,
        "repair run",
        ["/home/ann/cases", "--out", str(folder)],
        "0.1.0",
        "3.11",
        "2026-03-01T10:00:00+00:00",
        settings,
        Inputs(4, 400, digest, parts=("apple/case.toml",)),
        "/home/ann/orchard",
        "2026-03-01T10:05:00+00:00" if finished else "",
        written_in(folder, ATTEMPT_RECORDS.file) if finished else None,
    )
    write_manifest(folder, manifest)
    return folder


def repaired(case: str, solved: bool | None = True, sample: int = 0, **fields: object) -> RepairAttempt:
    """An attempt with a trajectory, a patch and signals."""
    steps = (
        Step("agent", "I look.", calls=(ToolCall("read_file", {"file_path": f"{case}.py"}, "c0"),)),
        Step(
            "agent",
            HOSTILE,
            calls=(ToolCall("run_tests", {}, "c1"),),
            results=(ToolResult(f"1 failed in {case}", is_error=True, call_id="c1"),),
        ),
    )
    outcome = Outcome("passed" if solved else "failed")
    values: dict[str, object] = {
        "policy": "search",
        "setting": "react+tests",
        "format": "search_replace",
        "patched": True,
        "iterations": 2,
        "seconds": 1.5,
        "ended": "exit",
        "patch": f"--- a/{case}.py\n+++ b/{case}.py\n@@ -1 +1 @@\n-seeds = 0\n+seeds = 1  # {HOSTILE}\n",
        "rules": ("exact",),
        "signals": (Signal("oracle", solved, "" if solved else HOSTILE), Signal("static_analysis", None, "no checker")),
        "trajectory": Trajectory(case, Source("misstep"), f"Mend {case}.", steps, outcome, extra={"ended": "exit"}),
        **fields,
    }
    return RepairAttempt(case, sample=sample, solved=solved, **values)  # type: ignore[arg-type]


def four(solved: str = "apple pear", **fields: object) -> list[RepairAttempt]:
    """Attempts at four cases, those that are named solved."""
    return [repaired(case, case in solved.split(), **fields) for case in CASES]
