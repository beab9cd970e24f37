"""Compare `misstep classify` with Inspect Scout: the same sessions, the same rule, without a model.

The rule says yes if an agent makes the same call three times in a row and is told each time that it failed. It is
written twice, for either tool's own types: here, and in `in_scout.py`.
"""

import json
import os
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Usage, in_turn, measure, misstep

_PLANTED = 10
"""One of so many sessions shows what the rule looks for."""

_RULE = '''
"""Whether the same call fails three times in a row."""

from misstep import Trajectory, Verdict

CATEGORY = "repeated_failure"


def classify(trajectory: Trajectory) -> Verdict:
    """Yes where it does."""
    row, before = 0, None
    for number, step in enumerate(trajectory.steps):
        for call, result in zip(step.calls, step.results, strict=False):
            this = (call.name, call.arguments)
            row = (row + 1 if this == before else 1) if result.is_error else 0
            before = this
            if row == 3:
                return Verdict(trajectory.id, CATEGORY, "yes", steps=(number,))
    return Verdict(trajectory.id, CATEGORY, "no")
'''


def measure_beside_scout(folder: Path, python: Path | None, number: int, pairs: int) -> None:
    """Print seconds and memory of both, and whether they say the same of each session."""
    if python is None:
        print("\nInspect Scout is not measured: name the Python of its environment with --scout-python")
        return
    lines, lake, database = folder / "planted.jsonl", folder / "messages", folder / "database"
    _write_planted(lines, number)
    measure(misstep("pack", lines, "--workers", 1, "--out", lake, "--messages"))
    program = str(Path(__file__).with_name("in_scout.py"))
    measure([str(python), program, "insert", str(lake), str(database)])
    _install_rule(folder / "package")
    version = measure([str(python), "-c", "import inspect_scout; print(inspect_scout.__version__)"]).output.strip()
    numbers = count()

    def by_scout(path: Path) -> tuple[Usage, set[str]]:
        usage = measure([str(python), program, "scan", str(path), str(folder / f"scans-{next(numbers)}")])
        return usage, set(json.loads(usage.output.splitlines()[-1]))

    def by_misstep(path: Path) -> tuple[Usage, set[str]]:
        run = folder / f"run-{next(numbers)}"
        rule = ["--categories", "repeated_failure"]
        return measure(misstep("classify", path, "--workers", 1, "--out", run, *rule)), _flagged(run)

    files = {"its own database": database, "misstep pack --messages": lake}
    tools = {"Inspect Scout": by_scout, "Misstep": by_misstep}
    results = in_turn(
        {f"{tool}, {name}": partial(act, path) for name, path in files.items() for tool, act in tools.items()}, pairs
    )
    print(f"\n{number:,} sessions, one of {_PLANTED} with a call that fails three times, one process, with its start")
    print(f"{'':52}{'seconds':>9}{'sessions/s':>12}{'MiB':>8}{'yes':>7}{'same':>6}")
    expected = {f"made-up-{place:05}" for place in range(0, number, _PLANTED)}
    for name, rounds in results.items():
        middle, memory = median(one.seconds for one, _ in rounds), max(one.together_mib for one, _ in rounds)
        flagged = rounds[-1][1]
        same = "yes" if flagged == expected else "NO"
        print(f"{name:52}{middle:9.2f}{number / middle:12.0f}{memory:8.0f}{len(flagged):7,}{same:>6}")
    for name in files:
        both = zip(results[f"Inspect Scout, {name}"], results[f"Misstep, {name}"], strict=True)
        ratios = sorted(scout.seconds / own.seconds for (scout, _), (own, _) in both)
        print(f"{name}: Misstep is {median(ratios):.0f} times as fast ({ratios[0]:.0f} to {ratios[-1]:.0f})")
    print(f"inspect-scout {version}")


def _write_planted(file: Path, number: int) -> None:
    write_runs(file, number)
    lines = file.read_bytes().splitlines()
    with file.open("wb") as stream:
        for place, line in enumerate(lines):
            stream.write((_with_failures(line) if place % _PLANTED == 0 else line) + b"\n")


def _with_failures(line: bytes) -> bytes:
    run = msgspec.json.decode(line)
    last = len(run["steps"])
    for number in range(last + 1, last + 4):
        call = {"tool_call_id": f"call_{number}", "function_name": "bash", "arguments": {"command": "make check"}}
        result = {"source_call_id": call["tool_call_id"], "content": "no rule", "extra": {"is_error": True}}
        step = {"step_id": number, "source": "agent", "message": "Again.", "tool_calls": [call]}
        run["steps"].append(step | {"observation": {"results": [result]}})
    return msgspec.json.encode(run)


def _install_rule(folder: Path) -> None:
    info = folder / "repeated_failure-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "repeated_failure.py").write_text(_RULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: repeated-failure\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[misstep.classifiers]\nrepeated_failure = repeated_failure\n")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))


def _flagged(run: Path) -> set[str]:
    verdicts = map(msgspec.json.decode, (run / "verdicts.jsonl").read_bytes().splitlines())
    return {verdict["item"] for verdict in verdicts if verdict["label"] == "yes"}
