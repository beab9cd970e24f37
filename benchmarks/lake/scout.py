"""`misstep classify` beside Inspect Scout: the same sessions in the same files, and the same rule, without a model.

The rule says yes where an agent makes the same call three times in a row and is told each time that it failed. It is
written twice, for either tool's own types: here, and in `in_scout/scan.py`. Inspect Scout writes its database with its
own library; both then read that database, and a folder that `misstep pack --messages` wrote.
"""

import json
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.lake.commands import classify, pack, with_package
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Taken, measure

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
    pack(lines, lake, 1, "--messages")
    here = Path(__file__).parent / "in_scout"
    measure([str(python), str(here / "insert.py"), str(lake), str(database)])
    _install_rule(folder / "package")
    version = measure([str(python), "-c", "import inspect_scout; print(inspect_scout.__version__)"]).output.strip()
    print(
        f"\n{number:,} sessions, one of {_PLANTED} with the same failing call three times, one process, with its start"
    )
    print(f"{'':52}{'seconds':>9}{'sessions/s':>12}{'MiB':>8}{'yes':>7}{'same':>6}")
    taken: dict[str, list[Taken]] = {}
    said: dict[str, set[str]] = {}
    for pair in range(pairs):
        for files, path in (("its own database", database), ("misstep pack --messages", lake)):
            for tool in ("Inspect Scout", "Misstep"):
                name = f"{tool}, {files}"
                if tool == "Misstep":
                    run = folder / f"{files}-{pair}"
                    one = classify(path, run, 1, "--categories", "repeated_failure")
                    said[name] = _flagged(run)
                else:
                    scans = folder / f"scans-{files}-{pair}"
                    one = measure([str(python), str(here / "scan.py"), str(path), str(scans)])
                    said[name] = set(json.loads(one.output.splitlines()[-1]))
                taken.setdefault(name, []).append(one)
    expected = {f"made-up-{place:05}" for place in range(0, number, _PLANTED)}
    for name, all_taken in taken.items():
        seconds, memory = median(one.seconds for one in all_taken), max(one.together_mib for one in all_taken)
        same = "yes" if said[name] == expected else "NO"
        print(f"{name:52}{seconds:9.2f}{number / seconds:12.0f}{memory:8.0f}{len(said[name]):7,}{same:>6}")
    for files in ("its own database", "misstep pack --messages"):
        both = zip(taken[f"Inspect Scout, {files}"], taken[f"Misstep, {files}"], strict=True)
        ratios = sorted(scout.seconds / own.seconds for scout, own in both)
        print(f"{files}: Misstep is {median(ratios):.0f} times as fast ({ratios[0]:.0f} to {ratios[-1]:.0f})")
    print(f"inspect-scout {version}")


def _write_planted(file: Path, number: int) -> None:
    write_runs(file, number)
    lines = file.read_bytes().splitlines()
    with file.open("wb") as stream:
        for place, line in enumerate(lines):
            stream.write((_with_failures(line) if place % _PLANTED == 0 else line) + b"\n")


def _with_failures(line: bytes) -> bytes:
    """Return a session whose agent ends with one call that fails three times in a row."""
    run = msgspec.json.decode(line)
    last = len(run["steps"])
    for number in range(last + 1, last + 4):
        call = {"tool_call_id": f"call_{number}", "function_name": "bash", "arguments": {"command": "make check"}}
        result = {"source_call_id": call["tool_call_id"], "content": "no rule", "extra": {"is_error": True}}
        step = {"step_id": number, "source": "agent", "message": "Again.", "tool_calls": [call]}
        run["steps"].append(step | {"observation": {"results": [result]}})
    return msgspec.json.encode(run)


def _install_rule(folder: Path) -> None:
    """The rule as a package of its own, found as an installed one is."""
    info = folder / "repeated_failure-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "repeated_failure.py").write_text(_RULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: repeated-failure\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[misstep.classifiers]\nrepeated_failure = repeated_failure\n")
    with_package(folder)


def _flagged(run: Path) -> set[str]:
    verdicts = map(msgspec.json.decode, (run / "verdicts.jsonl").read_bytes().splitlines())
    return {verdict["item"] for verdict in verdicts if verdict["label"] == "yes"}
