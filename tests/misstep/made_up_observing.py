"""A made-up observer whose records follow from the id alone, as fast or as slowly as a test needs it."""

import time
from zlib import crc32

from misstep.harness.records.intervention import Intervention, Invocation, Misbehaviour, ObservedRun
from misstep.harness.trajectory import Trajectory

SETTINGS = {"detector": "made_up", "every": 2}


def by_lot(trajectory: Trajectory) -> ObservedRun:
    """A record with two invocations, of which about every third sees a loop in step 1."""
    found = (Misbehaviour("infinite_loop", (1,), "Drawn by lot."),) if crc32(trajectory.id.encode()) % 3 == 0 else ()
    invocations = (Invocation(1, misbehaviours=found, answered_at=1), Invocation(2, answered_at=2))
    interventions = (Intervention(found, 1, withheld="shadow"),) if found else ()
    return ObservedRun(trajectory.id, "shadow", "made_up", 2, len(trajectory.steps), invocations, interventions)


def slowly(trajectory: Trajectory) -> ObservedRun:
    """As `by_lot`, after a millisecond of being busy, so that a run lasts long enough to be killed."""
    until = time.perf_counter() + 0.001
    while time.perf_counter() < until:
        pass
    return by_lot(trajectory)
