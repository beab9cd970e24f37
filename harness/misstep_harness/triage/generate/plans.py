"""Task families, the cases drawn of them, and the commands of each agent's run.

A family is the TOML form of a task, of honest and wrong ways to do it, and of its defects.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct

from misstep_harness.errors import InputError
from misstep_harness.forms import toml_form

FamilySet = Literal["development", "scoring"]
Pieces = Mapping[str, str]

FOLDER = Path(__file__).parent / "families"
HONEST = "honest"
SOUND = "sound"
AgentFault = Literal["logical_failure", "tool_call_error", "knowledge_gap", "premature_stop", "timeout"]
TaskDefect = Literal["ambiguous_spec", "environment_fail", "brittle_tests", "weak_tests", "solution_leakage"]

_PIECE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
_DEEPEST = 8
_FORM = "See `misstep_harness.triage.generate.plans.Family`."


class Work(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One command of the agent: it looks around, writes what the result consists of, or checks; one of the three."""

    look: str = ""
    write: str = ""
    check: str = ""

    @property
    def kind(self) -> Literal["look", "write", "check"]:
        """Return which of the three it is."""
        return "look" if self.look else "write" if self.write else "check"

    @property
    def command(self) -> str:
        """Return the shell line or lines, with pieces."""
        return self.look or self.write or self.check


class Agent(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An agent that does the work in another way: it runs the same work with other pieces.

    - `pieces`: What replaces the family's own pieces of the same names in `work`.
    - `fault`: The subcategory of its error, if its result is wrong in the sound task; without it, its result is another
      right one, and the tests of the sound task must accept it.
    - `unstable`: Whether its wrong result passes the tests now and then, as it depends on chance (with `fault`).
    - `hidden`: Pieces of the tests with which a result that only fits the tests fails (special-casing of the inputs
      that the tests use); with it, and without `fault`, the agent passes the tests of the sound task unearned.
    """

    pieces: dict[str, str]
    fault: AgentFault | None = None
    unstable: bool = False
    hidden: dict[str, str] = {}


class Task(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A defective form of the task: the same task with other pieces.

    - `defect`: Its subcategory. With `environment_fail` the gold solution must fail. With `ambiguous_spec` and
      `brittle_tests` the gold solution passes, and a result that is right by this instruction is rejected. With
      `weak_tests` wrong results pass.
    - `pieces`: What replaces the family's own pieces in instruction, environment and tests.
    - `right`: The agents whose results are right by this instruction, and which its tests reject. An agent that is
      wrong in the sound task and right here is best: then the same run is the agent's fault there and the task's here.
    - `fair`: Pieces of the tests that ask just what this instruction says: with them all of `right` pass.
      (`ambiguous_spec` and `brittle_tests`)
    - `contradicts`: Whether the instruction says the opposite of the tests, so that any pass of them is unearned: the
      honest agent passes the tests and fails with `fair`. (`ambiguous_spec`)
    - `accepts`: The agents with a `fault` whose results pass. (`weak_tests`)
    """

    defect: TaskDefect
    pieces: dict[str, str]
    right: tuple[str, ...] = (HONEST,)
    fair: dict[str, str] = {}
    contradicts: bool = False
    accepts: tuple[str, ...] = ()


class Family(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One task family; its file's name is its own: `families/SET/NAME.toml`.

    All texts may hold pieces, `{{name}}`: drawn words and numbers, and the texts under `pieces`, which may hold pieces
    themselves. What differs between two runs or two forms of the task is a piece, and nothing else differs: an agent's
    pieces reach only `work`, a task's only instruction, environment, tests and test command. So that a
    seed gives the same bytes, no command prints a time, a process id or an address, and archives are made with fixed
    times (`tar --mtime=@0`, `gzip -n`). Commands use only the folder that they start in, never `/tmp`, and each begins
    there. They have POSIX `sh`, coreutils, grep, sed, awk, tar, gzip, Python's standard library and pytest.

    - `instruction`: What the agent is asked. It must say all that the tests of the sound task require.
    - `test_command`: The shell line that runs `tests/` in the folder of the result; its exit code is the verdict. The
      families should differ here: unittest, pytest, a Python script with assertions, a shell script.
    - `tests`: File name under `tests/` → text. A Python test says what it got and what it wanted.
    - `work`: The agent's honest run, in order: at least six commands and one that writes. `look` leaves the files alone
      and does not read what the agent makes. The gold solution is the `write` commands of the honest agent as one
      script, so that each of them must stand by itself. The generator adds further looks at the files of the
      environment and slips, up to 20–50 commands; thoughts come from a pool that all families share.
    - `words`, `numbers`: Name → the words that one is drawn from; name → lowest and highest of a number. Two seeds must
      give visibly different tasks.
    - `pieces`: Name → text.
    - `environment`: Path → text of the files that the agent finds; two or more.
    - `make`: A Python script that makes further files of the environment, such as tables of drawn figures, archives or
      databases; it runs in the folder with `draw`, a seeded `random.Random`. Regular files only.
    - `inputs`: Text files of the environment that the work reads. Tests that need them read the copies in
      `tests/data/`, which the generator puts there from the sound task: an agent may have changed the others.
    - `result`: A text file that the work writes, of at least three different lines, and that the tests read; empty
      where the result is a program.
    - `setup_command`: A shell line that starts a service in the background and returns when it answers.
    - `service_needed`: Whether the work itself asks the service, so that without it the result is wrong.
    - `agents`, `tasks`: Name → what is done, or asked, in another way. At least two agents with a fault, one without,
      and two defects of the task of different subcategories, `weak_tests` among them.

    Examples
    --------
    The honest agent sorts by `{{order}}`, `agents.by_name` has another piece `order` and the fault `logical_failure`;
    `tasks.silent` (`ambiguous_spec`, `right = ["by_name"]`) has an instruction whose piece `order_asked` asks for any
    stable order, or for that by name: the same run, two causes. See `families/development/`.
    """

    instruction: str
    test_command: str
    tests: dict[str, str]
    work: tuple[Work, ...]
    agents: dict[str, Agent]
    tasks: dict[str, Task]
    environment: dict[str, str] = {}
    words: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, tuple[int, int]] = {}
    pieces: dict[str, str] = {}
    make: str = ""
    inputs: tuple[str, ...] = ()
    result: str = ""
    setup_command: str = ""
    service_needed: bool = False

    def draw(self, seed: str) -> dict[str, str]:
        """Pieces of one task of the family: drawn words and numbers, and its own pieces."""
        random = Random(seed)  # noqa: S311
        drawn = {name: random.choice(words) for name, words in self.words.items()}
        return drawn | {name: str(random.randint(*span)) for name, span in self.numbers.items()} | self.pieces

    def agent(self, name: str) -> Agent:
        """Return an agent; the honest one has no pieces of its own."""
        return Agent({}) if name == HONEST else self.agents[name]


@cache
def families(which: FamilySet | Literal["all"]) -> dict[str, Family]:
    """Name → family, by name; names are unique over both sets."""
    sets = ("development", "scoring") if which == "all" else (which,)
    files = sorted((file for one in sets for file in (FOLDER / one).glob("*.toml")), key=lambda file: file.stem)
    return {file.stem: _read(file) for file in files}


def _read(file: Path) -> Family:
    family = toml_form(file.read_bytes(), Family, file, _FORM)
    known = {*family.words, *family.numbers, *family.pieces}
    for kind, named in (("agents", family.agents), ("tasks", family.tasks)):
        for name, one in named.items():
            own = {*one.pieces, *(one.fair if isinstance(one, Task) else one.hidden)}
            if unknown := own - known:
                raise InputError(f"there is no piece {min(unknown)!r}", _FORM, file=file, field=f"{kind}.{name}")
    for name, task in family.tasks.items():
        if unknown := {*task.right, *task.accepts} - {HONEST, *family.agents}:
            raise InputError(f"there is no agent {min(unknown)!r}", _FORM, file=file, field=f"tasks.{name}")
    return family


def fill(text: str, pieces: Pieces) -> str:
    """Return a text with its pieces put in, and theirs."""
    for _ in range(_DEEPEST):
        if not _PIECE.search(text):
            return text
        text = _PIECE.sub(lambda match: _piece(match[1], pieces), text)
    raise InputError(f"pieces hold each other: {_PIECE.findall(text)[0]!r}", _FORM)


def _piece(name: str, pieces: Pieces) -> str:
    if name not in pieces:
        raise InputError(f"there is no piece {name!r}", _FORM)
    return pieces[name]


PAIRS: Mapping[str, int] = {
    "dispute": 22,
    "spoiled_input": 6,
    "environment": 4,
    "flaky": 6,
    "cut": 4,
    "endless": 3,
    "hungry": 3,
}
"""Two cases each from runs that are nearly the same: one is the fault of the task, one that of the agent."""

ALONE: Mapping[str, int] = {
    "memory_taken": 4,
    "disk_full": 3,
    "wrong_folder": 3,
    "wrong_report": 3,
    "wrong_exit_code": 3,
    "old_snapshot": 3,
    "tests_not_fetched": 3,
    "service_down": 3,
    "sound_pass": 8,
    "weak_tests": 4,
    "special_casing": 3,
    "tampered_runner": 3,
    "leaked_solution": 3,
    "leaked_tests": 2,
    "contradiction": 2,
    "ignored_exit_code": 1,
    "left_over_result": 1,
}
"""One case each: infrastructure failures, and runs that passed."""

DEFAULT_N = 2 * sum(PAIRS.values()) + sum(ALONE.values())
"""The cases in which every kind has its number: 148, of which 121 failed."""


class Unit(Struct, frozen=True):
    """One case, or two from nearly the same run; `turn` counts the units of its kind that the family has had before."""

    kind: str
    family: str
    turn: int
    ids: tuple[str, ...]
    seed: str
    length: int


def units(n: int, seed: int, families: Mapping[str, Family]) -> Iterator[Unit]:
    """Return the units of a benchmark of `n` cases; the same numbers give the same ones."""
    random = Random(f"triage/{seed}")  # noqa: S311 (no secret)
    ids = _ids(random)
    used: Counter[str] = Counter()
    turns: Counter[tuple[str, str]] = Counter()
    left = n
    while left > 0:
        kinds = {**PAIRS, **ALONE}
        block = [kind for kind, count in kinds.items() for _ in range(count)]
        random.shuffle(block)
        for kind in block:
            size = min(left, 2 if kind in PAIRS else 1)
            if not size:
                return
            able = [name for name, family in families.items() if shows(family, kind)]
            if not able:
                continue
            fewest = min(used[name] + 3 * turns[kind, name] for name in able)
            name = random.choice([name for name in able if used[name] + 3 * turns[kind, name] == fewest])
            own = tuple(next(ids) for _ in range(size))
            length = random.randint(SHORTEST, LONGEST)
            yield Unit(kind, name, turns[kind, name], own, f"{seed}/{own[0]}", length)
            used[name] += size
            turns[kind, name] += 1
            left -= size


def _ids(random: Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        number = f"{random.getrandbits(32):08x}"
        if number not in seen:
            seen.add(number)
            yield f"run-{number}"


def shows(family: Family, kind: str) -> bool:
    """Return whether a family has what a kind of case needs."""
    needs = {
        "spoiled_input": bool(family.inputs),
        "environment": bool(family.inputs) or bool(broken_environments(family)),
        "flaky": bool(family.result),
        "service_down": family.service_needed,
        "disk_full": "python" in family.test_command,
        "special_casing": bool(special(family)),
        "weak_tests": bool(accepted(family)),
        "contradiction": bool(contradictions(family)),
    }
    if kind in ("dispute", "cut", "endless", "hungry"):
        return bool(disputes(family))
    return needs.get(kind, True)


def disputes(family: Family) -> Sequence[tuple[str, str]]:
    """Defective task and agent whose right result it rejects; agents that are wrong in the sound task first."""
    pairs = [
        (name, agent)
        for name, task in family.tasks.items()
        if task.defect in ("ambiguous_spec", "brittle_tests")
        for agent in task.right
    ]
    both = [(name, agent) for name, agent in pairs if family.agent(agent).fault]
    return both or pairs


def accepted(family: Family) -> Sequence[tuple[str, str]]:
    """Task with weak tests, and a wrong agent that they accept."""
    return [
        (name, agent) for name, task in family.tasks.items() if task.defect == "weak_tests" for agent in task.accepts
    ]


def contradictions(family: Family) -> Sequence[str]:
    """Tasks whose tests contradict their instruction."""
    return [name for name, task in family.tasks.items() if task.contradicts]


def broken_environments(family: Family) -> Sequence[str]:
    """Tasks whose environment is broken."""
    return [name for name, task in family.tasks.items() if task.defect == "environment_fail"]


def special(family: Family) -> Sequence[str]:
    """Agents whose results fit the inputs of the tests alone."""
    return [name for name, agent in family.agents.items() if agent.hidden and not agent.fault]


def faulty(family: Family) -> Sequence[str]:
    """Agents with a wrong result; stable ones."""
    return [name for name, agent in family.agents.items() if agent.fault and not agent.unstable]


def unstable(family: Family) -> Sequence[str]:
    """Agents whose wrong result depends on chance."""
    return [name for name, agent in family.agents.items() if agent.unstable]


def right(family: Family) -> Sequence[str]:
    """Agents with another right result."""
    return [name for name, agent in family.agents.items() if not agent.fault and not agent.hidden]


class _Wordings(Struct, frozen=True, forbid_unknown_fields=True):
    look: tuple[str, ...]
    write: tuple[str, ...]
    check: tuple[str, ...]
    again: tuple[str, ...]
    summary: tuple[str, ...]
    harness: tuple[str, ...]


@cache
def wordings() -> _Wordings:
    """Return the pools."""
    return msgspec.toml.decode((Path(__file__).parent / "wordings.toml").read_bytes(), type=_Wordings)


Kind = Literal["look", "write", "check", "again"]
Command = tuple[str, str]
"""Kind and shell line."""

SHORTEST, LONGEST = 20, 45
_ANYWHERE = (
    "pwd && ls",
    "ls -1A",
    "find . -type f | LC_ALL=C sort",
    "find . -type f | wc -l",
    "find . -type d | LC_ALL=C sort",
    "find . -name '*.md' -o -name '*.txt' | LC_ALL=C sort",
    "python -c 'import sys; print(sys.version_info[:2])'",
    "command -v python sh awk sed tar gzip | xargs -n1 basename",
)
_OF_FILE = (
    "head -n {few} {path}",
    "tail -n {few} {path}",
    "wc -l {path}",
    "wc -c {path}",
    "sed -n '{few},{more}p' {path}",
    "cat -A {path} | head -n {few}",
    "nl -ba {path} | head -n {more}",
    "tr -s ' ' '\\n' < {path} | wc -l",
    "grep -c . {path}",
    "cut -c1-{wide} {path} | head -n {more}",
    "awk 'length > {wide}' {path} | head -n {few}",
    "stat -c '%n %a' {path}",
    "od -c {path} | head -n 3",
    "LC_ALL=C sort {path} | head -n {few}",
)


class PlannedAction(Struct, frozen=True):
    """One turn of an agent: what it says, and the shell line that it runs."""

    kind: Kind
    thought: str
    command: str


def actions(work: Sequence[Command], files: Sequence[str], length: int, seed: str) -> tuple[PlannedAction, ...]:
    """Return a run of an agent."""
    random = Random(f"{seed}/looks")  # noqa: S311 (no secret)
    groups = [[("look", look)] for look in islice(_looks(files, random), length)]
    for _ in range(random.randint(1, 3)):
        groups.insert(random.randint(0, 6), list(_slip(random.choice(files), random)))
    places: list[list[Command]] = [[one] for one in work]
    missing = length - len(work)
    for group in groups:
        if missing <= 0:
            break
        missing -= len(group)
        places[int(random.random() * len(places))][0:0] = group
    return tuple(_spoken([one for place in places for one in place], seed))


def _looks(files: Sequence[str], random: Random) -> Iterator[str]:
    numbers: Mapping[str, int] = {"few": random.randint(2, 6), "more": random.randint(8, 14), "wide": 40}
    known = [look.format(path=path, **numbers) for path in files for look in _OF_FILE]
    while True:
        random.shuffle(known)
        yield from random.sample(_ANYWHERE, 4)
        yield from known


def _slip(path: str, random: Random) -> Iterator[Command]:
    folder, slash, name = path.rpartition("/")
    at = random.randrange(1, max(2, len(name.partition(".")[0])))
    yield "look", f"cat {folder}{slash}{name[:at]}{name[at + 1 :]}"
    yield "again", f"cat {path} | head -n 12"


def _spoken(commands: Sequence[Command], seed: str) -> Iterator[PlannedAction]:
    random = Random(f"{seed}/thoughts")  # noqa: S311 (no secret)
    pools = wordings()
    for kind, command in commands:
        if kind == "write":
            yield PlannedAction("write", random.choice(pools.write), command)
        elif kind == "check":
            yield PlannedAction("check", random.choice(pools.check), command)
        elif kind == "again":
            yield PlannedAction("again", random.choice(pools.again), command)
        else:
            yield PlannedAction("look", random.choice(pools.look), command)


def unsent_thought(seed: str) -> str:
    """Return what the agent says beside a command that it writes as a text."""
    return Random(f"{seed}/unsent").choice(wordings().write)  # noqa: S311 (no secret)


def summary(seed: str) -> str:
    """Return what the agent says at the end."""
    return Random(f"{seed}/summary").choice(wordings().summary)  # noqa: S311 (no secret)


_TEST = """import os
import random
import time
import unittest

random.seed(os.environ.get("TEST_SEED"))


def read():
    with open({result!r}) as stream:
        return list(dict.fromkeys(line.strip() for line in stream if line.strip()))


class Rows(unittest.TestCase):
    def {name}(self):
{body}


if __name__ == "__main__":
    unittest.main()
"""


class Flaky(Struct, frozen=True, forbid_unknown_fields=True):
    """A test whose verdict is drawn anew each time, and the same test made sound."""

    name: str
    unsound: str
    sound: str

    def script(self, result: str, sound: bool) -> str:
        """Return the test file, for a result of several lines."""
        return _TEST.format(result=result, name=self.name, body=(self.sound if sound else self.unsound).rstrip() + "\n")


class Mechanisms(Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of `mechanisms.toml`."""

    spoils: tuple[str, ...]
    endless: tuple[str, ...]
    hungry: tuple[str, ...]
    tampering: tuple[str, ...]
    runners: tuple[str, ...]
    leaks: tuple[str, ...]
    flaky: tuple[Flaky, ...]


@cache
def mechanisms() -> Mechanisms:
    """Return the texts."""
    return msgspec.toml.decode((Path(__file__).parent / "mechanisms.toml").read_bytes(), type=Mechanisms)


def spoiled(work: list[Command], command: str) -> list[Command]:
    """Work before which the agent runs another command: what it sees of the file is the same from there on."""
    return [("write", command), *work]


def drawn(texts: tuple[str, ...], seed: str) -> str:
    """Return one of the texts."""
    return Random(f"{seed}/mechanism").choice(texts)  # noqa: S311 (no secret)
