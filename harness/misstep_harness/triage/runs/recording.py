"""Run an agent on a task, and the harness that runs the tests on what it left: for real, with logs of both.

The harness can be struck by an event: memory taken away, a disk that is full, a service or a store that is down, or a
bug of its own. The event really happens.

Commands run one after the other in one sandbox on a small tree of files. What a command prints is masked so that the
same commands give the same bytes.
"""

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path, PurePath
from random import Random
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.errors import MisstepError
from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.triage.generate.plans import (
    HONEST,
    SOUND,
    Command,
    Family,
    Pieces,
    PlannedAction,
    actions,
    fill,
    summary,
    unsent_thought,
    wordings,
)
from misstep_harness.triage.records import SOLVE, RunLimits
from misstep_harness.workspace import Finished, Limits, Sandbox, Toolchain, Workspace, find_sandbox, open_workspace
from misstep_harness.workspace import python_toolchain as _toolchain
from misstep_harness.workspace.sandbox import NO_VARIABLES

KILLED, OUT_OF_TIME = 137, 124
"""Exit codes of a command that was killed (by signal 9), and of one that ran out of time."""

_MOST_OUTPUT = 6000
_VARIABLES = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""Plug-ins of this machine's pytest are not part of a task."""

_START_SECONDS = 20.0
_RUNNER = """
import json, os, signal, subprocess, sys

def tell(**said):
    os.write(1, (json.dumps(said) + "\\n").encode())

def run(command, seconds):
    process = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        text, code = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, code = process.communicate()[0], 124
    return text.decode(errors="replace"), code if code >= 0 else 128 - code

setup, seconds, *commands = json.loads(sys.argv[1])
if setup:
    subprocess.run(["sh", "-c", setup], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for command in commands:
    text, code = run(command, seconds)
    tell(output=text, exit_code=code)
found = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names]
tell(modes={os.path.relpath(path): os.lstat(path).st_mode & 0o777 for path in found if os.path.isfile(path)})
"""


class TriageEntry(Struct, frozen=True):
    """A regular file: its bytes and its permissions."""

    data: bytes
    mode: int = 0o644


Tree = Mapping[str, TriageEntry]


class Done(Struct, frozen=True):
    """What a command printed, and its exit code."""

    output: str
    exit_code: int


class TriageSession(Struct, frozen=True):
    """Commands that ran, and the files as they are after the last."""

    done: tuple[Done, ...]
    tree: Tree


class _Told(Struct):
    output: str | None = None
    exit_code: int = 0
    modes: dict[str, int] = {}


@cache
def _tools() -> tuple[Sandbox, Toolchain]:
    return find_sandbox(), _toolchain()


def text_tree(texts: Mapping[str, str], folder: str = "") -> dict[str, TriageEntry]:
    """Files of texts, below a folder; scripts are executable."""
    modes = {path: 0o755 if path.endswith(".sh") else 0o644 for path in texts}
    return {f"{folder}{path}": TriageEntry(text.encode(), modes[path]) for path, text in texts.items()}


def write_tree(tree: Tree, folder: Path) -> None:
    """Write files with their permissions into a folder; files of one tree have one time, whenever it is written."""
    for path, entry in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(entry.data)
        file.chmod(entry.mode)


def run_session(
    tree: Tree,
    commands: Sequence[str],
    limits: RunLimits,
    setup: str = "",
    environment: Mapping[str, str] = NO_VARIABLES,
    modes: bool = True,
) -> TriageSession:
    """Run commands in order on a copy of a tree, each in the root of it.

    A command that breaks the limit on time is ended with exit code 124. One that breaks another limit ends everything
    that runs, as in a container: it has exit code 137, and the next command starts anew on the files as they are.
    """
    sandbox, tools = _tools()
    variables = {**tools.environment, **_VARIABLES, **environment}
    with tempfile.TemporaryDirectory(prefix="misstep-tree-") as folder:
        base = Path(folder)
        write_tree(tree, base)
        with open_workspace(base, sandbox=sandbox, read_only=tools.read_only, environment=variables) as workspace:
            done: list[Done] = []
            file_modes: dict[str, int] = {}
            while True:
                answers, finished = _run(workspace, [setup, limits.seconds, *commands[len(done) :]], tools, limits)
                done += [Done(masked(one.output), one.exit_code) for one in answers if one.output is not None]
                if finished.ended == "exited":
                    file_modes = answers[-1].modes
                    break
                done.append(Done("Killed\n", KILLED))
                if len(done) >= len(commands):
                    answers, _ = _run(workspace, ["", limits.seconds], tools, limits)
                    file_modes = answers[-1].modes if answers else dict.fromkeys(workspace.files(), 0o644)
                    break
            return TriageSession(tuple(done), dict(_files(workspace, file_modes)) if modes else {})


def _run(
    workspace: Workspace, work: list[str | float], tools: Toolchain, limits: RunLimits
) -> tuple[list[_Told], Finished]:
    allowed = Limits(
        seconds=_START_SECONDS + limits.seconds * len(work),
        memory_mb=limits.memory_mb,
        disk_mb=limits.disk_mb,
        processes=limits.processes,
    )
    finished = workspace.run([tools.python, "-c", _RUNNER, json.dumps(work)], limits=allowed)
    lines = finished.output.splitlines()
    answers = [msgspec.json.decode(line, type=_Told) for line in lines if line.startswith('{"')]
    return answers, finished


def _files(workspace: Workspace, modes: Mapping[str, int]) -> Iterator[tuple[str, TriageEntry]]:
    for path in workspace.files():
        if "__pycache__" not in path and ".pytest_cache" not in path:
            yield path, TriageEntry(workspace.read(path), modes.get(path, 0o644))


_MASKS = (
    (re.compile(r"\bin \d+\.\d+ ?s(?:econds)?\b"), "in 0.04s"),
    (re.compile(r"\b0x[0-9a-f]{8,}\b"), "0x7f3a5c0d1e80"),
)


def masked(text: str) -> str:
    """A command's output without times, addresses and this machine's folders; cut in the middle where it is long."""
    for folder in sorted({str(folder.parent) for folder in _tools()[1].read_only}, key=len, reverse=True):
        text = text.replace(folder, "/opt/python")
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    if len(text) <= _MOST_OUTPUT:
        return text
    half = _MOST_OUTPUT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"


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


Event = Literal[
    "",
    "memory_taken",
    "service_down",
    "disk_full",
    "wrong_folder",
    "wrong_report",
    "wrong_exit_code",
    "old_snapshot",
    "tests_not_fetched",
    "ignored_exit_code",
    "left_over_result",
]
"""What strikes the harness; the first two while the agent runs, the others when the tests are run."""

_LOWERED_MB = 6
_HELD = "python -c 'import time; time.sleep(2)'; "
_FILLED = "head -c 4000000 /dev/zero > /tmp/steps.spool 2>/dev/null; "
_FETCH = (
    "python -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:9/tests.tar', timeout=3)\" 2>&1 | tail -n 1"
)
_SPACE = "df --output=pcent /tmp | tail -n 1 | tr -d ' '"
_TOOL = "bash"


class PlannedCase(Struct, frozen=True):
    """A task, the agent's work, how long the run is to be, and what strikes the harness.

    `kept_writes` commands that write are in an `old_snapshot`. `gold` is a result left over from before, `variables`
    are those of the test command. `unsent` is a command that the agent writes as a text before it ends.
    """

    setting: RunSetting
    work: tuple[Command, ...]
    length: int
    seed: str
    event: Event = ""
    gold: Tree = {}
    kept_writes: int = 0
    variables: Mapping[str, str] = NO_VARIABLES
    unsent: str = ""


class Recorded(Struct, frozen=True):
    """A run: its trajectory, the files that the agent left, both logs, and the verdict of the harness."""

    trajectory: Trajectory
    result: Tree
    tests_log: str
    harness_log: str
    passed: bool


class _Clock:
    """A clock of the record, which is drawn, so that a seed gives the same bytes."""

    def __init__(self, seed: str) -> None:
        self._random = Random(f"{seed}/clock")  # noqa: S311 (no secret)
        self._now = datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(seconds=self._random.randrange(80 * 86400))

    def later(self, most: float = 20.0) -> str:
        self._now += timedelta(seconds=round(self._random.uniform(0.4, most), 1))
        return self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def text_files(tree: Tree) -> list[str]:
    """Return the files of a tree that are short texts, by name."""
    return sorted(path for path, entry in tree.items() if entry.data.isascii() and 0 < len(entry.data) < 20_000)


def run_work(planned: PlannedCase, event: Event = "") -> tuple[tuple[PlannedAction, ...], TriageSession]:
    """Run the agent of a plan; its run ends where a command is killed or runs out of time."""
    setting = planned.setting
    turns = actions(planned.work, text_files(setting.environment) or ["."], planned.length, planned.seed)
    commands = [turn.command for turn in turns]
    setup = "" if event == "service_down" else setting.setup
    if event != "memory_taken":
        ran = run_session(setting.environment, commands, setting.limits, setup)
    else:
        before = run_session(setting.environment, commands[:-1], setting.limits, setup)
        lowered = replace(setting.limits, memory_mb=_LOWERED_MB)
        after = run_session(before.tree, [_HELD + commands[-1]], lowered, setup)
        ran = TriageSession((*before.done, *after.done), before.tree)
    ended = next((n for n, one in enumerate(ran.done, 1) if one.exit_code in (KILLED, OUT_OF_TIME)), len(turns))
    return turns[:ended], TriageSession(ran.done[:ended], ran.tree)


def record(identifier: str, task: str, planned: PlannedCase) -> Recorded:
    """Run a plan under the harness; what happens by the way is the same for two plans of one seed."""
    clock = _Clock(planned.seed)
    setting, event = planned.setting, planned.event
    limits = setting.limits
    allowed = f"memory {limits.memory_mb} MiB, disk {limits.disk_mb} MiB, {limits.seconds:g} s a command"
    log = [f"{clock.later()} case {identifier}, task {task}", f"{clock.later(3)} container: {allowed}"]
    if setting.setup:
        started = "not started" if event == "service_down" else "started"
        log.append(f"{clock.later(3)} service: {started}, {setting.setup}")
    first = run_tests(setting, setting.environment)
    log.append(f"{clock.later(3)} attempt-0: tests on the files as they are, exit code {first.exit_code}")
    random = Random(f"{planned.seed}/notes")  # noqa: S311 (no secret)
    notes = random.sample(wordings().harness, random.randint(1, 3))
    log += [f"{clock.later(2)} {note}" for note in notes[:1]]
    turns, ran = run_work(planned, event)
    steps = tuple(_steps(planned, turns, ran.done, clock))
    log.append(f"{clock.later(2)} agent: ended after {len(turns)} commands")
    killed = ran.done[-1].exit_code
    if killed == KILLED:
        most = _LOWERED_MB if event == "memory_taken" else limits.memory_mb
        log.append(f"{clock.later(1)} container: killed at memory {most} MiB, files kept")
    if killed == OUT_OF_TIME:
        log.append(f"{clock.later(1)} agent: command stopped at {setting.limits.seconds:g} s, run closed")
    log += [f"{clock.later(2)} {note}" for note in notes[1:]]
    tested = _tested(identifier, planned, turns, ran.tree, first)
    log += [f"{clock.later(2)} {line}" for line in tested.lines]
    log.append(f"{clock.later(1)} verdict: {'passed' if tested.passed else 'failed'}")
    trajectory = Trajectory(
        id=identifier,
        source=Source("generated", evidence="generated"),
        task=setting.instruction,
        steps=steps,
        outcome=Outcome("passed" if tested.passed else "failed", 1.0 if tested.passed else 0.0),
        agent="shell-agent",
    )
    return Recorded(trajectory, ran.tree, tested.text, "\n".join(log) + "\n", tested.passed)


def _steps(planned: PlannedCase, turns: Sequence[PlannedAction], done: Sequence[Done], clock: _Clock) -> Iterator[Step]:
    yield Step("user", planned.setting.instruction, timestamp=clock.later(2))
    for number, (turn, ended) in enumerate(zip(turns, done, strict=True), 1):
        call = ToolCall(_TOOL, {"command": turn.command}, f"call_{number}")
        answer = ToolResult(ended.output, bool(ended.exit_code), ended.exit_code, f"call_{number}")
        yield Step("agent", turn.thought, calls=(call,), results=(answer,), timestamp=clock.later())
    if done[-1].exit_code not in (KILLED, OUT_OF_TIME):
        if planned.unsent:  # a call as an agent writes it that forgets to make it
            call_as_text = json.dumps({"command": planned.unsent}, ensure_ascii=False)
            yield Step("agent", f"{unsent_thought(planned.seed)}\n{call_as_text}", timestamp=clock.later())
        yield Step("agent", summary(planned.seed), timestamp=clock.later())


class _Tested(Struct, frozen=True):
    text: str
    passed: bool
    lines: tuple[str, ...]


def _tested(
    identifier: str, planned: PlannedCase, turns: Sequence[PlannedAction], result: Tree, first: Done
) -> _Tested:
    setting, test = planned.setting, planned.setting.test_command
    saved, folder, tests = len(turns), "workspace", setting.tests
    script, before, limits = f"{{ {test}; }}; code=$?; exit $code", "", setting.limits
    match planned.event:
        case "old_snapshot":
            saved = [n for n, turn in enumerate(turns) if turn.kind == "write"][planned.kept_writes]
            commands = [turn.command for turn in turns[:saved]]
            result = run_session(setting.environment, commands, limits, setting.setup).tree
        case "wrong_folder":
            folder, result = "image", setting.environment
        case "left_over_result":
            folder, result = "attempt-gold", planned.gold
        case "wrong_exit_code":
            script = f"{{ {test}; }}; code=$?; [ $code ] && exit 1"
        case "ignored_exit_code":
            script = f"{{ {test}; }} 2>&1 | tee .report"
        case "disk_full":
            # The script writes a line itself: tests of a family may print nothing, and then no full disk stops them.
            script = f"{{ {test} && echo done; }} > /tmp/report 2>&1; code=$?; cat /tmp/report; exit $code"
            limits, before = replace(limits, disk_mb=1), _FILLED
        case "tests_not_fetched":
            tests = {}
    commands = [before + script, _SPACE, *([] if tests else [_FETCH])]
    tree = {**result, **tests}
    ran, space, *fetched = run_session(tree, commands, limits, setting.setup, planned.variables, modes=False).done
    is_of_first = planned.event == "wrong_report"
    lines = (
        f"workspace: saved after command {saved} of {len(turns)}",
        f"tests: store says {fetched[0].output.strip() if fetched else '3 files'}",
        f"tests: in /runs/{identifier}/{folder}: {script}",
        f"tests: exit code {ran.exit_code}, /tmp {space.output.strip()} used",
        f"report: of attempt-{0 if is_of_first else 1}",
    )
    return _Tested(ran.output, (first if is_of_first else ran).exit_code == 0, lines)
