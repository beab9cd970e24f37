"""A rollout: which cases an agent's patches are handed out of, while it is tried on a growing share of them (7.3).

Each case has a place between 0 and 1 by a hash of its name, so that a smaller share lies in every larger one, and what
was reviewed stays in.
"""

from hashlib import sha256

SHARES = (0.1, 0.5, 1.0)
"""The shares of the paper's rollout."""

_PLACES = 2**64


def in_share(case: str, share: float, seed: int = 0) -> bool:
    """Return whether a case is in a share: the first eight bytes of SHA-256 over `seed:case`, as a part of the most.

    >>> in_share("task-7", 1.0)
    True
    """
    digest = sha256(f"{seed}:{case}".encode("utf-8", "surrogateescape")).digest()
    return int.from_bytes(digest[:8], "big") / _PLACES < share or share >= 1
