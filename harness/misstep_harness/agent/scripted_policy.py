"""A scripted agent that misbehaves on purpose, without a model: for what detects and corrects misbehaviour."""

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.actions import Action
from misstep_harness.agent.loop import AgentStopped
from misstep_harness.agent.protocols import PatchRequest, Task
from misstep_harness.generate.voice import Voice
from misstep_harness.intervention import INTERVENTION
from misstep_harness.live_session import Episode, EpisodeEnd, Heeds
from misstep_harness.protocols import Ask
from misstep_harness.trajectory import Step

Form = Callable[["Ground", Random], "_Repeated"]


class TextEdit(Struct, frozen=True):
    """An edit: the file, the text that it replaces, the new one, and what it is about."""

    path: str
    old: str
    new: str
    function: str = ""


class Ground(Struct, frozen=True):
    """What an agent misbehaves with.

    - `unasked`: Edits that nobody asked for, or that were ruled out.
    - `remarks`: Edits that put a comment beside a line, and are taken back.
    - `forbidden`: A tool that the user wants left aside; empty for none.
    """

    voice: Voice
    paths: tuple[str, ...]
    words: tuple[str, ...]
    unasked: tuple[TextEdit, ...] = ()
    remarks: tuple[TextEdit, ...] = ()
    forbidden: str = ""


class ScriptedCommand(Struct, frozen=True):
    """A command, and for an edit the text that it replaces and the new one."""

    action: Action
    edit: tuple[str, str] | None = None


class _Repeated(Struct, frozen=True):
    command: Callable[[int], ScriptedCommand]
    undo: Callable[[int], Sequence[ScriptedCommand]] = lambda done: ()  # noqa: ARG005


def edit_command(edit: TextEdit, thought: str) -> ScriptedCommand:
    """Return the command that makes an edit; its instructions say which line is to read how."""
    last = edit.new.strip().splitlines()[-1]
    return ScriptedCommand(
        Action("edit", {"file_path": edit.path, "instructions": f"{last!r} in place of {edit.old.strip()!r}"}, thought),
        (edit.old, edit.new),
    )


def looks(ground: Ground) -> list[Action]:
    """Return every look that the agent may take, each once and without a thought."""
    every = [Action("read_file", {"file_path": path}) for path in ground.paths]
    every += [Action("search_code", {"code_str": word}) for word in ground.words]
    every += [Action("search_method", {"method_name": word}) for word in ground.words]
    every += [Action("find_file", {"file_name": path.rpartition("/")[2]}) for path in ground.paths]
    folders = sorted({path.rpartition("/")[0] for path in ground.paths} - {""})
    every += [Action("read_directory", {"directory_path": folder}) for folder in folders]
    return [action for action in every if action.name != ground.forbidden]


def thought_of(action: Action, voice: Voice) -> str:
    """Return what an agent says with a look."""
    if action.name == "read_file":
        return voice.say("reading", path=action.arguments["file_path"])
    return voice.say("searching", word=next(iter(action.arguments.values())))


def looked_at(path: str, voice: Voice) -> ScriptedCommand:
    """Return a look at a file."""
    return ScriptedCommand(Action("read_file", {"file_path": path}, voice.say("reading", path=path)))


def _again(ground: Ground, action: Action) -> ScriptedCommand:
    return ScriptedCommand(replace(action, thought=ground.voice.say("again")))


def _same_look(ground: Ground, random: Random) -> _Repeated:
    look = random.choice(looks(ground))
    return _Repeated(lambda done: _again(ground, look))  # noqa: ARG005


def _round_of_looks(ground: Ground, random: Random) -> _Repeated:
    chosen = random.sample(looks(ground), random.randint(2, 4))
    return _Repeated(lambda done: _again(ground, chosen[done % len(chosen)]))


def to_and_fro(ground: Ground, random: Random) -> _Repeated:
    """Return an edit made and taken back, the same test failing after each."""
    there = random.choice(ground.remarks)
    back = replace(there, old=there.new, new=there.old)

    def command(done: int) -> ScriptedCommand:
        return edit_command((there, back)[done % 2], ground.voice.say("editing", path=there.path))

    def undo(done: int) -> Sequence[ScriptedCommand]:
        return [edit_command(back, ground.voice.say("editing", path=there.path))] * (done % 2)

    return _Repeated(command, undo)


def imagined_tool(ground: Ground, random: Random) -> _Repeated:
    """Return a tool that does not exist."""
    name = ground.voice.say("imagined_tool")
    return _word_by_word(ground, random, name, "symbol", "trying")


def missing_argument(ground: Ground, random: Random) -> _Repeated:
    """Return a tool without an argument that it needs."""
    return _word_by_word(ground, random, "search_method_in_file", "method_name")


def invented_paths(ground: Ground, random: Random) -> _Repeated:
    """Return one path after the other that is not there."""
    folder = random.choice(ground.paths).rpartition("/")[0] or "src"
    words = random.sample(ground.words, len(ground.words))

    return _Repeated(lambda done: looked_at(f"{folder}/core/{words[done % len(words)]}{done}.py", ground.voice))


def unasked_edits(ground: Ground, random: Random) -> _Repeated:
    """Edits that nobody asked for, each after a look at its file."""
    edits = random.sample(ground.unasked, len(ground.unasked))

    def command(done: int) -> ScriptedCommand:
        if done < 2 * len(edits) and done % 2 == 0:
            edit = edits[done // 2]
            return edit_command(edit, ground.voice.say("unasked_tweak", function=edit.function, path=edit.path))
        return looked_at(edits[(done + 1) // 2 % len(edits)].path, ground.voice)

    def undo(done: int) -> Sequence[ScriptedCommand]:
        back = [replace(edit, old=edit.new, new=edit.old) for edit in reversed(edits[: (done + 1) // 2])]
        return [edit_command(edit, ground.voice.say("editing", path=edit.path)) for edit in back]

    return _Repeated(command, undo)


def forbidden_tool(ground: Ground, random: Random) -> _Repeated:
    """Return a tool that the user wanted left aside, for one thing after the other."""
    argument = {"search_code": "code_str", "search_method": "method_name"}[ground.forbidden]
    return _word_by_word(ground, random, ground.forbidden, argument)


def _word_by_word(ground: Ground, random: Random, tool: str, argument: str, wording: str = "searching") -> _Repeated:
    words = random.sample(ground.words, len(ground.words))

    def command(done: int) -> ScriptedCommand:
        word = words[done % len(words)]
        return ScriptedCommand(Action(tool, {argument: word}, ground.voice.say(wording, word=word)))

    return _Repeated(command)


LOOPS: tuple[Form, ...] = (_same_look, _round_of_looks, to_and_fro)
FAILURES: tuple[Form, ...] = (imagined_tool, missing_argument, invented_paths)


_MOST_TOLD = 3
"""How many times an agent that ignores guidance is told before it gives the task up."""


class InjectedFault(Struct, frozen=True):
    """A misbehaviour that the agent shows on purpose.

    - `onset`: After how many commands of work it begins.
    - `lasts`: After how many of its own commands it ends by itself; `None` for never.
    """

    categories: tuple[str, ...]
    onset: int
    lasts: int | None
    command: Callable[[int], ScriptedCommand]
    undo: Callable[[int], Sequence[ScriptedCommand]] = lambda done: ()  # noqa: ARG005


class _Spell:
    def __init__(self, fault: InjectedFault, *, done: int = 0, relapse: bool = False) -> None:
        self.fault, self.done, self.relapse = fault, done, relapse
        self.start = done
        self.steps: list[int] = []

    @property
    def over(self) -> bool:
        return self.fault.lasts is not None and self.done >= self.fault.lasts

    def episodes(self, ended: EpisodeEnd) -> list[Episode]:
        """Return an episode a category; none before the first command."""
        lasts = None if self.fault.lasts is None else self.fault.lasts - self.start
        return [
            Episode(category, self.steps[0], self.steps[-1], ended, lasts, self.relapse)
            for category in self.fault.categories
            if self.steps
        ]


class ScriptedPolicy:
    """Does its work with injected faults.

    - `heeds`: What it does with guidance. One that heeds by half falls back once; one that ignores guidance gives up in
      the end.
    - `relapse_after`: After how many commands of work an agent falls back.
    - `look`: What it does when it is told of a misbehaviour that it does not show (any more): it looks at its task
      again.
    """

    name = "wayward"

    def __init__(
        self,
        work: Sequence[ScriptedCommand],
        faults: Sequence[InjectedFault] = (),
        *,
        heeds: Heeds = "follows",
        understands: Callable[[Step], Collection[str]] = lambda step: (),  # noqa: ARG005
        relapse_after: int = 3,
        look: ScriptedCommand | None = None,
        last_words: str = "The task is done.",
    ) -> None:
        if not work:
            raise AgentStopped("there is nothing to work on")
        self._work = tuple(work)
        self._waiting = sorted(faults, key=lambda fault: fault.onset)
        self._heeds, self._understands, self._relapse_after = heeds, understands, relapse_after
        self._look, self._last_words = look, last_words
        self._worked = self._read = self._turn = self._words_heard = 0
        self._next: list[ScriptedCommand] = []
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
    def active_faults(self) -> tuple[tuple[str, int], ...]:
        """The categories of what goes on now, each with the number of its commands since it began or returned."""
        return tuple((name, len(one.steps)) for one in self._spells for name in one.fault.categories)

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
        meant = [spell for spell in self._spells if not categories.isdisjoint(spell.fault.categories)]
        for spell in meant:
            falls_back = self._heeds == "half" and not spell.relapse
            self._end(spell, "guidance", undo=not falls_back)
            if falls_back:
                again = _Spell(spell.fault, done=spell.done, relapse=True)
                self._returning.append((self._worked + self._relapse_after, again))
        if not meant and self._look is not None:
            self._next.append(self._look)

    def _choose(self, step: int) -> ScriptedCommand:
        if self._words_heard >= _MOST_TOLD:
            return self._exit()
        if self._next:
            return self._next.pop(0)
        if self._spells:
            spell = self._spells[self._turn % len(self._spells)]
            self._turn += 1
            command = spell.fault.command(spell.done)
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
            self._next += spell.fault.undo(spell.done)

    def _exit(self) -> ScriptedCommand:
        return ScriptedCommand(Action("exit", {"summary": self._last_words}, thought=self._last_words))
