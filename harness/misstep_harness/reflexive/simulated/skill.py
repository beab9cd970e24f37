"""The skill `simulated`: generated items on a machine in memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, get_args

from misstep_harness.agent.clocks import Clock
from misstep_harness.reflexive.protocols import MakeAgents, Target, VitalSign
from misstep_harness.reflexive.records import WorkItem
from misstep_harness.reflexive.simulated.items import MIX, Kind, World, draw_world
from misstep_harness.reflexive.simulated.target import VITAL_SIGNS, SimulatedTarget
from misstep_harness.reflexive.simulated.thinkers import template_words
from misstep_harness.reflexive.simulated.workers import WorkerKind, make_agents


class SimulatedSkill:
    """Items and a machine that are drawn from a seed."""

    name = "simulated"
    vital_signs: Sequence[VitalSign] = VITAL_SIGNS

    def __init__(self, n: int = len(MIX), seed: int = 0, kinds: Sequence[Kind] = MIX) -> None:
        self._n, self._seed, self._kinds = n, seed, tuple(kinds)
        self.words = template_words()
        self.agents: Mapping[str, MakeAgents] = {kind: partial(make_agents, kind) for kind in get_args(WorkerKind)}

    @cached_property
    def world(self) -> World:
        """Return what was drawn."""
        return draw_world(self._n, self._seed, self._kinds)

    @property
    def items(self) -> Sequence[WorkItem]:
        """Return the work items."""
        return self.world.items

    def settings(self) -> dict[str, Any]:
        """Return how many items of which kinds, and their seed."""
        return {"items": self._n, "items_seed": self._seed, "kinds": list(self._kinds)}

    @contextmanager
    def open(self, kept: Path, clock: Clock) -> Iterator[Target]:  # noqa: ARG002
        """Return the machine as it was drawn."""
        yield SimulatedTarget(self.world, kept)
