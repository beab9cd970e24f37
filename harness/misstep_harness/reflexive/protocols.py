"""Protocols of skills, targets and agents of the reflexive loop; any object with these members qualifies."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from misstep_harness.agent.clocks import Clock
from misstep_harness.agent.tools import Tool
from misstep_harness.agent.turns import Turn
from misstep_harness.errors import MisstepError
from misstep_harness.judges.fencing import fence
from misstep_harness.reflexive.records import CheckStatus, Role, SnapshotName, WorkItem


class ChannelBroken(MisstepError):
    """The target cannot be reached by this way; says what was answered instead."""


class Check(Struct, frozen=True):
    """What an evaluator found: two typed results that nobody has to read out of a text.

    - `healthy`: The target still does what it is there for.
    - `status`: The result of the item's own check; `unknown` where it could not be made, which is never a success.
    - `text`: The output, for people and for agents.
    """

    healthy: bool
    status: CheckStatus
    text: str = ""


class HealthProbe(Struct, frozen=True):
    """One thing to look at when something went wrong.

    - `name`: Its name in the facts.
    - `kind`: A `probe` is a question with an answer of yes or no, `configuration` an area that a worker may have
      touched, `log` what the target itself wrote last.
    - `invariant`: The flag that a probe answers; empty for the other kinds.
    """

    name: str
    kind: str
    invariant: str = ""


class Reading(Struct, frozen=True):
    """What was read for a health probe.

    - `text`: The text that was read.
    - `holds`: The answer of a probe: its invariant holds or it does not; none where that cannot be told.
    """

    text: str
    holds: bool | None = None


class Target(Protocol):
    """What workers change, as the harness holds it: snapshots and digests do not go through the target's own access."""

    def keep(self, name: SnapshotName) -> str:
        """Keep the state as it is under a name, on disk, and give the digest of its content; all of it or nothing."""

    def kept(self, name: SnapshotName) -> str | None:
        """Return the digest of a kept snapshot, from what is on disk; `None` if there is none or it is damaged."""

    def restore(self, name: SnapshotName) -> None:
        """Make the state what it was, whatever it is now; raises `MisstepError` where that cannot be."""

    def digest(self) -> str:
        """Return the digest of the content as it is now."""

    def protected(self) -> str:
        """Return the digest of what the checks themselves consist of and no worker may change."""

    def tools(self, role: Role) -> Sequence[Tool[Any]]:
        """Return the commands of a role."""

    @property
    def place(self) -> Any:
        """Return the place that the commands act on."""

    async def check(self, item: WorkItem) -> Check:
        """Check an item, now; one that raises is not a success; one longer than an item may take is cut off."""

    def ready(self, item: WorkItem) -> bool:
        """Say whether the check of a deferred item can be made by now."""

    async def prepare(self, item: WorkItem) -> None:
        """Bring about what a deferred check waits for, such as a restart."""

    async def read(self, sign: HealthProbe) -> Reading:
        """Read a health probe through the target's own access; raises `ChannelBroken` where that fails."""

    def read_outside(self, sign: HealthProbe) -> Reading:
        """Read a health probe from the host's side, whatever state the target is in."""

    async def reachable(self) -> bool:
        """Say whether the target's own access works."""

    async def revert_by_script(self, script: str) -> None:
        """Run a worker's own revert script through the target's own access: what loops without snapshots do."""


class Part(Struct, frozen=True):
    """One named part of a context."""

    name: str
    text: str


class Context(Struct, frozen=True, dict=True):
    """What one agent sees in one turn, and nothing else: its parts as they are shown, in order."""

    role: Role
    item: WorkItem
    attempt: int
    parts: tuple[Part, ...]

    def part(self, name: str) -> str:
        """Return the text of a part, empty where it is not shown."""
        return next((part.text for part in self.parts if part.name == name), "")

    @cached_property
    def text(self) -> str:
        """Return all of it, each part under its name and fenced, so that no part can open or close another."""
        return "\n\n".join(f"## {part.name}\n{fence(part.text, self.item.id)}" for part in self.parts)


class Agent(Protocol):
    """What acts in a role. It keeps nothing from turn to turn: all that it knows is in its context."""

    @property
    def name(self) -> str:
        """Return its name in the log."""

    async def act(self, context: Context, turn: Turn) -> str:
        """Have a turn, through `turn` alone, and say something; whatever it raises costs the turn and nothing else."""


class Agents(Struct, frozen=True):
    """The four roles and who has them."""

    planner: Agent
    worker: Agent
    reflector: Agent
    strategist: Agent

    def of(self, role: Role) -> Agent:
        """Return the agent of a role."""
        agent: Agent = getattr(self, role)
        return agent


MakeAgents = Callable[[int], Agents]
"""Makes agents from a seed; what they do follows from it, the item, the attempt and what they see."""


class Skill(Protocol):
    """A kind of work: its items, its target, its health probes, and who can do it."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def items(self) -> Sequence[WorkItem]:
        """Return the work items."""

    @property
    def vital_signs(self) -> Sequence[HealthProbe]:
        """Return the health probes that are read when an attempt failed."""

    @property
    def words(self) -> frozenset[str]:
        """Return the words that all reflections on this kind of work have in common, and that no plateau is told by."""

    @property
    def agents(self) -> Mapping[str, MakeAgents]:
        """Return the skill's own agents: name → a function that makes them from a seed, the usual ones first."""

    def settings(self) -> dict[str, Any]:
        """Return all values that can change a result, for the manifest of a run."""

    def open(self, kept: Path, clock: Clock) -> AbstractContextManager[Target]:
        """Lay out the target; `kept` is the folder in which its snapshots outlive the process."""
