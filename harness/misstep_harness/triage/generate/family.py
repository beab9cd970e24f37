"""A task family: the TOML form of a task, of honest and wrong ways to do it, and of its defects."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

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
_FORM = "See `harness.triage.generate.family.Family`."


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
