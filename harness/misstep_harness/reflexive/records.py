"""Settings of the reflexive loop, its mechanisms, and the events that its runs write.

The events of a run are the lines of its log, from which a report is rebuilt whole.

    {"number":14,"at":182.5,"item":"sudoers-nopasswd","attempt":2,"happened":{"event":"checked","healthy":true,…}}

The log is append-only. It has all that the loop knows at any moment: a run that was killed goes on from it.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from misstep_harness.agent.protocols import Resource, TurnLimits
from misstep_harness.errors import UsageError
from misstep_harness.journal.records import Records

EARLIER = "earlier"
"""The folder of an ablation's runs whose lessons all others begin with."""

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


Role = Literal["planner", "worker", "reflector", "strategist"]


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


ATTEMPTS_WITHOUT_TIME = 3
"""What an item may take where time is not bounded: the cap that the Reflexion paper made common."""


def limits_of(settings: LoopSettings) -> ItemLimits:
    """Return what an item may take; without time budgets a few attempts, whatever they cost."""
    if settings.has("time_budget"):
        return settings.item
    return replace(settings.item, seconds=None, attempts=ATTEMPTS_WITHOUT_TIME)


def inert(settings: LoopSettings) -> Iterator[str]:
    """Return what can never happen in a run with these dials, and why: a sentence each."""
    limits = limits_of(settings)
    seconds, attempts = limits.seconds, limits.attempts
    if seconds is not None and seconds <= settings.least_seconds_to_reflect:
        yield (
            f"Nothing is reflected on or learned, and no plateau is found: an item has {seconds:g} seconds, and a "
            f"reflection is made while more than {settings.least_seconds_to_reflect:g} are left."
        )
    gap, window, between = settings.gap_attempts, settings.plateau_window, settings.failures_between
    if settings.has("gap_detection") and attempts is not None and attempts < gap:
        yield f"No evaluator gap is found: an item has {attempts} of the {gap} attempts that show one."
    if not settings.has("re_engagement"):
        return
    first = min(between, window, gap) if settings.has("gap_detection") else min(between, window)
    if seconds is not None and seconds <= settings.least_seconds_to_re_engage:
        yield (
            f"The strategist is never asked again: an item has {seconds:g} seconds, and it is asked while at least "
            f"{settings.least_seconds_to_re_engage:g} are left."
        )
    elif attempts is not None and attempts < first:
        yield f"The strategist is never asked again: an item has {attempts} of the {first} attempts that it waits for."
    elif between < window:
        yield (
            f"No plateau is found: the strategist is asked again after {between} failures, and a plateau is {window} "
            "reflections since it was asked."
        )


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


class WorkItem(Struct, frozen=True, omit_defaults=True):
    """One thing to bring about on the target, such as a setting or a repair.

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


SnapshotName = Literal["baseline", "progress"]
Channel = Literal["in_band", "out_of_band", "none"]
Trigger = Literal["failures", "plateau", "evaluator_gap"]
StrategistVerdict = Literal["CONTINUE", "PIVOT", "ESCALATE", "SKIP_UNTIL"]
CheckStatus = Literal["passed", "failed", "unknown"]
FailureKind = Literal["nothing_changed", "unhealthy", "check_failed", "check_unknown", "check_weakened", "over_budget"]


class RunBegan(Struct, frozen=True, tag_field="event", tag="run_began"):
    """The run begins: its items in the order in which they were named, and the digest of the target as it was found."""

    skill: str
    agents: str
    seed: int
    without: tuple[str, ...]
    items: tuple[WorkItem, ...]
    baseline: str


class Resumed(Struct, frozen=True, tag_field="event", tag="resumed"):
    """A run that was killed goes on behind event `number`; the events between are void, and are done again."""

    number: int


class ItemBegan(Struct, frozen=True, tag_field="event", tag="item_began"):
    """Work on an item begins, or goes on after it was put off."""


class PartShown(Struct, frozen=True):
    """One named part of what an agent saw: its tokens, and whether it was cut or left out for lack of room.

    `digest` is of the text that was shown: two agents saw the same where it is equal.
    """

    name: str
    tokens: int
    digest: str = ""
    shown: Literal["whole", "cut", "left_out"] = "whole"


class TurnEnded(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="turn_ended"):
    """One turn of an agent.

    - `role`, `agent`: Whose turn it was.
    - `reply`: What it said; where `over` names a resource, what the harness said in its place.
    - `seconds`, `slept`: How long it took, and how much of that the agent slept.
    - `calls`: The commands that were carried out.
    - `refused`: The commands that were asked for beyond the budget and not carried out.
    - `tokens_in`, `tokens_out`, `usd`: What the models took, as far as it is known.
    - `over`: The resource that ran out, if one did.
    - `seen`: The parts of its context, and the digest of the whole text.
    - `error`: What the agent raised, if it did.
    """

    role: Role
    agent: str
    reply: str
    seconds: float
    calls: tuple[str, ...] = ()
    refused: int = 0
    slept: float = 0.0
    sub_agents: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    over: Resource | None = None
    seen: tuple[PartShown, ...] = ()
    seen_digest: str = ""
    error: str = ""

    @property
    def hidden(self) -> int:
        """Return the commands beyond the first: retries that no reflection came between."""
        return max(len(self.calls) + self.refused - 1, 0)


class Checked(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="checked"):
    """The evaluator's result: whether the target is healthy and whether the item's check passes.

    `counted` says what the loop took it for; that is the same but for evaluators without types. `weakened` says that
    what the checks consist of is not what it was before the work on the item: a check that passes then shows nothing.
    """

    healthy: bool
    status: CheckStatus
    text: str = ""
    counted: CheckStatus | None = None
    weakened: bool = False

    @property
    def truly(self) -> CheckStatus:
        """Return its outcome by its typed results, whatever the loop took it for."""
        return "failed" if self.status == "passed" and (self.weakened or not self.healthy) else self.status


class Failed(Struct, frozen=True, tag_field="event", tag="failed"):
    """An attempt failed, and how; `change` is the digest of the state that it left the target in."""

    kind: FailureKind
    change: str = ""


class Diagnosed(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="diagnosed"):
    """The target's health probes after a failed attempt and before anything was reverted.

    - `channel`: By which way they were read; `none` where no way worked.
    - `why`: Why the way in band was not taken.
    - `flags`: Invariant → whether it holds; `None` where that could not be told.
    - `facts`: Name of a probe, configuration area or log → what was read.
    """

    channel: Channel
    why: str = ""
    flags: dict[str, bool | None] = {}
    facts: dict[str, str] = {}


class SnapshotTaken(Struct, frozen=True, tag_field="event", tag="snapshot_taken"):
    """The target's state was kept as a snapshot; `digest` is of its content."""

    name: SnapshotName
    digest: str


class Restored(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="restored"):
    """The target was brought back to a snapshot, or by the worker's own script (`name` is empty then).

    `wanted` and `found` are content digests: of the snapshot, and of the target afterwards.
    """

    name: SnapshotName | Literal[""]
    wanted: str
    found: str
    reachable: bool = True

    @property
    def verified(self) -> bool:
        """Return whether the target equals the snapshot."""
        return self.wanted == self.found


class Reflected(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="reflected"):
    """The reflector's conclusion from an attempt; `facts` are the names of the facts that it was given."""

    text: str
    facts: tuple[str, ...] = ()
    hidden: int = 0


class PlateauFound(Struct, frozen=True, tag_field="event", tag="plateau_found"):
    """The last reflections say the same: by which detector, over how many, and what they share."""

    detector: str
    window: int
    shared: tuple[str, ...]


class GapFound(Struct, frozen=True, tag_field="event", tag="gap_found"):
    """The target is healthy and the check still fails, after `attempts` attempts with `changes` unlike changes."""

    attempts: int
    changes: int


class ReEngaged(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="re_engaged"):
    """The strategist was asked and answered.

    `clean` is false where its answer could not be read, which counts as CONTINUE; `warning` says why. `until` are the
    items that SKIP_UNTIL waits for.
    """

    trigger: Trigger
    verdict: StrategistVerdict
    plan: str
    clean: bool = True
    warning: str = ""
    until: tuple[str, ...] = ()


class Planned(Struct, frozen=True, tag_field="event", tag="planned"):
    """The plan that later attempts see."""

    plan: str


class LessonsRecalled(Struct, frozen=True, tag_field="event", tag="lessons_recalled"):
    """The lessons that an agent was shown, and how many there were in all."""

    lessons: tuple[str, ...]
    stored: int


class LessonLearned(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="lesson_learned"):
    """A lesson was stored, or made stronger or weaker; `outcome` is what moved its weight."""

    lesson: str
    category: str
    text: str
    weight: float
    outcome: Literal["new", "again", "helped", "harmed"] = "new"


class LessonRetired(Struct, frozen=True, tag_field="event", tag="lesson_retired"):
    """A lesson is shown no more."""

    lesson: str
    why: Literal["harmful", "no_room"]


class Deferred(Struct, frozen=True, tag_field="event", tag="deferred"):
    """The check of an item has to wait; it is made before the run ends."""

    until: str


class Verified(Struct, frozen=True, omit_defaults=True, tag_field="event", tag="verified"):
    """A deferred check was made.

    `truly` is what it came to by its typed results, where the loop took it for something else.
    """

    status: CheckStatus
    text: str = ""
    truly: CheckStatus | None = None


class PutOff(Struct, frozen=True, tag_field="event", tag="put_off"):
    """Work on an item stops until others are solved."""

    until: tuple[str, ...]


class ItemEnded(Struct, frozen=True, tag_field="event", tag="item_ended"):
    """Work on an item is over: how, after how many attempts, and after how many seconds of work on it."""

    ending: Ending
    attempts: int
    seconds: float


class Warned(Struct, frozen=True, tag_field="event", tag="warned"):
    """Something that a person should look at, and the run goes on."""

    text: str


class Halted(Struct, frozen=True, tag_field="event", tag="halted"):
    """The run stops, as the target cannot be brought back to any snapshot; the items left are failed."""

    text: str


class RunEnded(Struct, frozen=True, tag_field="event", tag="run_ended"):
    """Every item has its end."""


Happening = (
    RunBegan
    | Resumed
    | ItemBegan
    | TurnEnded
    | Checked
    | Failed
    | Diagnosed
    | SnapshotTaken
    | Restored
    | Reflected
    | PlateauFound
    | GapFound
    | ReEngaged
    | Planned
    | LessonsRecalled
    | LessonLearned
    | LessonRetired
    | Deferred
    | Verified
    | PutOff
    | ItemEnded
    | Warned
    | Halted
    | RunEnded
)


class LoopEvent(Struct, frozen=True, omit_defaults=True):
    """One line of the log.

    - `number`: Its place in the log, from 0.
    - `at`: Seconds since the run began, on the run's own clock; after a kill it goes on from where it stood.
    - `happened`: What happened.
    - `item`: The item that it is about; empty where it is about the run.
    - `attempt`: The attempt at the item, from 1; 0 before the first.
    """

    number: int
    at: float
    happened: Happening
    item: str = ""
    attempt: int = 0


LOOP_RECORDS = Records(LoopEvent, "events.jsonl", "event")


def events_that_hold(events: Iterable[LoopEvent]) -> list[LoopEvent]:
    """Return the events of a log without those that a resumption made void, so that each attempt is there once."""
    holding: list[LoopEvent] = []
    for event in events:
        if isinstance(event.happened, Resumed):
            while holding and holding[-1].number > event.happened.number:
                holding.pop()
        holding.append(event)
    return holding
