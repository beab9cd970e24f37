"""What an observer and the process of its detector say to each other: JSON behind its length in four bytes.

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

from misstep.harness.escaping import without_surrogates
from misstep.harness.exchange import Failure, Reply, Request
from misstep.harness.records.intervention import Feedback
from misstep.harness.trajectory import Step, Trajectory

HEAD = 4
"""Bytes of a length."""

MOST_BYTES = 1 << 20
"""The longest message that an observer takes: decoding it takes a millisecond of the agent's thread."""


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

_encoder = msgspec.json.Encoder()


def framed(message: ToProcess | ToObserver) -> bytes:
    """Return a message as it is sent; half a character, which JSON cannot hold, becomes U+FFFD."""
    try:
        content = _encoder.encode(message)
    except UnicodeEncodeError:
        content = without_surrogates(json.dumps(msgspec.to_builtins(message), ensure_ascii=False)).encode()
    return len(content).to_bytes(HEAD, "big") + content


def length_of(head: bytes) -> int:
    """Return how many bytes follow."""
    return int.from_bytes(head, "big")
