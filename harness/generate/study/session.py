"""A session of a study: how often each tool is called is drawn before what is planted, and made up for afterwards.

Otherwise the number of calls would tell a loop, and the number of edits a change that nobody asked for.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from misstep.harness.generate import outputs
from misstep.harness.generate.projects import ProjectChange, ProjectFunction
from misstep.harness.generate.scenes import CodingSession

READ, SEARCH, RUN, EDIT = "read", "search", "run", "edit"
_DRAWN = {READ: (6, 8), SEARCH: (5, 7), RUN: (5, 7), EDIT: (6, 7)}
"""Act → how often a session has it, from and to."""
HANDBOOK = "docs/handbook.md"
_HANDBOOK_LINES, _PAGE = 240, 30
_LEAST_TRACE = 2
"""Edits that a temporary line takes: one puts it in, one takes it out."""
_WHOLE_FILE = 0.7
"""How often a look into a file is one into a file of the project, while one is left; else a page of the handbook."""


class StudySession(CodingSession):
    """A session whose looks around and trial edits fill up the number of calls that was drawn for it."""

    def prepare(self) -> None:
        """Draw the number of calls."""
        self._names = {
            READ: self.vocabulary.read("a", 1, None)[0],
            SEARCH: self.vocabulary.search("a", "")[0],
            RUN: self.vocabulary.run("ls")[0],
            EDIT: self.vocabulary.edit("a", "b", "c", 1)[0],
        }
        self._drawn: Counter[str] = Counter()
        self._used: Counter[str] = Counter()
        self.unread: set[str] = set()
        """Files that looks around leave closed."""
        self.traced: list[ProjectChange] = []
        """Changes that are made, and beside which a temporary line may be put."""
        self._page = 1
        lines = range(1, _HANDBOOK_LINES + 1)
        self.project.files[HANDBOOK] = [f"{line}. Rule number {line} of the handbook." for line in lines]
        self.expect({act: self.random.randint(*between) for act, between in _DRAWN.items()})

    def expect(self, calls: Mapping[str, int]) -> None:
        """Add calls to those that were drawn: an act → how many."""
        for act, count in calls.items():
            self._drawn[self._names[act]] += count

    def has_room(self, calls: Mapping[str, int]) -> bool:
        """Return whether so many more calls do not go beyond the number that was drawn."""
        wanted: Counter[str] = Counter()
        for act, count in calls.items():
            wanted[self._names[act]] += count
        return all(self._used[name] + count <= self._drawn[name] for name, count in wanted.items())

    def keep_room(self, calls: Mapping[str, int]) -> None:
        """Count calls as made that come later."""
        for act, count in calls.items():
            self._used[self._names[act]] += count

    def give_room(self, calls: Mapping[str, int]) -> None:
        """Count calls no longer as made that come now."""
        self.keep_room({act: -count for act, count in calls.items()})

    def call(
        self,
        named: tuple[str, Mapping[str, Any] | str],
        answer: str,
        said: str = "",
        *,
        failed: bool = False,
        code: int | None = None,
        parse_error: str | None = None,
    ) -> int:
        """Return a turn of the agent with one call and its answer, counted."""
        self._used[named[0]] += 1
        return super().call(named, answer, said, failed=failed, code=code, parse_error=parse_error)

    def explore(self, least: int, most: int, avoid: Collection[str] = ()) -> list[int]:
        """Look around, by the tools of which most calls are left; files that are to stay closed are not opened."""
        return [self._look_by(self._most_left(), avoid) for _ in range(self.random.randint(least, most))]

    def look_around(self, share: float = 1.0) -> None:
        """Make a share of the looks that are left."""
        left: list[str] = []
        for name, drawn in sorted(self._drawn.items()):
            acts = [act for act in (READ, SEARCH, RUN) if self._names[act] == name]
            if acts:
                number = round(share * (drawn - self._used[name]))
                left += self.random.choices(acts, k=max(0, number))
        self.random.shuffle(left)
        for act in left:
            self._look_by(act)

    def trace(self) -> None:
        """Put in, reword and take out a temporary line beside each change, by as many edits as are left."""
        name = self._names[EDIT]
        left = self._drawn[name] - self._used[name]
        if name in {self._names[RUN], self._names[SEARCH]}:
            return
        while self.traced and left >= _LEAST_TRACE:
            change = self.traced.pop()
            edits = left if not self.traced or left < 2 * _LEAST_TRACE else self.random.randint(2, left - _LEAST_TRACE)
            self._trace_one(change, edits)
            left -= edits

    def _trace_one(self, change: ProjectChange, edits: int) -> None:
        before = change.new
        for number in range(edits - 1):
            after = f"{change.new}\nlog({f'{change.function} {number}'!r})"
            self.edit(change.path, before, after, self.beside("temporary_log", function=change.function))
            if self.has_room({RUN: 2}):
                self._run_on()
            before = after
        self.edit(change.path, before, change.new, self.beside("tidying"))

    def pass_tests(self, command: str) -> int:
        """Return a run of all tests by another command than the usual one."""
        count = sum(len(functions) for functions in self.project.functions.values())
        return self.run(command, outputs.tests_passed(self.random, self.project.language, count))

    def untested(self) -> list[ProjectFunction]:
        """Return a function of each file that no task is about."""
        return [self.project.functions[path][0] for path in self.project.sources[3:]]

    def _most_left(self) -> str:
        return max((READ, SEARCH, RUN), key=lambda act: self._drawn[self._names[act]] - self._used[self._names[act]])

    def _look_by(self, act: str, avoid: Collection[str] = ()) -> int:
        if act == READ:
            return self._read_on(avoid)
        return self._search_on() if act == SEARCH else self._run_on()

    def _read_on(self, avoid: Collection[str]) -> int:
        closed = {*self.unread, *self.known, *avoid, HANDBOOK}
        files = [path for path in self.project.files if path not in closed]
        if files and self.random.random() < _WHOLE_FILE:
            return self.read(self.random.choice(files))
        if self._page > _HANDBOOK_LINES:
            return self._search_on()
        self._page += _PAGE
        return self.read(HANDBOOK, self._page - _PAGE, _PAGE)

    def _search_on(self) -> int:
        words = [one.name for made in self.project.functions.values() for one in made]
        words += [one.noun for made in self.project.functions.values() for one in made]
        left = [word for word in words if word not in self.known]
        return self.search(self.random.choice(left) if left else f"{self.random.choice(words)}_{len(self.steps)}")

    def _run_on(self) -> int:
        path = self.random.choice(self.project.sources)
        wanted: list[tuple[str, Callable[[], str]]] = [
            (f"git log --oneline -{len(self.steps)} -- {path}", lambda: outputs.history(self.random, self.project, 5)),
            (f"wc -l {path}", lambda: f"{len(self.project.files[path])} {path}"),
            (f"ls {self.project.folder()}", lambda: outputs.listing(self.project, self.project.folder())),
            (f"ls {self.project.test_folder()}", lambda: outputs.listing(self.project, self.project.test_folder())),
            ("git branch --show-current", lambda: "work"),
            ("git shortlog -sn", lambda: "   41  Kim\n   17  Noor\n    3  Ama"),
            (f"tail -n {self.random.randrange(20, 200)} logs/service.log", lambda: outputs.bulk(self.random, 400)),
            (f"git show --stat HEAD~{len(self.steps)}", lambda: f" {path} | {self.random.randrange(2, 40)} +-"),
        ]
        command, shown = self.random.choice([one for one in wanted if one[0] not in self.known])
        self.known.add(command)
        return self.run(command, shown())
