"""Run an agent on a task, and the harness that runs the tests on what it left: for real, with logs of both.

The harness can be struck by an event: memory taken away, a disk that is full, a service or a store that is down, or a
bug of its own. The event really happens.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.trajectory import Outcome, Source, Step, ToolCall, ToolResult, Trajectory
from misstep_harness.triage.generate.plans import Command, PlannedAction, actions, summary, unsent_thought, wordings
from misstep_harness.triage.runs.instance import RunSetting, run_tests
from misstep_harness.triage.runs.session import KILLED, OUT_OF_TIME, Done, Tree, TriageSession, run_session
from misstep_harness.workspace.sandbox import NO_VARIABLES

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
