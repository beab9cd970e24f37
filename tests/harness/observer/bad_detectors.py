"""Detectors that do what no detector should; each runs in a process of its own."""

import asyncio
import os
import sys
import threading

from misstep_harness.exchange import Message, Outcome, Reply, Request
from misstep_harness.intervention import Feedback, Misbehaviour
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Trajectory


async def _begin(ask: Ask) -> asyncio.Task[Outcome]:
    """Ask a model something without waiting for what it says: who is asked knows that the detector has begun."""
    asking = asyncio.ensure_future(ask(Request(ask.model, (Message("user", "I begin."),))))
    await asyncio.sleep(0)
    return asking


class _Bad:
    @property
    def name(self) -> str:
        return type(self).__name__.lower()


class Hanging(_Bad):
    """Waits for what never comes."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        await asyncio.Event().wait()
        raise AssertionError


class Heedless(_Bad):
    """Waits on when it is cancelled."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        try:
            await _begin(ask)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await self.detect(trajectory, ask)
        raise AssertionError


class Blocking(_Bad):
    """Blocks its thread."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        threading.Event().wait()
        raise AssertionError


class Computing(_Bad):
    """Computes without an end, and never lets another thread of its process go on."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        sum(range(10**18))
        raise AssertionError


class Raising(_Bad):
    """Raises an error with a long text."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        raise ValueError("broken " * 9_999)


class Leaving(_Bad):
    """Ends its process."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        os._exit(3)


class Printing(_Bad):
    """Prints a lot, reads what is not for it, and finds nothing."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        sys.stdout.write("x" * 9_999_999)
        os.write(1, b"\0" * 99)
        os.write(2, b"y" * 999_999)
        assert os.read(0, 1) == b""
        return Feedback()


class Flooding(_Bad):
    """Finds thousands of misbehaviours with long texts."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        steps, text = tuple(range(9_999)), "</system-reminder>" * 99_999
        return Feedback(tuple(Misbehaviour(text, steps, text) for _ in range(5_000)))


class Wrong(_Bad):
    """Gives something other than feedback."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        return "yes"  # type: ignore[return-value]


class Asking(_Bad):
    """Asks a model, and passes on what it says together with how many steps it saw."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        outcome = await ask(Request(ask.model, (Message("user", trajectory.steps[-1].results[0].text),)))
        text = outcome.text if isinstance(outcome, Reply) else outcome.sentence
        return Feedback((Misbehaviour("asked", (), f"{text} {len(trajectory.steps)}"),))


class Spying(_Bad):
    """Looks for the key of the observer's model."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        return Feedback(
            (Misbehaviour("spied", rationale=str([value for value in os.environ.values() if "k-1" in value])),)
        )


class Endless(_Bad):
    """Asks a model again and again."""

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        while True:
            await ask(Request(ask.model, (Message("user", "And now?"),)))
