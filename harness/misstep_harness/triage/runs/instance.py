"""One drawn task of a family, run for real: its environment, agents' and gold results, the tests on them."""

from collections.abc import Mapping
from pathlib import PurePath

from msgspec import Struct

from misstep_harness.errors import MisstepError
from misstep_harness.triage.generate.family import HONEST, SOUND, Family, Pieces, fill
from misstep_harness.triage.generate.plans import Command
from misstep_harness.triage.records import SOLVE, RunLimits
from misstep_harness.triage.runs.session import Done, Tree, run_session, text_tree
from misstep_harness.workspace.sandbox import NO_VARIABLES

LIMITS = RunLimits(seconds=6.0, memory_mb=256, disk_mb=64)
TESTS = "tests/"
DATA = "tests/data/"
"""Copies of the inputs, for tests."""
_MAKE = ".make.py"
_HEAD = "import random\n\ndraw = random.Random({seed!r})\n"


class UnshownError(MisstepError):
    """A drawing of a family does not show what a case is to show."""


class RunSetting(Struct, frozen=True):
    """A task as a run meets it: what is asked, the files that are there, the tests and how they are run."""

    instruction: str
    environment: Tree
    tests: Tree
    test_command: str
    setup: str = ""
    limits: RunLimits = LIMITS


class TaskForm:
    """The sound task or a defective form of it, with its pieces put in."""

    def __init__(self, family: Family, drawn: Pieces, name: str, sound: "TaskForm | None", seed: str) -> None:
        self.name, self.family = name, family
        self.task = None if sound is None else family.tasks[name]
        self.pieces = {**drawn, **(self.task.pieces if self.task else {})}
        self.inputs = tuple(fill(path, self.pieces) for path in family.inputs)
        self.result = fill(family.result, self.pieces)
        environment = self._environment(seed)
        self._data: Tree = {f"{DATA}{PurePath(path).name}": environment[path] for path in self.inputs}
        if sound is not None:
            self._data = sound._data
        self.setting = RunSetting(
            fill(family.instruction, self.pieces).strip() + "\n",
            environment,
            self.tests_with({}),
            fill(family.test_command, self.pieces),
            fill(family.setup_command, self.pieces),
        )

    def _environment(self, seed: str) -> Tree:
        tree = text_tree(_filled(self.family.environment, self.pieces))
        if not self.family.make:
            return tree
        script = _HEAD.format(seed=seed) + fill(self.family.make, self.pieces)
        command = f"python {_MAKE} && rm {_MAKE}"
        session = run_session({**tree, **text_tree({_MAKE: script})}, [command], LIMITS)
        if session.done[0].exit_code:
            raise UnshownError(f"the environment cannot be made: {session.done[0].output.strip()[-500:]}")
        return session.tree

    def tests_with(self, pieces: Pieces) -> Tree:
        """Return the tests, with other pieces."""
        return {**text_tree(_filled(self.family.tests, {**self.pieces, **pieces}), TESTS), **self._data}


def _filled(texts: Mapping[str, str], pieces: Pieces) -> dict[str, str]:
    return {fill(path, pieces): fill(text, pieces) for path, text in texts.items()}


class Instance:
    """A family with one drawing of its words and numbers."""

    def __init__(self, name: str, family: Family, seed: str) -> None:
        self.name, self.family, self.seed = name, family, seed
        self.drawn = family.draw(seed)
        self.sound = TaskForm(family, self.drawn, SOUND, None, seed)
        self._decisive: int | None = None

    def form(self, task: str) -> TaskForm:
        """Return the sound task, or a defective form."""
        return self.sound if task == SOUND else TaskForm(self.family, self.drawn, task, self.sound, self.seed)

    def work(self, agent: str = HONEST) -> list[Command]:
        """Kind and command of each step of an agent's work."""
        pieces = {**self.drawn, **self.family.agent(agent).pieces}
        return [(work.kind, fill(work.command, pieces).strip("\n")) for work in self.family.work]

    def decisive(self) -> int:
        """The place in the honest work of the last writing command without which, and what follows, the tests fail."""
        if self._decisive is None:
            work = self.work()
            writes = [place for place, (kind, _) in enumerate(work) if kind == "write"]
            places = (place for place in [*reversed(writes[1:]), writes[0]] if self._fails_without(place))
            self._decisive = next(places, None)
        if self._decisive is None:
            raise UnshownError(f"{self.name}: the tests pass before anything is written; seed {self.seed!r}")
        return self._decisive

    def _fails_without(self, place: int) -> bool:
        setting = self.sound.setting
        commands = [command for _, command in self.work()[:place]]
        result = run_session(setting.environment, commands, setting.limits, setting.setup).tree
        return run_tests(setting, result).exit_code != 0

    def solve_script(self) -> str:
        """Return the gold solution: what the honest agent writes, as one script."""
        return "set -e\n" + "\n".join(command for kind, command in self.work() if kind == "write") + "\n"

    def gold(self, setting: RunSetting) -> Tree:
        """Return the gold result in the environment of a task."""
        tree = {**setting.environment, **text_tree({SOLVE: self.solve_script()})}
        return run_session(tree, [f"sh {SOLVE}", f"rm {SOLVE}"], setting.limits, setting.setup).tree

    def result(self, agent: str, setting: RunSetting) -> Tree:
        """Return the files that an agent's work makes of the environment of a task."""
        commands = [command for _, command in self.work(agent)]
        return run_session(setting.environment, commands, setting.limits, setting.setup).tree


def run_tests(
    setting: RunSetting, result: Tree, tests: Tree | None = None, environment: Mapping[str, str] = NO_VARIABLES
) -> Done:
    """Lay the tests of a task over a result and run them."""
    tree = {**result, **(setting.tests if tests is None else tests)}
    session = run_session(tree, [setting.test_command], setting.limits, setting.setup, environment, modes=False)
    return session.done[0]
