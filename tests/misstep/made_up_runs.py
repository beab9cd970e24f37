"""Runs of made-up judges on a made-up benchmark of agents' runs, as folders, some of it hostile."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from misstep.harness.journal.records import (
    SCHEMA,
    VERDICTS,
    Manifest,
    encode,
    encode_lines,
    replace_file,
    write_manifest,
)
from misstep.harness.runs.judging.benchmark_inputs import inputs_of
from misstep.harness.trajectory import Source, Step, ToolCall, ToolResult, Trajectory
from misstep.harness.verdict import Verdict

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


def judged_run(folder: Path, benchmark: Path, verdicts: Sequence[Verdict], model: str = "small-1") -> Path:
    """The finished run of a judge that gave these verdicts."""
    folder.mkdir(parents=True)
    replace_file(folder / VERDICTS, encode_lines(verdicts))
    asked = {"judge": verdicts[0].judge, "model": model, "benchmark": "gates"}
    time = "2026-01-01T10:00:00+00:00"
    inputs, where = inputs_of(benchmark), str(benchmark.resolve())
    write_manifest(folder, Manifest(SCHEMA, "judge run", [], "0.1.0", "3.11.7", time, asked, inputs, where, time))
    return folder
