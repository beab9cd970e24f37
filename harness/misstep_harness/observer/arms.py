"""Draw whether a session, or all sessions of a project, hear guidance: by a hash, so that anybody can draw it again.

A session with `--arm-share 0.5` that does not hear guidance is observed all the same, and what it would have heard is
logged: it is a control.
"""

from hashlib import sha256

EXPERIMENT = "hook"
"""The name of the experiment where none is named."""


def hears_guidance(unit: str, experiment: str = EXPERIMENT, share: float = 1.0) -> bool:
    """Return whether a unit hears guidance: eight bytes of SHA-256 over `experiment:unit` are below the share of 2^64.

    The unit is the id of a session, or the path of a project. A unit that hears guidance at one share does so at any
    greater one.

    >>> [hears_guidance(f"session-{n}", "hook", 0.5) for n in range(4)]
    [True, True, False, False]
    >>> hears_guidance("session-0", "hook", 1.0), hears_guidance("session-1", "hook", 0.0)
    (True, False)
    """
    digest = sha256(f"{experiment}:{unit}".encode(errors="replace")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64
