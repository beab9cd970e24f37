"""Attempts: how often one system tried one task, and how often it solved it.

A set of outcomes is neither runs nor a judge's benchmark: it is a table of such counts, as pass@k takes them.
"""

from msgspec import Struct


class Attempts(Struct, frozen=True):
    """One system on one task; `table` names the table of its set that the counts are in.

    A task that a system was not tried on has no `Attempts` of it.
    """

    table: str
    system: str
    task: str
    tried: int
    solved: int
