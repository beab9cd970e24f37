"""The dials of the reflexive loop and the mechanisms that can be left out."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.agent.protocols import TurnLimits
from misstep_harness.errors import UsageError
from misstep_harness.reflexive.records import Role

MECHANISMS: Mapping[str, str] = MappingProxyType(
    {
        "turn_budgets": "a turn may take any number of commands, any time and any tokens",
        "snapshots": "the worker's own script reverts a failed attempt, through the target's own access",
        "diagnostics": "the reflector learns that an attempt failed and sees no facts",
        "out_of_band": "vital signs are read through the target's own access alone",
        "plateau_by_content": "reflections count as the same only where their first sentences are equal",
        "re_engagement": "the strategist is never asked after the first plan",
        "time_budget": "an item may take three attempts, whatever they cost",
        "memory": "lessons are a list, shown from its end, without weights",
        "fresh_context": "an agent sees all that was said before, and the oldest falls out where it does not fit",
        "typed_evaluation": "an evaluator's text is searched for words",
        "strict_verdicts": "the strategist's answer is read by the first word that looks like a verdict",
        "halting": "a target that cannot be reached after its restoration is logged, and the run goes on",
        "verified_deferrals": "a deferred check is believed to pass, and nobody comes back to it",
        "ordering": "prerequisites, last items and SKIP_UNTIL are words in a prompt",
        "gap_detection": "a healthy target with a failing check is a failure like any other",
        "check_is_authoritative": "a passing check does not save a turn that went over its budget",
        "lesson_share": "new lessons may push out all those of earlier runs",
        "harmful_lessons": "a lesson stays however often what it advises fails",
        "protected_check": "a worker may change what the check consists of",
    }
)
"""Mechanism → what happens without it. The first nine stand for the eight failure modes; `out_of_band` is a part of
the third. The others are what the project learnt later or got wrong."""

ALL = "all"
"""Leaves out every mechanism."""


class ItemLimits(Struct, frozen=True):
    """What work on one item may take; `None` means unlimited."""

    seconds: float | None = 1200.0
    attempts: int | None = 100
    tokens: int | None = None
    usd: float | None = None


class LoopSettings(Struct, frozen=True):
    """All dials of the loop.

    - `failures_between`: After how many failures since the last time the strategist is asked.
    - `least_seconds_to_re_engage`, `least_seconds_to_reflect`: How much of the item's time must be left for that.
    - `gap_attempts`: How many failed checks on a healthy target, with as many unlike changes, make an evaluator gap.
    - `plateau_window`, `plateau_shared`: Over how many reflections, and how many words these must share.
    """

    item: ItemLimits = ItemLimits()
    turns: dict[Role, TurnLimits] = field(
        default_factory=lambda: {
            "planner": TurnLimits(tool_calls=0, seconds=120.0),
            "worker": TurnLimits(tool_calls=1, seconds=300.0),
            "reflector": TurnLimits(tool_calls=0, seconds=120.0),
            "strategist": TurnLimits(tool_calls=0, seconds=120.0),
        }
    )
    context_tokens: dict[Role, int] = field(
        default_factory=lambda: {"planner": 3_000, "worker": 5_500, "reflector": 4_500, "strategist": 5_000}
    )
    failures_between: int = 3
    least_seconds_to_re_engage: float = 120.0
    least_seconds_to_reflect: float = 60.0
    gap_attempts: int = 3
    plateau: str = "keywords"
    plateau_window: int = 3
    plateau_shared: int = 3
    lessons_stored: int = 500
    lessons_shown_tokens: int = 600
    without: frozenset[str] = frozenset()

    def has(self, mechanism: str) -> bool:
        """Return whether a mechanism is in place."""
        return mechanism not in self.without

    def with_commands(self, most: int | None) -> "LoopSettings":
        """Return the dials with so many commands of a worker in an attempt; `None` leaves them as they are."""
        if most is None:
            return self
        return replace(self, turns={**self.turns, "worker": replace(self.turns["worker"], tool_calls=most)})


def mechanisms_named(names: list[str]) -> frozenset[str]:
    """Return the mechanisms of a command line."""
    if ALL in names:
        return frozenset(MECHANISMS)
    for name in names:
        if name not in MECHANISMS:
            raise UsageError(f"unknown mechanism {name!r}", f"Known: {', '.join(MECHANISMS)}, {ALL}.")
    return frozenset(names)
