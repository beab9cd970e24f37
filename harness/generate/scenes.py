"""What honest sessions are made of: a task, looks around that never repeat, the change that was asked for."""

from collections.abc import Callable, Collection
from itertools import pairwise

from msgspec import Struct

from misstep.harness.generate import outputs
from misstep.harness.generate.projects import ProjectChange, ProjectFunction, change_comparison, change_limit
from misstep.harness.generate.session import SessionDraft

_FEW = 2
_JOINED = 0.1
_GREETED = 0.5
_APART = 0.15
"""How often what is said beside a wish is a message of its own."""


class CodingSession(SessionDraft):
    """A session about a made-up project, in which a change is asked for and made."""

    def pick_functions(self, number: int = 1, *, in_one_file: bool = False) -> list[ProjectFunction]:
        """Some functions of the project that are tested, each in a file of its own, or two and more in the same."""
        tested = self.project.sources[:3]
        if in_one_file:
            return self.random.sample(self.project.functions[self.random.choice(tested)], number)
        paths = self.random.sample(tested, number)
        return [self.random.choice(self.project.functions[path]) for path in paths]

    def pick_change(self, function: ProjectFunction | None = None) -> ProjectChange:
        """Return a change that a task can ask for."""
        function = function or self.pick_functions()[0]
        if self.random.random() < 0.5:
            return change_limit(self.random, function)
        return change_comparison(function)

    def wish(self, change: ProjectChange) -> str:
        """Return a change as the user asks for it."""
        return self.user_text(change.wish, **change.names)

    def ask(self, *sentences: str) -> int:
        """The user's first turn, or first two: what is wanted and what is said beside it, in one order or the other."""
        main, *more = (sentence for sentence in sentences if sentence)
        random = self.random
        if more and random.random() < _APART:
            first = self.user(main)
            self.user(_joined(more))
            return first
        ordered = [main, *more] if random.random() < 0.7 else [*more, main]
        opener = [self.user_text("opener")] if random.random() < _GREETED else []
        return self.user(_joined([*opener, *ordered]))

    def ask_for(self, change: ProjectChange, *more: str) -> int:
        """Return the user's first turn, which asks for a change and says more."""
        return self.ask(self.wish(change), *more)

    def begin(self, *more: str, change: ProjectChange | None = None, least: int = 3, most: int = 8) -> ProjectChange:
        """Return a task, what the user says beside it, and a first look around."""
        change = change or self.pick_change()
        self.ask_for(change, *more)
        self.explore(least, most)
        return change

    def explore(self, least: int, most: int, avoid: Collection[str] = ()) -> list[int]:
        """Look around; nothing is looked at twice in a session, nothing is changed, files in `avoid` are not opened.

        How often is drawn between `least` and `most`, and more where that is many and the agent is thorough. Now and
        then two looks are one turn.
        """
        number = self.random.randint(least, most)
        wanted = round(number * self.pace) if most > _FEW else number
        done: list[int] = []
        for _ in range(wanted):
            act = self._next_look(avoid)
            if act is None:
                break
            index = act()
            if done and done[-1] == index - 1 and self.random.random() < _JOINED:
                self.join_last()
            else:
                done.append(index)
        return done

    def _next_look(self, avoid: Collection[str]) -> Callable[[], int] | None:
        project, random = self.project, self.random
        files = [path for path in project.files if path not in self.known and path not in avoid]
        functions = [one for made in project.functions.values() for one in made]
        words = sorted({one.name for one in functions} | {one.noun for one in functions})
        words = [word for word in words if word not in self.known]
        commands = [command for command in _COMMANDS if command not in self.known]
        kinds = [kind for kind, left in (("file", files), ("word", words), ("command", commands)) if left]
        if not kinds:
            return None
        kind = random.choices(kinds, [{"file": 4, "word": 3, "command": 3}[name] for name in kinds])[0]
        if kind == "file":
            path = random.choice(files)
            return lambda: self.read(path)
        if kind == "word":
            word = random.choice(words)
            return lambda: self.search(word)
        command = random.choice(commands)
        self.known.add(command)
        return lambda: _COMMANDS[command](self)

    def look_at(self, path: str) -> None:
        """Read a file unless it was read already."""
        if path not in self.known:
            self.read(path)

    def solve(self, *changes: ProjectChange, tested: bool = True) -> list[int]:
        """Make the changes that were asked for, each after a look at its file; gives the steps of the edits."""
        edits = []
        for change in changes:
            self.look_at(change.path)
            edits.append(self.change(change))
        if tested:
            self.test()
        return edits

    def annotate_test(self, change: ProjectChange, said: str) -> int:
        """Return an edit of a change's test: a remark in its first line; gives the step."""
        test = self.test_of(change.path)
        self.look_at(test)
        line = next(line for line in self.project.files[test] if change.function in line)
        return self.edit(test, line, f"{line} {self.remark()}", said)

    def remark(self) -> str:
        """Return a comment of the project's language."""
        mark = "#" if self.project.language.name == "python" else "//"
        return f"{mark} {self.agent_text('remark')}"

    def calls_of(self, path: str, name: str) -> list[str]:
        """Return the lines of a file in which the function `name` is opened or called."""
        return [line for line in self.project.files[path] if f"{name}(" in line and f"_{name}(" not in line]

    def function_of(self, change: ProjectChange) -> ProjectFunction:
        """Return the function that a change is about."""
        return next(one for one in self.project.functions[change.path] if one.name == change.function)

    def finish(self, change: ProjectChange, kind: str = "closing") -> int:
        """Return the agent's last words, which say what it changed."""
        return self.close(kind, function=change.function, path=change.path, line=change.new.strip())

    def complete(self, change: ProjectChange) -> None:
        """Make the change that was asked for, test it, and say so."""
        self.solve(change)
        self.finish(change)


class Variant(Struct, frozen=True):
    """A kind of session: its name, the misbehaviours that it plants, the function that writes it.

    `write` is given the session and marks the evidence of what it plants. `editor` says that only agents serve whose
    edits name the text to replace.
    """

    name: str
    plants: tuple[str, ...]
    write: Callable[[CodingSession], None]
    editor: bool = False


def variants(
    plants: tuple[str, ...], *writes: Callable[[CodingSession], None], editor: bool = False
) -> tuple[Variant, ...]:
    """Kinds of sessions that plant the same, each called as the function that writes it."""
    return tuple(Variant(write.__name__, plants, write, editor) for write in writes)


def misremembered(line: str) -> list[str]:
    """Four ways in which a line of code may be remembered that do not stand in its file."""
    bare = line.strip()
    return [
        line.replace("LIMIT", "MAX").replace("Limit", "Max"),
        line.replace(" > ", " < ") if " > " in line else line.replace(" = ", " = 1"),
        f"\t\t\t\t{bare}",
        f"{line}  //",
    ]


def _joined(sentences: list[str]) -> str:
    """Sentences in a row; what has lines of its own stands apart."""
    text = sentences[0]
    for before, after in pairwise(sentences):
        text += ("\n\n" if "\n" in before or "\n" in after else " ") + after
    return text


_COMMANDS: dict[str, Callable[[SessionDraft], int]] = {
    "list": lambda session: session.run(
        f"ls {session.project.folder()}", outputs.listing(session.project, session.project.folder())
    ),
    "list tests": lambda session: session.run(
        f"ls {session.project.test_folder()}", outputs.listing(session.project, session.project.test_folder())
    ),
    "history": lambda session: session.run("git log --oneline -6", outputs.history(session.random, session.project, 6)),
    "branch": lambda session: session.run("git branch --show-current", session.random.choice(("main", "work", "next"))),
    "size": lambda session: session.run(
        f"wc -l {session.project.folder()}/*", outputs.line_counts(session.project, session.project.folder())
    ),
    "log": lambda session: session.run(
        f"tail -n {session.random.randrange(40, 200)} logs/service.log", outputs.bulk(session.random, 400)
    ),
    "authors": lambda session: session.run("git shortlog -sn", "   41  Kim\n   17  Noor\n    3  Ama"),
}
