"""Runs of made-up judges on a made-up benchmark of agents' runs, as folders, some of it hostile."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from misstep_harness.benchmarks.inputs import inputs_of
from misstep_harness.fault_mappings import FAULTS
from misstep_harness.journal.records import (
    SCHEMA,
    VERDICTS,
    Inputs,
    Manifest,
    encode,
    encode_lines,
    replace_file,
    write_manifest,
    written_in,
)
from misstep_harness.repair.records import ATTEMPT_RECORDS, RepairAttempt, Signal
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.triage.records import CASE, Evidence, TriageVerdict
from misstep_harness.verdict import Verdict

HOSTILE = (
    "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 2'> javascript:alert(1) \u202eturned"
)
"""Text that would run, load a picture and turn the direction if it were anything but text."""

LABELS = ("yes", "no")


def agents_run(number: int, steps: int = 6, text: str = "I look at the file again.") -> Trajectory:
    """A run in which the agent calls one tool in every step."""
    turns = tuple(
        Step(
            "agent",
            f"{text} ({step})",
            "I should look.",
            (ToolCall("bash", {"command": f"cat notes-{step}.txt"}, f"c{step}"),),
            (ToolResult(f"what is in note {step}", exit_code=step % 2, call_id=f"c{step}"),),
        )
        for step in range(steps)
    )
    return Trajectory(f"run-{number}", Source("atif", "runs.jsonl", number + 1), f"Mend gate {number}.", turns)


def benchmark_of_runs(
    folder: Path, n: int, run: Callable[[int], Trajectory] = agents_run, raters: Sequence[str] = ("ann",)
) -> Path:
    """A benchmark of n runs, those with an even number loops; the last of several raters disagrees on the first."""
    (folder / "runs").mkdir(parents=True)
    (folder / "benchmark.toml").write_text(
        'name = "gates"\nkind = "misbehaviour"\nlabels = ["yes", "no"]\npositive = "yes"\n'
    )
    with (folder / "items.jsonl").open("wb") as items, (folder / "runs" / "all.jsonl").open("wb") as runs:
        for number in range(n):
            one = run(number)
            runs.write(encode(one) + b"\n")
            item = {"id": f"item-{number}", "kind": "misbehaviour", "trajectory": "runs/all.jsonl"}
            items.write(encode(item | {"trajectory_id": one.id, "extra": {"site": "north"}}) + b"\n")
    rows = [
        f"item-{number},{rater},{LABELS[(number + (number == 0 and place > 0 and rater == raters[-1])) % 2]}\n"
        for number in range(n)
        for place, rater in enumerate(raters)
    ]
    (folder / "gold.csv").write_text("item,rater,label\n" + "".join(rows))
    return folder


def verdict(number: int, label: str | None = "yes", **fields: object) -> Verdict:
    """What a made-up judge says of an item."""
    return msgspec.convert({"item": f"item-{number}", "judge": "made_up", "label": label} | fields, Verdict)


def judged_run(
    folder: Path, benchmark: Path, verdicts: Sequence[Verdict], model: str = "small-1", about: str = "gates"
) -> Path:
    """The finished run of a judge that gave these verdicts."""
    asked = {"judge": verdicts[0].judge, **({"model": model} if model else {}), "benchmark": about}
    folder.mkdir(parents=True)
    replace_file(folder / VERDICTS, encode_lines(verdicts))
    time, where = "2026-01-01T10:00:00+00:00", str(benchmark.resolve())
    write_manifest(
        folder, Manifest(SCHEMA, "judge run", [], "0.1.0", "3.11.7", time, asked, inputs_of(benchmark), where, time)
    )
    return folder


GOLD = ("agent/timeout", "agent/logical_failure", "task/brittle_tests", "infrastructure/network_issue", "pass")


def triage_benchmark(folder: Path, n: int = 10, *, labelled: bool = True) -> Path:
    """A benchmark of n cases in families of five, with subcategories and construction, as the generator writes it."""
    items, gold, finer, made = [], [], [], []
    for number in range(n):
        name = f"case-{number}"
        label, _, subcategory = GOLD[number % len(GOLD)].partition("/")
        (folder / name).mkdir(parents=True)
        (folder / name / CASE).write_text(f'id = "{name}"\n')
        (folder / name / "trajectory.json").write_bytes(encode(agents_run(number, 4)))
        item = {"id": name, "kind": "triage", "trajectory": f"{name}/trajectory.json", "task": "Mend it."}
        items.append(item | {"extra": {"case": name}})
        gold.append(f"{name},construction,{label}\n")
        finer += [f"{name},construction,{subcategory}\n"] if subcategory else []
        made.append(f"{name},family-{number // len(GOLD)},scoring,plain,\n")
    labels = "".join(f'{label} = "{label}"\n' for label in FAULTS)
    (folder / "benchmark.toml").write_text(
        f'name = "cases"\nkind = "triage"\nevidence = "generated"\n[labels]\n{labels}'
    )
    (folder / "items.jsonl").write_bytes(encode_lines(items))
    (folder / "gold.csv").write_text("item,rater,label\n" + ("".join(gold) if labelled else ""))
    if labelled:
        (folder / "gold_subcategories.csv").write_text("item,rater,label\n" + "".join(finer))
        (folder / "gold_construction.csv").write_text("item,family,set,variant,partner\n" + "".join(made))
    return folder


def triage_run(folder: Path, benchmark: Path, answers: Sequence[str], judge: str = "triage@made-up") -> Path:
    """The finished run of a judge that gave these answers, each as `label/subcategory`; an empty one is left open."""
    evidence = (Evidence("log", "logs/tests.log:3", HOSTILE), Evidence("command", "python -m unittest", "FAILED"))
    verdicts = [
        TriageVerdict(
            f"case-{number}",
            judge,
            answer.partition("/")[0] or None,
            "answered" if answer else "abstained",
            rationale="It says so.",
            seconds=0.5,
            subcategory=answer.partition("/")[2],
            evidence=evidence,
            access="sandbox",
        )
        for number, answer in enumerate(answers)
    ]
    return judged_run(folder, benchmark, verdicts, model="", about="cases")


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
