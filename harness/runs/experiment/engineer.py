"""The simulated engineer: somebody who looks on, loses patience with a misbehaviour and says so."""

from collections.abc import Callable, Sequence

from misstep.harness.agent.protocols import Watcher
from misstep.harness.generate.voice import Voice
from misstep.harness.trajectory import Step


class Engineer:
    """Steers the agent once a misbehaviour has lasted for so many of its commands.

    The engineer sees what goes on without fail, and what the agent is told by an engineer it does.

    - `slipping`: The categories of what goes on now, each with the number of its commands.
    - `patience`: After how many of them the engineer steps in.
    - `voice`: How the engineer speaks.
    """

    def __init__(self, slipping: Callable[[], Sequence[tuple[str, int]]], patience: int, voice: Voice) -> None:
        self._slipping = slipping
        self._patience = patience
        self._voice = voice
        self.interventions = 0

    def after_action(self, steps: Sequence[Step]) -> Step | None:  # noqa: ARG002
        """Return a turn of the user, if patience is at its end."""
        if all(count < self._patience for _, count in self._slipping()):
            return None
        self.interventions += 1
        return Step("user", self._voice.say("steering"))

    async def end(self, steps: Sequence[Step]) -> None:
        """Nothing is left to stop."""


class Watchers:
    """Several who look on: the first that has something to say is heard, the others after the next command."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Return what the first of them says."""
        return next((said for each in self._watchers if (said := each.after_action(steps)) is not None), None)

    async def end(self, steps: Sequence[Step]) -> None:
        """Tell all of them that the run is over."""
        for each in self._watchers:
            await each.end(steps)
