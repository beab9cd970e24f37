"""Dummy agents that say and do what a test has written down, whatever they are shown."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.agent.turns import Turn
from misstep.harness.records.loop_events import Role
from misstep.harness.reflexive.protocols import Agent, Agents, Context
from misstep.harness.reflexive.simulated.workers import WorkerKind, make_agents


class Says(Struct, frozen=True):
    """Says one of the texts each turn, in order and over and over; `{item}` in it is the item's id."""

    texts: tuple[str, ...]
    name: str = "scripted"

    async def act(self, context: Context, turn: Turn) -> str:
        await turn.think(10.0)
        return self.texts[(context.attempt - 1) % len(self.texts)].format(item=context.item.id)


class Enters(Struct, frozen=True):
    """Enters one command after the other in each turn, as far as the turn lets it; `{item}` is the item's id."""

    commands: tuple[str, ...]
    name: str = "scripted"

    async def act(self, context: Context, turn: Turn) -> str:
        for changes in self.commands:
            await turn.think(10.0)
            await turn.call("configure", {"changes": changes.format(item=context.item.id)})
        return "I have entered it."


class WithoutLessons(Struct, frozen=True):
    """Says what an agent says, but for its lessons."""

    agent: Agent

    @property
    def name(self) -> str:
        return self.agent.name

    async def act(self, context: Context, turn: Turn) -> str:
        return (await self.agent.act(context, turn)).partition("LESSON:")[0]


class Watches(Struct, frozen=True):
    """Notes what an agent is shown, and lets it act."""

    agent: Agent
    note: Callable[[Context], None]

    @property
    def name(self) -> str:
        return self.agent.name

    async def act(self, context: Context, turn: Turn) -> str:
        self.note(context)
        return await self.agent.act(context, turn)


def agents_with(role: Role, agent: Agent, worker: WorkerKind = "perfect", seed: int = 0) -> Agents:
    """The simulated agents, one of them replaced."""
    return replace(make_agents(worker, seed), **{role: agent})


def watched(role: Role, worker: WorkerKind = "perfect", seed: int = 0) -> tuple[Agents, Sequence[Context]]:
    """The simulated agents, and what one of them is shown."""
    shown: list[Context] = []
    return agents_with(role, Watches(make_agents(worker, seed).of(role), shown.append), worker, seed), shown
