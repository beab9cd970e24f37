"""A session being written: acts on a made-up project become steps, whose observations are what the project holds."""

from collections.abc import Mapping
from random import Random
from typing import Any

from misstep.harness.generate import outputs
from misstep.harness.generate.projects import Project, ProjectChange, ProjectFunction
from misstep.harness.generate.vocabularies import Broken, Vocabulary
from misstep.harness.generate.voice import Voice, fill
from misstep.harness.trajectory import Step, ToolCall, ToolResult

_MARKS, _MARK_WEIGHTS = ("{}", "`{}`", '"{}"', "@{}", "./{}"), (50, 30, 8, 8, 4)
"""How users write the names of files and folders."""
_SILENT = 0.2
"""How many agents say nothing beside their calls."""
_FRAMED = 0.3
"""How often a limit stands in a list, in a comment, in the rules of a project."""
_WINDOW = 30
"""Lines that an agent sees of a file that it opens to edit it."""
LOOP = "infinite_loop"
FAILURE = "tool_call_failure"
CHANGED = "unrequested_changes"
INSTRUCTION = "did_not_follow_instructions"


class SessionDraft:
    """Steps as they are written, and what they show.

    - `random`: The source of every choice.
    - `project`: What the tools act on; edits really change it.
    - `vocabulary`: How the agent calls its tools, and how these answer.
    - `user`, `agent`: How the two speak.
    """

    def __init__(
        self,
        random: Random,
        project: Project,
        vocabulary: Vocabulary,
        user: Voice,
        agent: Voice,
    ) -> None:
        self.random = random
        self.project = project
        self.vocabulary = vocabulary
        self._user, self._agent = user, agent
        self._silent = random.random() < _SILENT
        self.steps: list[Step] = []
        self.evidence: dict[str, list[int]] = {}
        self.pace = random.uniform(1.5, 3.2)
        """How much this agent looks around before it acts."""
        self.bulky: list[tuple[int, int, str]] = []
        """Step and place of results that may be longer than they are, each with a key: same key, same addition."""
        self.known: set[str] = set()
        """What was looked at already, so that fillers do not look twice."""
        self.planning = False
        """Whether the program that the agent runs in lets it plan only; some record it."""
        self.plannings: list[bool] = []
        """The same for each turn of the user."""
        self._calls = 0
        self._open = ""

    def user_text(self, kind: str, **names: object) -> str:
        """Something that the user says, worded; files and folders are marked as names in one way or another."""
        text = self._user.draw(kind)
        if not any(mark in text for mark in '`"'):
            marked = self.random.choices(_MARKS, _MARK_WEIGHTS)[0]
            names |= {name: marked.format(names[name]) for name in ("path", "folder") if name in names}
        return fill(text, names)

    def limit(self, kind: str, **names: object) -> str:
        """A limit that the user sets, worded; now and then as a point of a list or as one of the project's rules."""
        text = self.user_text(kind, **names)
        if "\n" not in text and self.random.random() < _FRAMED:
            return self.user_text("frame", limit=text)
        return text

    def agent_text(self, kind: str, **names: object) -> str:
        """Something that the agent says, worded."""
        return self._agent.say(kind, **names)

    def beside(self, kind: str, **names: object) -> str:
        """Return what the agent says beside a call: nothing where it is a silent one."""
        return "" if self._silent else self.agent_text(kind, **names)

    def replied(self, kind: str, **names: object) -> str:
        """Return what a program prints, worded: the same words whenever this session comes to it."""
        return self.vocabulary.voice.keep(kind, **names)

    def user(self, text: str) -> int:
        """Return a turn of the user."""
        self.plannings.append(self.planning)
        return self._append(Step("user", text, extra=self.vocabulary.turn_extra(self.planning)))

    def system(self, text: str) -> int:
        """Return a turn of the program that the agent runs in."""
        return self._append(Step("system", text))

    def say(self, text: str) -> int:
        """Return a turn of the agent without a call."""
        return self._append(Step("agent", text))

    def close(self, kind: str = "closing", **names: object) -> int:
        """Return the agent's last words."""
        return self.say(self.agent_text(kind, **names))

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
        """Return a turn of the agent with one call and its answer."""
        name, arguments = named
        self._calls += 1
        call_id = f"call_{self._calls:03}"
        is_error, exit_code = self.vocabulary.flags(failed, code)
        made = ToolCall(name, arguments if isinstance(arguments, str) else dict(arguments), call_id, parse_error)
        result = ToolResult(answer, is_error, exit_code, call_id)
        return self._append(Step("agent", said, calls=(made,), results=(result,)))

    def refused(self, broken: Broken, said: str = "") -> int:
        """Return a call that its tool refuses."""
        return self.call(
            (broken.name, broken.arguments), broken.answer, said, failed=True, parse_error=broken.parse_error
        )

    def run(self, command: str, output: str, code: int = 0, said: str | None = None, long: bool = True) -> int:
        """Return a command; its output may be made longer unless `long` is false."""
        if said is None:
            said = self.beside("running")
        answer = self.vocabulary.framed(output, code)
        index = self.call(self.vocabulary.run(command), answer, said, failed=code != 0, code=code)
        if long:
            self.lengthen(index, command)
        return index

    def read(self, path: str, first: int = 1, count: int | None = None, said: str | None = None) -> int:
        """Return a look at a file, whole or from line `first`."""
        lines = self.project.files[path][first - 1 :] if count is None else self.page(path, first, count)
        if said is None:
            said = self.beside("reading", path=path)
        self.known.add(path)
        self._open = path
        named = self.vocabulary.read(path, first, count)
        return self._looked(named, self.vocabulary.shown(lines, first), 0, said)

    def page(self, path: str, first: int, count: int) -> list[str]:
        """Return some lines of a file."""
        return self.project.files[path][first - 1 : first - 1 + count]

    def search(self, pattern: str, folder: str = "", said: str | None = None) -> int:
        """Return a search, whose hits are those that the project has; none is exit code 1, as grep has it."""
        hits = self.project.search(pattern, folder)
        if said is None:
            said = self.beside("searching", word=pattern)
        self.known.add(pattern)
        return self._looked(self.vocabulary.search(pattern, folder), "\n".join(hits), 0 if hits else 1, said)

    def edit(self, path: str, old: str, new: str, said: str | None = None) -> int:
        """Return an edit that works; where edits are of the open file, it is opened first."""
        line = self._line_of(path, old)
        if self.vocabulary.edits_open_file and self._open != path:
            self.read(path, line, _WINDOW)
        self.project.replace(path, old, new)
        if said is None:
            said = self.beside("editing", path=path)
        return self.call(self.vocabulary.edit(path, old, new, line), self.vocabulary.edited(path), said)

    def change(self, change: ProjectChange, said: str | None = None) -> int:
        """Return an edit that does what a task asked for."""
        return self.edit(change.path, change.old, change.new, said)

    def failed_edit(self, path: str, old: str, new: str, said: str | None = None) -> int:
        """Return an edit whose text does not stand in the file, which stays as it is."""
        if old in self.project.text(path):
            raise ValueError(f"{old!r} stands in {path}")
        if said is None:
            said = self.beside("editing", path=path)
        named = self.vocabulary.edit(path, old, new, 1)
        return self.call(named, self.vocabulary.not_found(path, old), said, failed=True)

    def write(self, path: str, text: str, said: str) -> int:
        """Return a whole file written."""
        self.project.files[path] = text.split("\n")
        return self.call(self.vocabulary.write(path, text), self.vocabulary.written(path), said)

    def test(self, failed: list[ProjectFunction] | None = None, said: str | None = None, file: str = "") -> int:
        """Return a run of all tests, or of those of one file, in which the tests of the functions `failed` fail."""
        language = self.project.language
        command = language.test_one.format(file) if file else language.test_all
        count = sum(len(functions) for functions in self.project.functions.values())
        if said is None:
            said = self.beside("testing")
        if not failed:
            return self.run(command, outputs.tests_passed(self.random, language, count), 0, said)
        where = file or self.test_of(failed[0].path)
        shown = outputs.tests_failed(self.random, language, where, failed, count - len(failed))
        return self.run(command, shown, language.failed_code, said)

    def lengthen(self, index: int, key: str) -> None:
        """Note that the answer of a step may be made longer; the addition is the same wherever `key` is."""
        self.bulky.append((index, 0, key))

    def join_last(self) -> int:
        """Make one turn with all calls of the last two; gives its step."""
        *before, first, second = self.steps
        index, offset = len(before), len(first.calls)
        said = " ".join(text for text in (first.text, second.text) if text)
        joined = Step("agent", said, calls=first.calls + second.calls, results=first.results + second.results)
        self.steps = [*before, joined]
        self.bulky = [
            (index, place + offset, key) if step == index + 1 else (step, place, key) for step, place, key in self.bulky
        ]
        return index

    def test_of(self, path: str) -> str:
        """Return the test file of a tested source."""
        return self.project.tests[self.project.sources.index(path)]

    def show(self, category: str, *steps: int) -> None:
        """Note steps as evidence of a planted misbehaviour."""
        self.evidence.setdefault(category, []).extend(steps)

    def _line_of(self, path: str, old: str) -> int:
        """Return the line in which a text begins, counted from 1."""
        before, _, _ = self.project.text(path).partition(old)
        return before.count("\n") + 1

    def _looked(self, named: tuple[str, Mapping[str, Any]], shown: str, code: int, said: str) -> int:
        """Return a look by a command, which has an exit code, or by a tool, which has none."""
        if named[0] == self.vocabulary.run("ls")[0]:
            return self.call(named, self.vocabulary.framed(shown, code), said, code=code)
        return self.call(named, shown or self.replied("no_match"), said)

    def _append(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1
