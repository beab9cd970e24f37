"""What an observer costs an agent, a step: `python -m benchmarks observer_speed`.

An agent walks through runs of 120 steps, joined from made-up ones of some 2 kB a step. It thinks for 5 ms between two
steps, so that the detector has time to work. Measured behind each step: how long the agent is kept (`after_action`),
and how much of the processor its thread uses beyond what it uses alone, the event loop's share included. The rules
detect in a process of their own; a stalled detector blocks its thread for good, a flooding one answers with megabytes.
"""

import asyncio
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import machine
from misstep.harness.agent.protocols import Watcher
from misstep.harness.no_model import NO_MODEL
from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.observer import Observer
from misstep.harness.protocols import Ask
from misstep.harness.readers import read_file
from misstep.harness.records.intervention import Feedback, Misbehaviour, ObservedRun
from misstep.harness.trajectory import Step, Trajectory

BOUND_MS = 1.0
RUNS = 12
STEPS = 120
THINKING = 0.005


class Stalled:
    """Blocks its thread for good."""

    name = "stalled"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Nothing, ever."""
        threading.Event().wait()
        raise AssertionError


class Flooding:
    """Finds thousands of misbehaviours with megabytes of text, at once."""

    name = "flooding"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        """Return all steps, thousands of times."""
        steps, text = tuple(range(len(trajectory.steps))), "x" * 1_000_000
        return Feedback((Misbehaviour("infinite_loop", steps, text),) * 5_000)


class Cost(Struct, frozen=True):
    """Milliseconds that the agent was kept, a step each; milliseconds of its thread's processor a step; answers."""

    kept: tuple[float, ...]
    processor: float
    answered: int


async def walk(steps: Sequence[Step], watcher: Watcher | None) -> tuple[list[float], float]:
    """An agent that takes these steps: how long it was kept behind each, and the processor time of its thread."""
    taken: list[Step] = []
    kept: list[float] = []
    began = time.thread_time()
    for step in steps:
        taken.append(step)
        if step.role != "agent":
            continue
        if watcher is not None:
            started = time.perf_counter()
            if (said := watcher.after_action(taken)) is not None:
                taken.append(said)
            kept.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(THINKING)
    used = time.thread_time() - began
    if watcher is not None:
        await watcher.end(taken)
    return kept, 1000 * used


async def cost(runs: Sequence[Trajectory], detector: str) -> Cost:
    """Return what a detector costs the agent of these runs."""
    kept: list[float] = []
    processor = 0.0
    observed: list[ObservedRun] = []
    async with DetectorProcess(detector, NO_MODEL) as process:
        for run in runs:
            observer = Observer(replace(run, steps=()), process)
            (_, alone), (each, watched) = await walk(run.steps, None), await walk(run.steps, observer)
            kept += each
            processor += watched - alone
            observed.append(observer.observed(run.steps))
    answered = sum(one.status == "answered" for run in observed for one in run.invocations)
    return Cost(tuple(kept), processor / len(kept), answered)


def joined_runs() -> list[Trajectory]:
    """Runs of `STEPS` steps, made of shorter ones."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.jsonl"
        write_runs(path, RUNS * STEPS // 20)
        found = [one for one in read_file(path) if isinstance(one, Trajectory)]
    steps = [step for run in found for step in run.steps]
    cut = [steps[first : first + STEPS] for first in range(0, RUNS * STEPS, STEPS)]
    return [replace(found[0], id=f"run-{number}", steps=tuple(part)) for number, part in enumerate(cut)]


def main() -> None:
    """Print what each detector costs."""
    runs = joined_runs()
    print(f"{len(runs)} runs of {STEPS} steps; {machine()}")
    for name, detector in {
        "rules": "rules",
        "stalled": f"{__spec__.name}:Stalled",
        "flooding": f"{__spec__.name}:Flooding",
    }.items():
        found = asyncio.run(cost(runs, detector))
        each = sorted(found.kept)
        mean = statistics.fmean(each)
        total = max(mean, found.processor)
        print(
            f"{name:9} kept {mean:6.3f} ms a step (median {each[len(each) // 2]:.3f}, 99 of 100 under "
            f"{each[len(each) * 99 // 100]:.3f}, most {each[-1]:.3f}); processor of the agent's thread "
            f"{found.processor:6.3f} ms a step; {found.answered} answers; "
            f"bound {BOUND_MS:g} ms: {'met' if total <= BOUND_MS else 'missed'}"
        )


if __name__ == "__main__":
    main()
