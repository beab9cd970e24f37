"""What agents say and harnesses note, drawn from one pool for all families and causes."""

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct


class _Wordings(Struct, frozen=True, forbid_unknown_fields=True):
    """The pools of `wordings.toml`: thoughts by the kind of a command, final summaries, notes of the harness."""

    look: tuple[str, ...]
    write: tuple[str, ...]
    check: tuple[str, ...]
    again: tuple[str, ...]
    summary: tuple[str, ...]
    harness: tuple[str, ...]


@cache
def wordings() -> _Wordings:
    """Return the pools."""
    return msgspec.toml.decode((Path(__file__).parent / "wordings.toml").read_bytes(), type=_Wordings)
