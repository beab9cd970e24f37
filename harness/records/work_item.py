"""A work item of the reflexive loop, and how work on it ended: what a skill, the loop, its log and its report share."""

from typing import Literal

from msgspec import Struct

End = Literal["solved", "time_budget", "attempt_cap", "escalated", "failed"]
"""How an item ended, in the words of `reflect run --json`; `Ending.reason` says more."""

Reason = Literal[
    "check_passed",
    "verified_later",
    "time_budget",
    "attempt_cap",
    "token_budget",
    "cost_budget",
    "strategist_escalated",
    "evaluator_gap",
    "prerequisite_unsolved",
    "verification_failed",
    "unverified",
    "target_unrecoverable",
    "believed_solved",
]
"""The one reason for an end.

`verified_later` is a deferred check that passed. `evaluator_gap` is an escalation because the target was healthy while
the check failed after unlike changes. `unverified` is a deferred check that never came to a result. `believed_solved`
is a success that only an evaluator without types saw.
"""

Resource = Literal[
    "tool_calls", "seconds", "sleeping_seconds", "sub_agents", "output_tokens", "attempts", "tokens", "usd"
]
"""What a turn or an item may run out of."""


class WorkItem(Struct, frozen=True, omit_defaults=True):
    """One thing to bring about on the target, such as a rule of a hardening guide.

    - `id`: Its name, unique in its skill.
    - `category`: Its kind, for memory and for the report.
    - `text`: The text that agents are told.
    - `after`: The ids of the items that must be solved before.
    - `last`: Its place behind all items that are not marked so, as it would get in their way.
    - `deferred`: Its check can only be made later, such as after a restart.
    """

    id: str
    category: str
    text: str
    after: tuple[str, ...] = ()
    last: bool = False
    deferred: bool = False


class Ending(Struct, frozen=True, omit_defaults=True):
    """How an item ended: the end, its one reason, and a sentence for people."""

    end: End
    reason: Reason
    text: str = ""
