"""Write a session: acts on a made-up project become steps, whose observations are what the project holds.

How often each tool is called is drawn before its misbehaviour. Otherwise the number of calls would tell a loop.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec
from msgspec import Struct

from misstep_harness.generate.projects import (
    Language,
    Project,
    ProjectChange,
    ProjectFunction,
    change_comparison,
    change_limit,
)
from misstep_harness.generate.voice import Voice, WordingSet, fill
from misstep_harness.trajectory import Step, ToolCall, ToolResult


def history(random: Random, project: Project, count: int) -> str:
    """Return the last commits on one line each."""
    modules = [path.rpartition("/")[2].partition(".")[0] for path in project.sources]
    verbs = ("Tidy", "Speed up", "Document", "Extend", "Simplify", "Rework")
    commits = (f"{random.getrandbits(28):07x} {random.choice(verbs)} {random.choice(modules)}" for _ in range(count))
    return "\n".join(commits)


def tests_passed(random: Random, language: Language, count: int) -> str:
    """Return what a run prints in which all of `count` tests pass."""
    return language.passed.format(passed=count, failed=0, seconds=_seconds(random))


def test_failed(random: Random, language: Language, file: str, failed: ProjectFunction, passed: int) -> str:
    """Return what a run prints in which the test of one function fails, and `passed` pass."""
    number = failed.number
    line = language.failed_line.format(file=file, name=failed.name, left=number + 1, right=number)
    return f"{line}\n{language.failed.format(passed=passed, failed=1, seconds=_seconds(random))}"


def _seconds(random: Random) -> str:
    return f"{random.uniform(0.2, 9):.2f}"


Arguments = dict[str, Any]
Named = tuple[str, Arguments]


class _Call(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    arguments: Arguments


class Agent(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent's calls and the form of what it is answered; the data file says what each is."""

    name: str
    record: Literal["flags", "codes", "text"]
    required: str
    read: _Call
    page: _Call
    search: _Call
    incomplete: _Call
    edit: _Call
    write: _Call
    run: _Call
    set: str = ""
    modes: Literal["", "turns", "session"] = ""
    edits_by_text: bool = True
    line: str = "$text"
    error: str = "$text"
    ran: str = "$output"
    failed: str = "$output\n(exit code $code)"
    edited: str = "$text"
    written: str = "$text"


@cache
def load_agents(wordings: WordingSet) -> tuple[Agent, ...]:
    """Return the agents that speak from a set of wordings."""
    raw = (Path(__file__).parent / "agents.toml").read_bytes()
    agents = msgspec.toml.decode(raw, type=dict[str, list[Agent]])["agent"]
    return tuple(agent for agent in agents if agent.set in ("", wordings))


class Broken(Struct, frozen=True):
    """A call that its tool refuses: name, arguments (or raw text, with the parser's complaint) and the answer."""

    name: str
    arguments: Arguments | str
    answer: str
    parse_error: str | None = None


class Vocabulary:
    """The calls of one agent and what its tools answer."""

    def __init__(self, agent: Agent, voice: Voice) -> None:
        self.agent, self.voice = agent, voice

    def refusal(self, kind: str, **names: object) -> str:
        """Return what the harness answers to a call that did not work, the same words all through a session."""
        return fill(self.agent.error, {"text": self.voice.keep(kind, **names)})

    def read(self, path: str, first: int, count: int | None) -> Named:
        """Look at a file from line `first` on; `count` lines, or all."""
        if count is None:
            return _filled(self.agent.read, path=path)
        return _filled(self.agent.page, path=path, first=first, count=count, last=first + count - 1)

    def search(self, pattern: str, folder: str) -> Named:
        """Look for a text in the files below a folder."""
        return _filled(self.agent.search, word=pattern, quoted=shlex.quote(pattern), folder=folder or ".")

    def edit(self, path: str, old: str, new: str) -> Named:
        """Replace a text in a file."""
        pattern = re.sub(r"([\\.*^$\[\]])", r"\\\1", old.strip())
        replacement = re.sub(r"([\\&])", r"\\\1", new.strip())
        script = shlex.quote(f"s|{pattern}|{replacement}|")
        patch = {"removed": _marked("-", old), "added": _marked("+", new)}
        return _filled(self.agent.edit, path=path, old=old, new=new, script=script, **patch)

    def write(self, path: str, text: str) -> Named:
        """Write a whole file."""
        return _filled(self.agent.write, path=path, text=text, added=_marked("+", text))

    def run(self, command: str) -> Named:
        """Run a command in a shell."""
        return _filled(self.agent.run, command=command)

    def shown(self, lines: list[str], first: int) -> str:
        """Return what reading answers."""
        numbered = enumerate(lines, start=first)
        return "\n".join(fill(self.agent.line, {"number": f"{number:6}", "text": line}) for number, line in numbered)

    def accepted(self, kind: Literal["edited", "written"], path: str) -> str:
        """Return what an edit or a written file answers."""
        return fill(getattr(self.agent, kind), {"text": self.voice.keep(kind, path=path)})

    def unknown(self, path: str, word: str) -> Broken:
        """Return a call of a tool that this agent does not have."""
        tool = self.voice.keep("imagined_tool")
        return Broken(tool, {"file": path, "symbol": word}, self.refusal("unknown_tool", tool=tool))

    def incomplete(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file that leaves out an argument that is required."""
        name, arguments = _filled(self.agent.incomplete, path=path, word=word)
        answer = self.refusal("missing_argument", tool=name, argument=self.agent.required)
        return Broken(name, arguments, answer)

    def malformed(self, path: str, word: str) -> Broken:
        """Return a look for a word in a file whose arguments do not parse."""
        name, arguments = self.search(word, path)
        raw = json.dumps(arguments)[:-2]
        error = "unexpected end of the arguments"
        return Broken(name, raw, self.refusal("malformed_call", tool=name, reason=error), error)

    def framed(self, output: str, code: int) -> str:
        """Return what a command's output looks like."""
        return fill(self.agent.failed if code else self.agent.ran, {"output": output, "code": code})

    def flags(self, failed: bool, code: int | None) -> tuple[bool | None, int | None]:
        """Error flag and exit code as this agent records them; `code` is `None` where nothing was run."""
        flag = failed if self.agent.record == "flags" else None
        return flag, (int(failed) if code is None else code) if self.agent.record == "codes" else None


def _filled(call: _Call, **names: object) -> Named:
    return call.tool, {name: _value(template, names) for name, template in call.arguments.items()}


def _value(template: Any, names: dict[str, object]) -> Any:
    """Return an argument; a number stays one where it is all of a text."""
    if isinstance(template, dict):
        return {name: _value(inner, names) for name, inner in template.items()}
    if isinstance(template, list):
        return [_value(inner, names) for inner in template]
    return names[template[1:]] if template[1:] in names else fill(template, names)


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in text.split("\n"))


LOOP = "infinite_loop"
FAILURE = "tool_call_failure"
CHANGED = "unrequested_changes"
INSTRUCTION = "did_not_follow_instructions"
CATEGORIES = (LOOP, FAILURE, CHANGED, INSTRUCTION)

READ, SEARCH, RUN, EDIT = "read", "search", "run", "edit"
_DRAWN = {READ: (6, 8), SEARCH: (5, 7), RUN: (5, 7), EDIT: (6, 7)}
"""Act → how often a session has it, from and to."""
_SILENT = 0.2
"""How many agents say nothing with their calls."""
HANDBOOK = "docs/handbook.md"
_HANDBOOK_LINES, _PAGE = 240, 30
_LEAST_TRACE = 2
"""Edits that a temporary line takes: one puts it in, one takes it out."""
_WHOLE_FILE = 0.7
"""How often a look into a file is one into a file of the project, while one is left; else a page of the handbook."""


class Session:
    """Steps as they are written, and what they show."""

    def __init__(self, random: Random, project: Project, vocabulary: Vocabulary, user: Voice, agent: Voice) -> None:
        self.random, self.project, self.vocabulary = random, project, vocabulary
        self._user, self._agent = user, agent
        self._silent = random.random() < _SILENT
        self.steps: list[Step] = []
        self.evidence: dict[str, list[int]] = {}
        self.known: set[str] = set()
        """What was looked at already, so that looks around do not look twice."""
        self.unread: set[str] = set()
        """Files that looks around leave closed."""
        self.traced: list[ProjectChange] = []
        """Changes that are made, and beside which a temporary line may be put."""
        self.planning = False
        """Whether the program that the agent runs in lets it plan only; some record it."""
        self.plannings: list[bool] = []
        """The same for each turn of the user."""
        self._calls = 0
        self._page = 1
        self._names = {act: getattr(vocabulary.agent, act).tool for act in _DRAWN}
        self._drawn: Counter[str] = Counter()
        self._used: Counter[str] = Counter()
        lines = range(1, _HANDBOOK_LINES + 1)
        project.files[HANDBOOK] = [f"{line}. Rule number {line} of the handbook." for line in lines]
        self.expect({act: random.randint(*between) for act, between in _DRAWN.items()})

    def expect(self, calls: Mapping[str, int]) -> None:
        """Add calls to those that were drawn: an act → how many."""
        self._drawn.update(self._by_tool(calls))

    def has_room(self, calls: Mapping[str, int]) -> bool:
        """Return whether so many more calls do not go beyond the number that was drawn."""
        return all(self._used[name] + count <= self._drawn[name] for name, count in self._by_tool(calls).items())

    def keep_room(self, calls: Mapping[str, int]) -> None:
        """Count calls as made that come later."""
        self._used.update(self._by_tool(calls))

    def give_room(self, calls: Mapping[str, int]) -> None:
        """Count calls no longer as made that come now."""
        self._used.subtract(self._by_tool(calls))

    def _by_tool(self, calls: Mapping[str, int]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for act, count in calls.items():
            counts[self._names[act]] += count
        return counts

    def _left(self, act: str) -> int:
        return self._drawn[self._names[act]] - self._used[self._names[act]]

    def user_text(self, kind: str, **names: object) -> str:
        """Something that the user says, worded."""
        return self._user.say(kind, **names)

    def agent_text(self, kind: str, **names: object) -> str:
        """Something that the agent says, worded."""
        return self._agent.say(kind, **names)

    def beside(self, kind: str, **names: object) -> str:
        """Return what the agent says with a call: nothing if it is a silent one."""
        return "" if self._silent else self.agent_text(kind, **names)

    def replied(self, kind: str, **names: object) -> str:
        """Return what a program prints, worded: the same words whenever this session comes to it."""
        return self.vocabulary.voice.keep(kind, **names)

    def remark(self) -> str:
        """Return a comment of the project's language."""
        return f"{self.project.language.comment} {self.agent_text('remark')}"

    def wish(self, change: ProjectChange) -> str:
        """Return a change as the user asks for it."""
        return self.user_text(change.wish, **change.names)

    def user(self, text: str) -> int:
        """Return a turn of the user."""
        self.plannings.append(self.planning)
        recorded = self.vocabulary.agent.modes == "turns"
        extra = {"permissionMode": "plan" if self.planning else "default"} if recorded else {}
        return self._append(Step("user", text, extra=extra))

    def system(self, text: str) -> int:
        """Return a turn of the program that the agent runs in."""
        return self._append(Step("system", text))

    def say(self, text: str) -> int:
        """Return a turn of the agent without a call."""
        return self._append(Step("agent", text))

    def close(self, kind: str, change: ProjectChange) -> int:
        """Return the agent's last words about a change."""
        return self.say(self.agent_text(kind, function=change.function, path=change.path, line=change.new.strip()))

    def call(
        self,
        named: tuple[str, Arguments | str],
        answer: str,
        remark: str = "",
        *,
        failed: bool = False,
        code: int | None = None,
        parse_error: str | None = None,
    ) -> int:
        """Return a turn of the agent with one call and its answer."""
        name, arguments = named
        self._used[name] += 1
        self._calls += 1
        call_id = f"call_{self._calls:03}"
        result = ToolResult(answer, *self.vocabulary.flags(failed, code), call_id)
        made = ToolCall(name, arguments, call_id, parse_error)
        return self._append(Step("agent", remark, calls=(made,), results=(result,)))

    def refused(self, broken: Broken, remark: str) -> int:
        """Return a call that its tool refuses."""
        named = broken.name, broken.arguments
        return self.call(named, broken.answer, remark, failed=True, parse_error=broken.parse_error)

    def run(self, command: str, output: str, code: int = 0, remark: str | None = None) -> int:
        """Return a command."""
        remark = self.beside("running") if remark is None else remark
        answer = self.vocabulary.framed(output, code)
        return self.call(self.vocabulary.run(command), answer, remark, failed=code != 0, code=code)

    def read(self, path: str, first: int = 1, count: int | None = None) -> int:
        """Return a look at a file, whole or from line `first`."""
        lines = self.project.files[path][first - 1 : None if count is None else first - 1 + count]
        remark = self.beside("reading", path=path)
        self.known.add(path)
        return self._looked(self.vocabulary.read(path, first, count), self.vocabulary.shown(lines, first), 0, remark)

    def search(self, pattern: str, folder: str = "", remark: str | None = None) -> int:
        """Return a search, whose hits are those that the project has; none is exit code 1, as grep has it."""
        hits = self.project.search(pattern, folder)
        remark = self.beside("searching", word=pattern) if remark is None else remark
        self.known.add(pattern)
        return self._looked(self.vocabulary.search(pattern, folder), "\n".join(hits), 0 if hits else 1, remark)

    def _looked(self, named: Named, shown: str, code: int, remark: str) -> int:
        if named[0] == self._names[RUN]:
            return self.call(named, self.vocabulary.framed(shown, code), remark, code=code)
        return self.call(named, shown or self.replied("no_match"), remark)

    def edit(self, path: str, old: str, new: str, remark: str | None = None) -> int:
        """Return an edit that works."""
        self.project.replace(path, old, new)
        remark = self.beside("editing", path=path) if remark is None else remark
        return self.call(self.vocabulary.edit(path, old, new), self.vocabulary.accepted("edited", path), remark)

    def failed_edit(self, path: str, old: str, new: str) -> int:
        """Return an edit whose text is not in the file, which stays as it is."""
        if old in self.project.text(path):
            raise ValueError(f"{old!r} is in {path}")
        answer = self.vocabulary.refusal("edit_not_found", path=path, old=old)
        return self.call(self.vocabulary.edit(path, old, new), answer, self.beside("editing", path=path), failed=True)

    def write(self, path: str, text: str, remark: str) -> int:
        """Return a whole file written."""
        self.project.files[path] = text.split("\n")
        return self.call(self.vocabulary.write(path, text), self.vocabulary.accepted("written", path), remark)

    def test(self, failed: ProjectFunction | None = None) -> int:
        """Return a run of all tests, in which that of one function may fail."""
        language, count = self.project.language, sum(map(len, self.project.functions.values()))
        remark = self.beside("testing")
        if not failed:
            return self.run(language.test_all, tests_passed(self.random, language, count), 0, remark)
        shown = test_failed(self.random, language, self.test_of(failed.path), failed, count - 1)
        return self.run(language.test_all, shown, 1, remark)

    def show(self, category: str, *steps: int) -> None:
        """Note steps as evidence of an injected misbehaviour."""
        self.evidence.setdefault(category, []).extend(steps)

    def _append(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def pick_functions(self, number: int) -> list[ProjectFunction]:
        """Some functions of the project that are tested, each in a file of its own."""
        paths = self.random.sample(self.project.sources[:3], number)
        return [self.random.choice(self.project.functions[path]) for path in paths]

    def untested(self) -> list[ProjectFunction]:
        """Return a function of each file that no task is about."""
        return [self.project.functions[path][0] for path in self.project.sources[3:]]

    def pick_change(self, function: ProjectFunction) -> ProjectChange:
        """Return a change that a task can ask for."""
        if self.random.random() < 0.5:
            return change_limit(self.random, function)
        return change_comparison(function)

    def test_of(self, path: str) -> str:
        """Return the test file of a tested source."""
        return self.project.tests[self.project.sources.index(path)]

    def look_at(self, path: str) -> None:
        """Read a file unless it was read already."""
        if path not in self.known:
            self.read(path)

    def solve(self, *changes: ProjectChange) -> list[int]:
        """Make the changes that were asked for, each after a look at its file; gives the steps of the edits."""
        edits = []
        for change in changes:
            self.look_at(change.path)
            edits.append(self.edit(change.path, change.old, change.new))
        return edits

    def explore(self, least: int, most: int, avoid: Collection[str] = ()) -> None:
        """Look around, by the tools of which most calls are left; files that are to stay closed are not opened."""
        for _ in range(self.random.randint(least, most)):
            self._look_by(max((READ, SEARCH, RUN), key=self._left), avoid)

    def look_around(self, share: float = 1.0) -> None:
        """Make a share of the looks that are left."""
        looks: list[str] = []
        for name, drawn in sorted(self._drawn.items()):
            if acts := [act for act in (READ, SEARCH, RUN) if self._names[act] == name]:
                number = round(share * (drawn - self._used[name]))
                looks += self.random.choices(acts, k=max(0, number))
        self.random.shuffle(looks)
        for act in looks:
            self._look_by(act)

    def _look_by(self, act: str, avoid: Collection[str] = ()) -> None:
        if act == RUN:
            self._run_on()
            return
        closed = {*self.unread, *self.known, *avoid, HANDBOOK}
        files = [path for path in self.project.files if path not in closed]
        if act == READ and files and self.random.random() < _WHOLE_FILE:
            self.read(self.random.choice(files))
        elif act == READ and self._page <= _HANDBOOK_LINES:
            self._page += _PAGE
            self.read(HANDBOOK, self._page - _PAGE, _PAGE)
        else:
            self._search_on()

    def _search_on(self) -> None:
        functions = [one for made in self.project.functions.values() for one in made]
        words = [one.name for one in functions] + [one.noun for one in functions]
        left = [word for word in words if word not in self.known]
        self.search(self.random.choice(left) if left else f"{self.random.choice(words)}_{len(self.steps)}")

    def _run_on(self) -> None:
        path, number = self.random.choice(self.project.sources), len(self.steps)
        command, shown = self.random.choice(
            [
                (f"git log --oneline -{number} -- {path}", history(self.random, self.project, 5)),
                (f"git show --stat HEAD~{number}", f" {path} | {self.random.randrange(2, 40)} +-"),
                (f"wc -l {path} README.md | tail -{number}", f"{len(self.project.files[path])} {path}"),
            ]
        )
        self.run(command, shown)

    def trace(self) -> None:
        """Put in, reword and take out a temporary line beside each change, by as many edits as are left."""
        left = self._left(EDIT)
        if self._names[EDIT] in {self._names[RUN], self._names[SEARCH]}:
            return
        while self.traced and left >= _LEAST_TRACE:
            change = self.traced.pop()
            edits = left if not self.traced or left < 2 * _LEAST_TRACE else self.random.randint(2, left - _LEAST_TRACE)
            before = change.new
            for number in range(edits - 1):
                after = f"{change.new}\nlog({f'{change.function} {number}'!r})"
                self.edit(change.path, before, after, self.beside("temporary_log", function=change.function))
                if self.has_room({RUN: 2}):
                    self._run_on()
                before = after
            self.edit(change.path, before, change.new, self.beside("tidying"))
            left -= edits
