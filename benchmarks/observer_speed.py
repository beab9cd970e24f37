"""Measure what an observer costs an agent a step, and its hook a call: `python -m benchmarks observer_speed`.

Behind each step: how long the agent is kept (`after_action`), and how much of the processor its thread uses beyond what
it uses alone. The agent thinks for 5 ms between two steps, so that the detector has time to work.

A call of the hook is a process, timed from start to end beside a bare `python -c pass` right before it.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import verdict
from misstep.harness.agent.protocols import Watcher
from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.observer import Observer
from misstep.harness.protocols import Ask
from misstep.harness.readers import read_file
from misstep.harness.records.intervention import Feedback, Misbehaviour
from misstep.harness.trajectory import Step, Trajectory

_HERE = "benchmarks.observer_speed"
BOUND_MS, RUNS, STEPS, THINKING = 1.0, 12, 120, 0.005
HOOK_BOUND_MS, HOOK_CALLS = 100.0, 41


class Stalled:
    """Detector that blocks its thread for good."""

    name = "stalled"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Never answer."""
        threading.Event().wait()
        raise AssertionError


class Flooding:
    """Detector that finds thousands of misbehaviours with megabytes of text, at once."""

    name = "flooding"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Answer with all steps, thousands of times."""
        steps, text = tuple(range(len(trajectory.steps))), "x" * 1_000_000
        return Feedback((Misbehaviour("infinite_loop", steps, text),) * 5_000)


async def walk(steps: Sequence[Step], watcher: Watcher | None) -> tuple[list[float], float]:
    """Take these steps; returns the milliseconds of waiting behind each, and those of the thread's processor."""
    history: list[Step] = []
    waits: list[float] = []
    began = time.thread_time()
    for step in steps:
        history.append(step)
        if step.role != "agent":
            continue
        if watcher is not None:
            started = time.perf_counter()
            if (reminder := watcher.after_action(history)) is not None:
                history.append(reminder)
            waits.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(THINKING)
    used = time.thread_time() - began
    if watcher is not None:
        await watcher.end(history)
    return waits, 1000 * used


async def cost(runs: Sequence[Trajectory], detector: str) -> tuple[list[float], float, int]:
    """Return the milliseconds that the agent was kept at each step, those of its thread's processor, and answers."""
    waits: list[float] = []
    processor, answered = 0.0, 0
    async with DetectorProcess(detector, NO_MODEL) as process:
        for run in runs:
            observer = Observer(replace(run, steps=()), process)
            (_, alone), (each, watched) = await walk(run.steps, None), await walk(run.steps, observer)
            waits += each
            processor += watched - alone
            answered += sum(one.status == "answered" for one in observer.observed(run.steps).invocations)
    return sorted(waits), processor / len(waits), answered


def joined_runs() -> list[Trajectory]:
    """Join shorter runs to runs of `STEPS` steps."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        write_runs(path, RUNS * STEPS // 20)
        shorter = [one for one in read_file(path) if isinstance(one, Trajectory)]
    steps = [step for run in shorter for step in run.steps]
    parts = [steps[first : first + STEPS] for first in range(0, RUNS * STEPS, STEPS)]
    return [replace(shorter[0], id=f"run-{number}", steps=tuple(part)) for number, part in enumerate(parts)]


def hook_calls(*options: str) -> list[float]:
    """Return the milliseconds that calls of the hook take beyond a bare interpreter, each beside its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        write_runs(path, 1)
        event = {"session_id": "s", "transcript_path": str(path), "hook_event_name": "PostToolUse", "cwd": folder}
        line = [sys.executable, "-m", "misstep", "observe", "--hook", *options]
        environment = os.environ | {"MISSTEP_CACHE": folder}

        def call(line: list[str], name: str = "PostToolUse") -> float:
            started = time.perf_counter()
            data = json.dumps(event | {"hook_event_name": name}).encode()
            subprocess.run(line, input=data, env=environment, check=True, stdout=subprocess.DEVNULL)
            return 1000 * (time.perf_counter() - started)

        call(line)
        beyond = [-call([sys.executable, "-c", "pass"]) + call(line) for _ in range(HOOK_CALLS)]
        call(line, "SessionEnd")
    return sorted(beyond)


def main() -> None:
    """Print what each detector costs."""
    for options in ((), ("--detector", "prompted", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")):
        beyond = hook_calls(*options)
        middle = statistics.median(beyond)
        most = f"9 of 10 under {beyond[len(beyond) * 9 // 10]:.1f}, most {beyond[-1]:.1f}"
        print(
            f"hook, {options[1] if options else 'rules':9} median {middle:5.1f} ms a call beyond `python -c pass` "
            f"({most}) {verdict(middle, HOOK_BOUND_MS)}"
        )
    runs = joined_runs()
    print(f"{len(runs)} runs of {STEPS} steps")
    for detector in ("rules", f"{_HERE}:Stalled", f"{_HERE}:Flooding"):
        waits, processor, answered = asyncio.run(cost(runs, detector))
        mean = statistics.fmean(waits)
        print(
            f"{detector.rpartition(':')[2].lower():9} kept {mean:6.3f} ms a step (median {waits[len(waits) // 2]:.3f}, "
            f"99 of 100 under {waits[len(waits) * 99 // 100]:.3f}, most {waits[-1]:.3f}); processor of the agent's "
            f"thread {processor:6.3f} ms a step {verdict(max(mean, processor), BOUND_MS)}; {answered} answers"
        )
