"""Give the forms of misbehaviour that the wayward agent slips into: one command after the other."""

from collections.abc import Callable, Sequence
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.actions import Action
from misstep_harness.agent.policies.wayward import WaywardCommand
from misstep_harness.generate.voice import Voice

Form = Callable[["Ground", Random], "_Repeated"]


class TextEdit(Struct, frozen=True):
    """An edit: the file, the text that it replaces, the new one, and what it is about."""

    path: str
    old: str
    new: str
    function: str = ""


class Ground(Struct, frozen=True):
    """What an agent slips on.

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


class _Repeated(Struct, frozen=True):
    command: Callable[[int], WaywardCommand]
    undo: Callable[[int], Sequence[WaywardCommand]] = lambda done: ()  # noqa: ARG005


def edit_command(edit: TextEdit, thought: str) -> WaywardCommand:
    """Return the command that makes an edit; its instructions say which line is to read how."""
    last = edit.new.strip().splitlines()[-1]
    return WaywardCommand(
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
    """Return what an agent says beside a look."""
    if action.name == "read_file":
        return voice.say("reading", path=action.arguments["file_path"])
    return voice.say("searching", word=next(iter(action.arguments.values())))


def looked_at(path: str, voice: Voice) -> WaywardCommand:
    """Return a look at a file."""
    return WaywardCommand(Action("read_file", {"file_path": path}, voice.say("reading", path=path)))


def _again(ground: Ground, action: Action) -> WaywardCommand:
    return WaywardCommand(replace(action, thought=ground.voice.say("again")))


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

    def command(done: int) -> WaywardCommand:
        return edit_command((there, back)[done % 2], ground.voice.say("editing", path=there.path))

    def undo(done: int) -> Sequence[WaywardCommand]:
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

    def command(done: int) -> WaywardCommand:
        if done < 2 * len(edits) and done % 2 == 0:
            edit = edits[done // 2]
            return edit_command(edit, ground.voice.say("unasked_tweak", function=edit.function, path=edit.path))
        return looked_at(edits[(done + 1) // 2 % len(edits)].path, ground.voice)

    def undo(done: int) -> Sequence[WaywardCommand]:
        back = [replace(edit, old=edit.new, new=edit.old) for edit in reversed(edits[: (done + 1) // 2])]
        return [edit_command(edit, ground.voice.say("editing", path=edit.path)) for edit in back]

    return _Repeated(command, undo)


def forbidden_tool(ground: Ground, random: Random) -> _Repeated:
    """Return a tool that the user wanted left aside, for one thing after the other."""
    argument = {"search_code": "code_str", "search_method": "method_name"}[ground.forbidden]
    return _word_by_word(ground, random, ground.forbidden, argument)


def _word_by_word(ground: Ground, random: Random, tool: str, argument: str, wording: str = "searching") -> _Repeated:
    words = random.sample(ground.words, len(ground.words))

    def command(done: int) -> WaywardCommand:
        word = words[done % len(words)]
        return WaywardCommand(Action(tool, {argument: word}, ground.voice.say(wording, word=word)))

    return _Repeated(command)


LOOPS: tuple[Form, ...] = (_same_look, _round_of_looks, to_and_fro)
FAILURES: tuple[Form, ...] = (imagined_tool, missing_argument, invented_paths)
