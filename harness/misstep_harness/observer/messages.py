"""What an observer and the process of its detector say to each other, as JSON.

observer                        process
Detect(run, from step 0)   →
                           ←    Question(1, request)         a detector may ask a model: with the observer's key,
Answer(1, reply)           →                                 cost limit and records, none of which it ever sees
                           ←    Detected(feedback)
Detect(…, from step 6)     →                                 steps that it has are not sent again
"""

import json

import msgspec
from msgspec import Struct

from misstep_harness.clients import open_client
from misstep_harness.clients.settings import ClientSettings
from misstep_harness.escaping import without_surrogates
from misstep_harness.exchange import Failure, Outcome, Reply, Request
from misstep_harness.intervention import Feedback
from misstep_harness.trajectory import Step, Trajectory


class ModelAsk:
    """Asks one model, each time with a client of its own: whoever asks may have no event loop."""

    def __init__(self, model: str, settings: ClientSettings) -> None:
        self.model, self._settings = model, settings

    async def __call__(self, request: Request) -> Outcome:
        """Return the model's answer, or why there is none."""
        client = open_client(self._settings)
        try:
            return await client.ask(request)
        finally:
            await client.close()


MOST_BYTES = 1 << 20
"""The longest message that an observer takes."""


class Detect(Struct, frozen=True, tag=True):
    """The run so far: all but its steps, and its steps from one on."""

    run: Trajectory
    start: int
    steps: tuple[Step, ...]


class DetectorAnswer(Struct, frozen=True, tag=True):
    """What a model answered to a question; exactly one of the two."""

    number: int
    reply: Reply | None = None
    failure: Failure | None = None


class DetectorQuestion(Struct, frozen=True, tag=True):
    """What the detector asks a model."""

    number: int
    request: Request


class Detected(Struct, frozen=True, tag=True):
    """What the detector found."""

    feedback: Feedback


class DetectorBroken(Struct, frozen=True, tag=True):
    """The detector failed, and why."""

    error: str


ToProcess = Detect | DetectorAnswer
ToObserver = DetectorQuestion | Detected | DetectorBroken

to_process = msgspec.json.Decoder(ToProcess).decode
to_observer = msgspec.json.Decoder(ToObserver).decode


def encoded(message: ToProcess | ToObserver) -> bytes:
    """Return a message as it is sent; half a character, which JSON cannot hold, becomes U+FFFD."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:
        return without_surrogates(json.dumps(msgspec.to_builtins(message), ensure_ascii=False)).encode()
