"""Small made-up inputs: trajectories in ATIF and a classifier whose answers the id decides."""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

from misstep_harness.intervention import Intervention, Invocation, Misbehaviour, ObservedRun
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

CATEGORIES = ("first", "second")
LONG = "A plank was carried to the far gate. " * 300
"""Text that makes a trajectory of some 30 kB, so that a few hundred of them make many batches."""


def atif(name: str, steps: int = 3, text: str = "look further") -> bytes:
    """One trajectory in ATIF, as one line."""
    turns = [{"step_id": 1, "source": "user", "message": "Mend the fence."}]
    turns += [
        {
            "step_id": number,
            "source": "agent",
            "message": f"{text} {number}",
            "tool_calls": [
                {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": f"ls {number}"}}
            ],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": "gate post"}]},
        }
        for number in range(2, steps + 1)
    ]
    agent = {"name": "made-up", "version": "1"}
    document = {"schema_version": "ATIF-v1.4", "session_id": name, "agent": agent, "steps": turns}
    return json.dumps(document).encode() + b"\n"


def atif_lines(path: Path, names: Iterable[str], steps: int = 3, text: str = "look further") -> Path:
    """Write a file of trajectories, one a line."""
    with path.open("wb") as stream:
        for name in names:
            stream.write(atif(name, steps, text))
    return path


def by_id(trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    """Verdicts that follow from the id alone: about a third yes, some not answered."""
    verdicts = []
    for category in categories:
        draw = crc32(f"{trajectory.id} {category}".encode()) % 7
        if draw == 6:
            verdicts.append(Verdict(trajectory.id, category, None, "abstained"))
        else:
            label = "yes" if draw < 2 else "no"
            verdicts.append(Verdict(trajectory.id, category, label, steps=(1,), rationale="Drawn by lot."))
    return verdicts


def slowly(trajectory: Trajectory, categories: Sequence[str]) -> list[Verdict]:
    """As `by_id`, after a millisecond of being busy, so that a run lasts long enough to be killed."""
    until = time.perf_counter() + 0.001
    while time.perf_counter() < until:
        pass
    return by_id(trajectory, categories)


SETTINGS = {"detector": "made_up", "every": 2}


def by_lot(trajectory: Trajectory) -> ObservedRun:
    """A record with two invocations, of which about every third sees a loop in step 1."""
    results = (Misbehaviour("infinite_loop", (1,), "Drawn by lot."),) if crc32(trajectory.id.encode()) % 3 == 0 else ()
    invocations = (Invocation(1, misbehaviours=results, answered_at=1), Invocation(2, answered_at=2))
    interventions = (Intervention(results, 1, withheld="shadow"),) if results else ()
    return ObservedRun(trajectory.id, "shadow", "made_up", 2, len(trajectory.steps), invocations, interventions)
