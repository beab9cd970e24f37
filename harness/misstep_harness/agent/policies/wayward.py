"""A scripted agent that misbehaves on purpose, without a model: for what detects and corrects misbehaviour."""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from msgspec import Struct

from misstep_harness.agent.actions import Action
from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.intervention import INTERVENTION
from misstep_harness.live_session import Episode, EpisodeEnd, Heeds
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step

_MOST_TOLD = 3
"""How many times an agent that ignores guidance is told before it gives the task up."""


class WaywardCommand(Struct, frozen=True):
    """A command, and for an edit the text that it replaces and the new one."""

    action: Action
    edit: tuple[str, str] | None = None


class Slip(Struct, frozen=True):
    """A misbehaviour that is planted.

    - `onset`: After how many commands of work it begins.
    - `lasts`: After how many of its own commands it ends by itself; `None` for never.
    """

    categories: tuple[str, ...]
    onset: int
    lasts: int | None
    command: Callable[[int], WaywardCommand]
    undo: Callable[[int], Sequence[WaywardCommand]] = lambda done: ()  # noqa: ARG005


class _Spell:
    def __init__(self, slip: Slip, *, done: int = 0, relapse: bool = False) -> None:
        self.slip, self.done, self.relapse = slip, done, relapse
        self.start = done
        self.steps: list[int] = []

    @property
    def over(self) -> bool:
        return self.slip.lasts is not None and self.done >= self.slip.lasts

    def episodes(self, ended: EpisodeEnd) -> list[Episode]:
        """Return an episode a category; none before the first command."""
        lasts = None if self.slip.lasts is None else self.slip.lasts - self.start
        return [
            Episode(category, self.steps[0], self.steps[-1], ended, lasts, self.relapse)
            for category in self.slip.categories
            if self.steps
        ]


class WaywardPolicy:
    """Does its work and slips.

    - `heeds`: What it does with guidance. One that heeds by half falls back once; one that ignores guidance gives up in
      the end.
    - `relapse_after`: After how many commands of work an agent falls back.
    - `look`: What it does when it is told of a misbehaviour that it does not show (any more): it looks at its task
      again.
    """

    name = "wayward"

    def __init__(
        self,
        work: Sequence[WaywardCommand],
        slips: Sequence[Slip] = (),
        *,
        heeds: Heeds = "follows",
        understands: Callable[[Step], Collection[str]] = lambda step: (),  # noqa: ARG005
        relapse_after: int = 3,
        look: WaywardCommand | None = None,
        last_words: str = "The task is done.",
    ) -> None:
        if not work:
            raise AgentStopped("there is nothing to work on")
        self._work = tuple(work)
        self._waiting = sorted(slips, key=lambda slip: slip.onset)
        self._heeds, self._understands, self._relapse_after = heeds, understands, relapse_after
        self._look, self._last_words = look, last_words
        self._worked = self._read = self._turn = self._words_heard = 0
        self._next: list[WaywardCommand] = []
        self._spells: list[_Spell] = []
        self._returning: list[tuple[int, _Spell]] = []
        self._past: list[Episode] = []
        self._writing = ("", "")

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Return what took place so far, by onset; what goes on counts as lasting to the end of the session."""
        going_on = [each for spell in self._spells for each in spell.episodes("session")]
        return tuple(sorted(self._past + going_on, key=lambda one: (one.onset, one.category)))

    @property
    def slipping(self) -> tuple[tuple[str, int], ...]:
        """The categories of what goes on now, each with the number of its commands since it began or returned."""
        return tuple((name, len(one.steps)) for one in self._spells for name in one.slip.categories)

    async def act(self, task: Task, steps: Sequence[Step], ask: Ask) -> Action:  # noqa: ARG002
        """The next command: of what goes on, of what puts things right, or of its work; `exit` behind the last."""
        for step in steps[max(self._read, 2) :]:
            self._hear(step)
        self._read = len(steps)
        while self._waiting and self._waiting[0].onset <= self._worked:
            self._spells.append(_Spell(self._waiting.pop(0)))
        back = [spell for due, spell in self._returning if due <= self._worked]
        self._spells += back
        self._returning = [(due, spell) for due, spell in self._returning if due > self._worked]
        command = self._choose(len(steps))
        if command.edit is not None:
            self._writing = command.edit
        return command.action

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        """The edit that the last command is about, in the search-replace format: the agent is its own patcher."""
        old, new = self._writing
        return f"{request.path}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n"

    def _hear(self, step: Step) -> None:
        if INTERVENTION in step.extra:
            self._heed(frozenset(self._understands(step)))
        elif step.role == "user":
            for spell in list(self._spells):
                self._end(spell, "engineer")
            self._returning = []

    def _heed(self, categories: frozenset[str]) -> None:
        if self._heeds == "ignores":
            self._words_heard += 1
            return
        meant = [spell for spell in self._spells if not categories.isdisjoint(spell.slip.categories)]
        for spell in meant:
            falls_back = self._heeds == "half" and not spell.relapse
            self._end(spell, "guidance", undo=not falls_back)
            if falls_back:
                again = _Spell(spell.slip, done=spell.done, relapse=True)
                self._returning.append((self._worked + self._relapse_after, again))
        if not meant and self._look is not None:
            self._next.append(self._look)

    def _choose(self, step: int) -> WaywardCommand:
        if self._words_heard >= _MOST_TOLD:
            return self._exit()
        if self._next:
            return self._next.pop(0)
        if self._spells:
            spell = self._spells[self._turn % len(self._spells)]
            self._turn += 1
            command = spell.slip.command(spell.done)
            spell.done += 1
            spell.steps.append(step)
            if spell.over:
                self._end(spell, "itself", undo=False)
            return command
        if self._worked < len(self._work):
            self._worked += 1
            return self._work[self._worked - 1]
        return self._exit()

    def _end(self, spell: _Spell, how: Literal["itself", "guidance", "engineer"], *, undo: bool = True) -> None:
        self._spells.remove(spell)
        self._past += spell.episodes(how)
        if undo:
            self._next += spell.slip.undo(spell.done)

    def _exit(self) -> WaywardCommand:
        return WaywardCommand(Action("exit", {"summary": self._last_words}, thought=self._last_words))
