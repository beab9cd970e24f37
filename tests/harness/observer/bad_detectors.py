"""Detectors that do what no detector should; each runs in a process of its own."""

import asyncio
import os
import sys
import threading

from misstep.harness.exchange import Message, Outcome, Reply, Request
from misstep.harness.protocols import Ask
from misstep.harness.records.intervention import Feedback, Misbehaviour
from misstep.harness.trajectory import Trajectory


async def _begin(ask: Ask) -> asyncio.Task[Outcome]:
    """Ask a model something without waiting for what it says: who is asked knows that the detector has begun."""
    asking = asyncio.ensure_future(ask(Request(ask.model, (Message("user", "I begin."),))))
    await asyncio.sleep(0)
    return asking


class Hanging:
    """Waits for what never comes."""

    name = "hanging"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        await asyncio.Event().wait()
        raise AssertionError


class Heedless:
    """Waits on when it is cancelled."""

    name = "heedless"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        try:
            await _begin(ask)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await self.detect(trajectory, ask)
        raise AssertionError


class Blocking:
    """Blocks its thread."""

    name = "blocking"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        threading.Event().wait()
        raise AssertionError


class Computing:
    """Computes without an end, and never lets another thread of its process go on."""

    name = "computing"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await _begin(ask)
        sum(range(10**18))
        raise AssertionError


class Raising:
    """Raises an error with a long text."""

    name = "raising"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        raise ValueError("broken " * 9_999)


class Leaving:
    """Ends its process."""

    name = "leaving"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        os._exit(3)


class Printing:
    """Prints a lot, reads what is not for it, and finds nothing."""

    name = "printing"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        sys.stdout.write("x" * 9_999_999)
        os.write(1, b"\0" * 99)
        os.write(2, b"y" * 999_999)
        assert os.read(0, 1) == b""
        return Feedback()


class Flooding:
    """Finds thousands of misbehaviours with long texts."""

    name = "flooding"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        steps, text = tuple(range(9_999)), "</system-reminder>" * 99_999
        return Feedback(tuple(Misbehaviour(text, steps, text) for _ in range(5_000)))


class Wrong:
    """Gives what is no feedback."""

    name = "wrong"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        return "yes"  # type: ignore[return-value]


class Asking:
    """Asks a model, and passes on what it says together with how many steps it saw."""

    name = "asking"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:
        outcome = await ask(Request(ask.model, (Message("user", trajectory.steps[-1].results[0].text),)))
        said = outcome.text if isinstance(outcome, Reply) else outcome.sentence
        return Feedback((Misbehaviour("asked", (), f"{said} {len(trajectory.steps)}"),))


class Spying:
    """Looks for the key of the observer's model."""

    name = "spying"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        return Feedback(
            (Misbehaviour("spied", rationale=str([value for value in os.environ.values() if "k-1" in value])),)
        )


class Nagging:
    """Asks a model again and again."""

    name = "nagging"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        while True:
            await _begin(ask)


class Shouting:
    """Asks a model something that is megabytes long."""

    name = "shouting"

    async def detect(self, trajectory: Trajectory, ask: Ask) -> Feedback:  # noqa: ARG002
        await ask(Request(ask.model, (Message("user", "x" * 2_000_000),)))
        return Feedback()
