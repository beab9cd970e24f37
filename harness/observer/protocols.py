"""Protocol of a detector of misbehaviour; any object with these members qualifies."""

from typing import Protocol

from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Feedback
from misstep.harness.trajectory import Trajectory


class Detector(Protocol):
    """What tells of a run so far whether it shows misbehaviour, and which."""

    @property
    def name(self) -> str:
        """Return its name in records."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        """Return what the run shows up to its last step.

        It may take as long as it likes and raise whatever it likes: the agent does not wait for it.
        """
