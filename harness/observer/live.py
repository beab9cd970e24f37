"""An observer in real time beside each run of an agent of ours: its detector works in a process of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from misstep.harness.observer.detector_process import DetectorProcess
from misstep.harness.observer.observer import Observer
from misstep.harness.observer.state import EVERY
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Arm
from misstep.harness.trajectory import Source, Trajectory


class LiveObservation(Struct, frozen=True):
    """How runs are observed while they go on."""

    detector: str
    every: int = EVERY
    arm: Arm = "guide"
    model: str = ""

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a record, in types of TOML."""
        values = {"detector": self.detector, "every": self.every, "mode": self.arm, "model": self.model}
        return {f"observe_{name}": value for name, value in values.items() if value}


@asynccontextmanager
async def live_observer(item: str, task: str, how: LiveObservation, ask: Ask) -> AsyncIterator[Observer]:
    """The observer of one run; its process ends with the block."""
    async with DetectorProcess(how.detector, ask) as process:
        yield Observer(Trajectory(item, Source("misstep"), task), process, every=how.every, arm=how.arm)
