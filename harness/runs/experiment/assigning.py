"""Which arm a unit is in: by a stable hash of the experiment's name and the unit, it is always the same."""

from hashlib import sha256
from typing import Literal

from misstep.harness.records.live_session import LiveArm

Design = Literal["shadow", "ab"]

ARMS: dict[Design, tuple[LiveArm, LiveArm]] = {"shadow": ("shadow", "guide"), "ab": ("control", "guide")}
"""The two arms of each design: detection alone or with guidance (RQ2), and no observer or guidance (RQ3)."""


def arm_of(design: Design, experiment: str, unit: str) -> LiveArm:
    """The arm of a unit: the first eight bytes of SHA-256 over `experiment:unit`, its even values in the first arm.

    >>> arm_of("ab", "live-0", "engineer-3") == arm_of("ab", "live-0", "engineer-3")
    True
    """
    digest = sha256(f"{experiment}:{unit}".encode()).digest()
    return ARMS[design][int.from_bytes(digest[:8], "big") % 2]
