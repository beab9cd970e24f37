"""Count how often one system tried one task, and how often it solved it."""

from msgspec import Struct


class Attempts(Struct, frozen=True):
    """One system on one task that it was tried on; `table` names the table of its set that the counts are in."""

    table: str
    system: str
    task: str
    tried: int
    solved: int
