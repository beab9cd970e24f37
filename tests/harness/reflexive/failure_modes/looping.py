"""Run the loop on a few simulated items with some mechanisms left out, and look at what its log says."""

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.agent.clocks import VirtualClock
from misstep.harness.records.loop_events import ItemEnded, LoopEvent, Role, TurnEnded
from misstep.harness.reflexive.log import Log
from misstep.harness.reflexive.loop import run_loop
from misstep.harness.reflexive.memory import Lesson
from misstep.harness.reflexive.protocols import Agents, Target
from misstep.harness.reflexive.settings import LoopSettings
from misstep.harness.reflexive.simulated.items import Kind, World
from misstep.harness.reflexive.simulated.skill import SimulatedSkill
from misstep.harness.reflexive.simulated.target import SimulatedTarget
from misstep.harness.reflexive.simulated.workers import WorkerKind, make_agents

Happened = TypeVar("Happened", bound=Struct)


class Looped(Struct, frozen=True):
    """What a run of the loop left: its events, and the kind of each item."""

    events: tuple[LoopEvent, ...]
    kinds: dict[str, Kind]

    def all_of(self, type_: type[Happened]) -> list[Happened]:
        """What happened of a type, in order."""
        return [event.happened for event in self.events if isinstance(event.happened, type_)]

    def turns_of(self, role: Role) -> list[TurnEnded]:
        """The turns of a role."""
        return [turn for turn in self.all_of(TurnEnded) if turn.role == role]

    @property
    def ends(self) -> dict[str, ItemEnded]:
        """Item → its end."""
        return {event.item: event.happened for event in self.events if isinstance(event.happened, ItemEnded)}

    @property
    def solved(self) -> int:
        """How many items ended as solved."""
        return sum(end.ending.end == "solved" for end in self.ends.values())

    @property
    def hours(self) -> float:
        """How long the run took, in virtual hours."""
        return self.events[-1].at / 3600

    @property
    def only_end(self) -> ItemEnded:
        """The end of the one item."""
        (end,) = self.ends.values()
        return end


def looped(
    kinds: Sequence[Kind],
    without: Sequence[str] = (),
    *,
    worker: WorkerKind | Agents = "perfect",
    seed: int = 0,
    settings: LoopSettings = LoopSettings(),  # noqa: B008 -- frozen
    earlier: Sequence[Lesson] = (),
    in_order: bool = False,
    make_target: Callable[[World, Path], Target] = SimulatedTarget,
) -> Looped:
    """Run the loop to its end, in virtual time.

    Parameters
    ----------
    kinds
        The kinds of the items; one of each.
    without
        The mechanisms that are left out.
    worker
        The kind of worker, or all agents.
    seed
        What items and agents are drawn from.
    settings
        The dials.
    earlier
        Lessons of earlier runs.
    in_order
        Whether the items come as `kinds` has them; else as they are drawn.
    make_target
        The target of a world, with the folder for its snapshots.
    """
    skill = SimulatedSkill(len(kinds), seed, kinds)
    items = list(skill.items)
    if in_order:
        items.sort(key=lambda item: int(item.id.rpartition("-")[2]))
    agents = worker if isinstance(worker, Agents) else make_agents(worker, seed)
    clock = VirtualClock()
    log = Log(clock)
    more: dict[str, Any] = {"earlier": earlier} if earlier else {}

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = make_target(skill.world, Path(folder))
            dials = replace(settings, without=frozenset(without))
            await run_loop(skill, target, agents, dials, clock, log, seed=seed, items=items, **more)

    asyncio.run(run())
    return Looped(tuple(log.events), skill.world.kinds)
