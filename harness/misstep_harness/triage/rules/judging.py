"""Judge a run by rule: a failed run by what its access allows, a passed run by the checks in `passes`.

The judge with a sandbox decides by what it runs, in this order:

1. The tests are run again on the agent's result. If they always pass, the recorded failure is of neither the agent's
   work nor the task: the tests are flaky (gold passes and fails, too: task), or the harness broke (infrastructure).
   Such a run is never the agent's fault.
2. The tests are run on the gold solution. If they always fail there, nobody could have passed: task. If they pass and
   fail, the tests depend on chance: task, unless other tests than those fail on the agent's result each time.
3. The gold solution passes, and the agent's result passes and fails: the chance is in the agent's result: agent.
4. The gold solution passes, and the agent's result always fails. The agent's commands are run again in the environment
   as it was. If the result now passes, or a command that failed in the record works now and the record broke off at it,
   then what ran the agent broke: infrastructure. If it goes as recorded, the failure is of agent or task.
5. Agent or task: an input that was never there, or a file that the tests want by a name that nothing states, is the
   task's fault. What else an instruction asks for is a question of meaning, which no rule answers.
6. What remains is the agent's fault: the task can be done, as gold shows, tests and harness are stable, and nothing
   speaks for the agent's result. To take its part without evidence is the error that a critic must avoid (AutoTriage,
   section 5.4).

The judge that reads files and runs nothing does as the judge of texts, and more:

1. The tests draw from chance or look at the clock: they may fail on a right result (task), where what the agent made
   is what gold makes.
2. The gold solution reads a file, or the tests import a module, that the environment never had: task.
3. The tests want a file by a name that nothing states: task.
"""

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, takewhile
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.triage.passes import attribute_pass
from misstep_harness.triage.protocols import ReadOnlyAccess, Replica, Result, SandboxAccess, TextAccess
from misstep_harness.triage.records import OUTCOME_FORM, SOLVE, Evidence, Outcome
from misstep_harness.triage.replica import not_installed
from misstep_harness.triage.rules import text
from misstep_harness.triage.rules.events import Event, event_in
from misstep_harness.triage.rules.failures import TestFailure, lacks_network, lacks_tools, last_lines, read_failure
from misstep_harness.triage.rules.named_files import (
    chance,
    lacking_input,
    spoiled_input,
    stands,
    text_of,
    unnamed_file,
    unnamed_result,
)
from misstep_harness.triage.rules.run_record import KILLED, OUT_OF_TIME, FilesRun, RecordedCommand, RunRecord, TextRun
from misstep_harness.triage.rules.text import (
    agent_fault,
    agents_fault,
    broke_outside,
    broken_harness,
    interrupted,
    missing_module,
    unreliable_pass,
)
from misstep_harness.triage.rules.verdicts import Attribution, Undecided, attributed, infrastructure
from misstep_harness.triage.texts import lines_of_outcome, recorded_outcome
from misstep_harness.values import NOT_JSON
from misstep_harness.workspace import Finished, Limits
from misstep_harness.workspace.suite.output import saw_tests

_VALUE = re.compile(r"\w{3,40}")


def inspect(run: FilesRun) -> Attribution | Undecided:
    """Whose fault a failed run is, by its files."""
    if run.access.case.part("workspace") is None and run.run is None and not run.log.text:
        return Undecided("There is neither a run nor a result nor a log.")
    return (
        broken_harness(run)
        or broke_outside(run)
        or _ran_elsewhere(run)
        or _same_as_gold(run)
        or _lacking(run)
        or _killed(run)
        or _by_chance(run)
        or unnamed_result(run)
        or missing_module(run)
        or agents_fault(run, spoiled_input(run.access))
    )


def _same_as_gold(run: FilesRun) -> Attribution | None:
    access, failure = run.access, run.failure
    paths = [path for path in access.files("solution") if path != SOLVE]
    if not paths or any(access.read("solution", path) != access.read("workspace", path) for path in paths):
        return None
    alike = f"{len(paths)} files are the same: {', '.join(paths[:5])}"
    same = Evidence("difference", "solution/ and workspace/", alike)
    by_chance = chance(access, ("tests",))
    if by_chance is not None and (failure.tests or failure.raised):
        rationale = "The agent's result is the gold result, and the tests depend on chance."
        return attributed("task", "brittle_tests", rationale, [by_chance, same])
    before, after = text_of(run.access, "environment"), text_of(run.access, "workspace")
    if any(
        word in before and word not in after
        for wanted, actual in run.failure.values
        for word in set(_VALUE.findall(actual)) - set(_VALUE.findall(wanted))
    ):
        rationale = "The tests give values of the files as the agent found them: they did not run on its result."
        return infrastructure(None, rationale, [same])
    if failure.asserted and not failure.missing:
        rationale = "The agent's result is the gold result, and an assertion of the tests fails on it."
        return attributed("task", "environment_fail", rationale, [same])
    rationale = "The agent's result is the gold result, and the tests are said to reject it."
    return infrastructure(run.event, rationale, [same])


def _by_chance(run: FilesRun) -> Attribution | None:
    places = run.failure.places
    draw = chance(run.access, ("tests",), sure=True) if places else None
    if draw is None:
        return None
    file = draw.where.removeprefix("tests/").partition(":")[0]
    if any(place.rpartition("/")[2] != file.rpartition("/")[2] for place, _ in places):
        return None
    return attributed("task", "brittle_tests", "The test that failed depends on chance.", [draw])


def _ran_elsewhere(run: FilesRun) -> Attribution | None:
    there = set(run.access.files("workspace"))
    for name in run.failure.files:
        if present_names := {name, f"{name}.py", f"{name}/__init__.py"} & there:
            shown = Evidence("file", f"workspace/{min(present_names)}", "it is there")
            rationale = f"The tests do not find {name!r}, which the agent's result has: they ran elsewhere."
            return infrastructure(None, rationale, [shown])
    return None


def _lacking(run: FilesRun) -> Attribution | None:
    present = {*run.access.files("environment"), *run.access.files("solution")}
    missing = run.failure.files if present and not run.access.read("solution", SOLVE) else ()
    for name in missing:  # gold as files, and what the tests look for is not among them
        own = name.startswith(("/", "tests")) or name in sys.stdlib_module_names or name in ("pytest", "_pytest")
        if not own and not stands(name, present):
            rationale = f"The gold solution lacks {name!r} as well, which the tests look for."
            return attributed("task", "environment_fail", rationale, run.log.evidence(f"{name} is missing"))
    return lacking_input(run)


def _killed(run: FilesRun) -> Attribution | None:
    last = run.last
    if last is None or last.code not in (*KILLED, *OUT_OF_TIME):
        return None
    kind = "timeout" if last.code in OUT_OF_TIME else "tool_call_error"
    rationale = "The agent's last command was ended by a limit."
    return attributed("agent", kind, rationale, [last.evidence()], [last.step])


_MOST_COMMANDS = 200
_MOST_SECONDS = 120.0
_BATCH = 60_000
"""Bytes of commands that are handed to one process; the kernel takes no longer argument than 128 KiB."""

_RUNNER = """
import json, os, signal, subprocess, sys
seconds, shell, *commands = json.loads(sys.argv[1])
for command in commands:
    process = subprocess.Popen([shell, "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        text, code = process.communicate(timeout=seconds)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        text, code = process.communicate()[0], 124
    text = text.decode(errors="replace")[:4000]
    os.write(1, (json.dumps({"text": text, "code": code if code >= 0 else 128 - code}) + "\\n").encode())
"""


class Repeated(Struct, frozen=True):
    """A command of the record, and how it ended when it was run again."""

    recorded: RecordedCommand
    code: int
    output: str

    @property
    def mended(self) -> bool:
        """Return whether it failed in the record, and does not fail again."""
        return self.recorded.failed and self.code == 0

    @property
    def worse(self) -> bool:
        """Return whether it worked in the record, and fails now."""
        return self.recorded.code == 0 and self.code != 0


class _Output(Struct):
    text: str
    code: int


def repeat(replica: Replica, commands: Sequence[RecordedCommand], limits: Limits) -> tuple[Repeated, ...]:
    """Run the commands of a record again; where one breaks a limit, the next goes on with the files as they are."""
    return tuple(_repeat(replica, list(commands[:_MOST_COMMANDS]), limits))


def _repeat(replica: Replica, commands: list[RecordedCommand], limits: Limits) -> Iterator[Repeated]:
    while commands:
        sizes = accumulate(len(json.dumps(command.line)) * 2 for command in commands)
        n = sum(1 for _ in takewhile(lambda size: size <= _BATCH, sizes))
        batch = list(commands[: max(n, 1)])
        work: list[Any] = [limits.seconds, "sh", *(command.line for command in batch)]
        together = replace(limits, seconds=min(_MOST_SECONDS, 5 + limits.seconds * len(batch)))
        line = f"python -c {shlex.quote(_RUNNER)} {shlex.quote(json.dumps(work))}"
        finished = replica.run(line, together)
        lines = (line for line in finished.output.splitlines() if line.startswith('{"text": ') and line.endswith("}"))
        answers: list[_Output] = []
        with suppress(*NOT_JSON):  # a command may print such a line itself: what follows it is not known
            answers += (msgspec.json.decode(line, type=_Output) for line in lines)
        for command, one in zip(batch, answers, strict=False):
            yield Repeated(command, one.code, one.text)
        if len(answers) < len(batch):  # the next command ended everything
            yield Repeated(batch[len(answers)], 137, f"ended by the limit on {finished.ended}")
        commands = commands[len(answers) + (len(answers) < len(batch)) :]


class TestRun(Struct, frozen=True):
    """One run of the tests: what was run, and how it ended."""

    __test__ = False  # no test of pytest's

    command: str
    finished: Finished
    in_image: bool = False
    solving: Finished | None = None

    @property
    def passed(self) -> bool:
        """Return whether the tests passed: the command ended well, and not because it ran none."""
        return self.finished.exit_code == 0 and self.ran_tests

    @property
    def ran_tests(self) -> bool:
        """Return whether any test ran, as far as the output says; a run of none has neither passed nor failed."""
        return saw_tests(self.finished.output) and not (self.in_image and lacks_tools(self.finished.output))

    @property
    def evidence(self) -> Evidence:
        """Return the command with its output."""
        finished = self.finished
        ended = f"exit code {finished.exit_code}" if finished.ended == "exited" else f"ended by {finished.ended}"
        return Evidence("command", self.command, f"{ended}\n{last_lines(finished.output)}")


class TestRuns:
    """The runs of the tests on one result so far.

    - `prepare`: What is done in each fresh replica before, such as the agent's commands; its tests are laid afterwards.
    """

    __test__ = False

    def __init__(
        self, access: SandboxAccess, result: Result, prepare: Callable[[Replica], object] | None = None
    ) -> None:
        self.access, self._result, self._prepare = access, result, prepare
        self.runs: list[TestRun] = []

    def more(self, count: int) -> "TestRuns":
        """Run the tests until they have run `count` times, or have passed and failed; each time in a fresh replica."""
        while len(self.runs) < count and not self.changing:
            number = len(self.runs)
            command = self.access.case.file.test_command
            with self.access.replica(self._result, tests=self._prepare is None) as replica:
                if self._prepare is not None:
                    self._prepare(replica)
                if number == 0 or self._prepare is not None:
                    finished = replica.test()
                else:  # another seed for the order in which Python's sets come
                    command = f"PYTHONHASHSEED={number} {command}"
                    finished = replica.run(f"export PYTHONHASHSEED={number}\n{self.access.case.file.test_command}")
            in_image = bool(self.access.case.roots)
            self.runs.append(TestRun(f"on {self._result}: {command}", finished, in_image, replica.solving))
        return self

    @property
    def changing(self) -> bool:
        """Return whether the tests passed and failed on the same result."""
        return len({run.passed for run in self.runs if run.ran_tests}) > 1

    @property
    def passed(self) -> bool:
        """Return whether all runs passed."""
        return bool(self.runs) and all(run.passed for run in self.runs)

    @property
    def failed(self) -> bool:
        """Return whether all runs failed."""
        return any(run.ran_tests for run in self.runs) and not any(run.passed for run in self.runs)

    @property
    def silent(self) -> bool:
        """Return whether no test ran in any run."""
        return bool(self.runs) and not any(run.ran_tests for run in self.runs)

    @property
    def failure(self) -> TestFailure:
        """Return how the first failing run failed."""
        return read_failure(next((run.finished.output for run in self.runs if not run.passed), ""))

    @property
    def timed_out(self) -> bool:
        """Return whether every failing run was ended by the clock."""
        failing = [run for run in self.runs if not run.passed]
        return bool(failing) and all(run.finished.ended == "time" for run in failing)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Return a failing and a passing run, if there are such."""
        failing, passing = (next((run for run in self.runs if run.passed == how), None) for how in (False, True))
        return tuple(run.evidence for run in (failing, passing) if run is not None)

    def always_failing(self) -> frozenset[str]:
        """Return the tests that fail in every run, by name."""
        sets = [read_failure(run.finished.output).tests for run in self.runs]
        return frozenset.intersection(*sets) if sets else frozenset()

    def ever_failing(self) -> frozenset[str]:
        """Return the tests that fail in any run, by name."""
        return frozenset().union(*(read_failure(run.finished.output).tests for run in self.runs))


_FEW, _MANY = 2, 8
"""How often tests are run where nothing depends on chance, as far as the files show, and where something may."""


def investigate(run: RunRecord[SandboxAccess]) -> Attribution | Undecided:
    """Whose fault a failed run is."""
    case = run.access.case
    if not case.file.test_command or case.part("workspace") is None:
        why = "The case has no test command, or no result of the agent to run it on."
        attribution = _without_result(run) if case.roots and case.file.test_command else None
        return attribution or (_by_files(run, why) if case.of_job else Undecided(why))
    return _Investigation(run).decide()


def _by_files(run: RunRecord[SandboxAccess], why: str, evidence: tuple[Evidence, ...] = ()) -> Attribution | Undecided:
    """What the files show, where running the tests does not decide."""
    attribution = inspect(run)
    return replace(attribution, rationale=f"{why} {attribution.rationale}", evidence=(*attribution.evidence, *evidence))


def _without_result(run: RunRecord[SandboxAccess]) -> Attribution | Undecided | None:
    """What the gold solution alone shows in the image, where the agent's result is not there to be run."""
    if run.access.case.part("solution") is None:
        return None
    gold = TestRuns(run.access, "solution").more(_FEW)
    return _Investigation.impossible(gold) if gold.failed else None


class _Investigation:
    def __init__(self, run: RunRecord[SandboxAccess]) -> None:
        self.run, self.access = run, (access := run.access)
        self.agent = TestRuns(access, "workspace")
        self.times = _MANY if chance(access, ("tests", "workspace", "solution")) is not None else _FEW
        self.gold = TestRuns(access, "solution") if access.case.part("solution") is not None else None

    def decide(self) -> Attribution | Undecided:
        if self.agent.more(1).passed and self.agent.more(self.times).passed:
            return self._passes_again()
        for runs in (self.agent, self.gold):
            if runs is not None and runs.more(1).silent:
                if self.access.case.roots:  # an image seldom has all that a network brings to its tests
                    return _by_files(self.run, "No test ran in the exported image.", runs.evidence)
                return Undecided("No test ran, so that the command says nothing of the result.", runs.evidence)
        if self.gold is None:
            reason = "The tests fail each time, and no gold solution shows that they can pass."
            if self.agent.more(_MANY).changing:
                reason = "The tests pass and fail on the result, and no gold solution shows why."
            replayed = None if self.agent.changing else self._replayed()
            if self.access.case.roots and not self.agent.changing and replayed is None:
                return _by_files(self.run, "The tests fail each time they are run again.", self.agent.evidence)
            return replayed or Undecided(reason, self.agent.evidence)
        if self.gold.more(1).failed and self.gold.more(self.times).failed:
            return self.impossible(self.gold)
        self.agent.more(min(self.times, _FEW + 1))
        self.gold.more(_MANY if self.agent.changing else self.times)
        if self.gold.changing and not (self.agent.always_failing() - self.gold.ever_failing()):
            return self._brittle(self.gold)
        if self.agent.changing:
            rationale = "The tests pass and fail on the agent's result, and always pass on the gold solution."
            return attributed("agent", "logical_failure", rationale, self.agent.evidence)
        return self._replayed() or self._agent_or_task()

    def _passes_again(self) -> Attribution:
        if self.run.failure.asserted:  # an assertion failed then: it may fail again
            self.times = _MANY
        if self.gold is not None and self.gold.more(self.times).changing:
            return self._brittle(self.gold)
        rationale = f"The tests pass on the agent's result in all {len(self.agent.runs)} runs."
        return infrastructure(self.run.event, rationale, self.agent.evidence)

    @staticmethod
    def _brittle(gold: TestRuns) -> Attribution:
        rationale = "The tests pass and fail on the same gold solution, so that they depend on chance."
        return attributed("task", "brittle_tests", rationale, gold.evidence)

    @staticmethod
    def impossible(gold: TestRuns) -> Attribution | Undecided:
        if gold.timed_out:
            return Undecided("The gold solution runs out of time on this machine.", gold.evidence)
        solving = gold.runs[0].solving
        if solving is not None and solving.exit_code != 0 and lacks_network(solving.output):
            why = "The script of the gold solution needs a network, which the sandbox does not have."
            return Undecided(why, (Evidence("command", SOLVE, last_lines(solving.output)),))
        failure = gold.failure
        if failure.missing and not_installed(gold.access, failure.missing[0]):
            why = f"{failure.missing[0]!r} is not installed, which requirements.txt names: give its wheels by --wheels."
            return Undecided(why, gold.evidence)
        rationale = "The tests reject the gold solution in the environment of the task."
        if failure.missing or not failure.asserted:
            lacks = f": {failure.missing[0]!r} is missing" if failure.missing else ""
            rationale = f"The gold solution fails in the environment of the task{lacks}."
        return attributed("task", "environment_fail", rationale, gold.evidence)

    def _replayed(self) -> Attribution | None:
        record, own = self.run, self.access.case.file.limits
        if not record.commands or self.access.case.part("environment") is None:
            return None
        repeated: list[tuple[Repeated, ...]] = []
        limits = Limits(own.seconds, own.memory_mb, own.processes, disk_mb=own.disk_mb)

        def again(replica: Replica) -> None:
            repeated.append(repeat(replica, record.commands, limits))

        runs = TestRuns(self.access, "environment", again).more(1)
        mended = [one for one in repeated[0] if one.mended]
        if record.only_commands and runs.passed and runs.more(_FEW).passed:
            shown = [_shown(one) for one in mended[:3]]
            rationale = "The agent's commands, run again in the environment as it was, make a result that passes."
            event = record.event or _event_of(mended)
            return infrastructure(event, rationale, [*shown, *runs.evidence], [one.recorded.step for one in mended])
        if runs.changing:
            rationale = "The agent's commands make a result that passes now and then."
            return attributed("agent", "logical_failure", rationale, runs.evidence)
        last = repeated[0][-1:] if repeated[0] else ()
        if last and last[0].mended and not record.said_last:
            rationale = "The record breaks off at a command that failed then and works now."
            event = record.event or _event_of(last)
            return infrastructure(event, rationale, [_shown(last[0])], [last[0].recorded.step])
        return None

    def _agent_or_task(self) -> Attribution:
        failure, timed_out = self.agent.failure, self.agent.timed_out
        if (lacking := lacking_input(self.run)) is not None:  # gold as files has its result already, and passes
            return lacking
        unnamed = None if timed_out else unnamed_file(self.run, failure) or unnamed_result(self.run)
        if unnamed is not None:
            return unnamed
        evidence = [*self.agent.evidence, *(self.gold.evidence if self.gold is not None else ())]
        rationale = "The gold solution passes, and the agent's result fails each time."
        spoiled = spoiled_input(self.access)
        return agent_fault(self.run, failure, rationale, evidence, timed_out=timed_out, spoiled=spoiled)


def _event_of(mended: Sequence[Repeated]) -> Event | None:
    for one in mended:
        step, recorded = str(one.recorded.step), one.recorded
        if recorded.code in KILLED:
            return Event("sandbox_crash", step, last_lines(recorded.output, 1) or f"exit code {recorded.code}")
        if (event := event_in(recorded.output, step)) is not None:
            return event
    return None


def _shown(one: Repeated) -> Evidence:
    was = f"exit code {one.recorded.code} in the record, {one.code} now\n{one.recorded.output.strip()[:400]}"
    return Evidence("command", one.recorded.line[:300], was)


Decide = Callable[[RunRecord[Any]], Attribution | Undecided]


def by_texts(access: TextAccess) -> Attribution | Undecided:
    """Return a run judged by its texts."""
    return _judged(access, text.read)


def by_files(access: ReadOnlyAccess) -> Attribution | Undecided:
    """Return a run judged by its files."""
    return _judged(access, inspect)


def by_running(access: SandboxAccess) -> Attribution | Undecided:
    """Return a run judged by running tests and solutions; whether it passed is found out where it is not recorded."""
    return _judged(access, investigate, lambda: _found_out(access))


def _found_out(access: SandboxAccess) -> Outcome | None:
    if not access.case.file.test_command or not access.case.part("workspace"):
        return None
    with access.replica("workspace") as replica:
        done = replica.test()
    return "passed" if done.exit_code == 0 and saw_tests(done.output) else "failed"


def _judged(
    access: TextAccess, failed: Decide, find_out: Callable[[], Outcome | None] = lambda: None
) -> Attribution | Undecided:
    run, outcome = RunRecord(access), recorded_outcome(access)
    if (broken := interrupted(run, outcome)) is not None:
        return broken
    lines = lines_of_outcome(access)
    outcome = outcome or find_out() or (None if lines else _outcome_of(run))
    if outcome is None:
        why = "Two lines contradict each other on" if lines else "Nothing says"
        return Undecided(f"{why} whether the run passed. {OUTCOME_FORM}", lines)
    if outcome == "passed" and (doubtful := unreliable_pass(run)) is not None:
        return doubtful
    decided = attribute_pass(access) if outcome == "passed" else failed(run)
    return replace(decided, evidence=(*decided.evidence, *lines)) if lines else decided


def _outcome_of(run: TextRun) -> Outcome | None:
    if run.failure.tests or run.failure.raised:
        return "failed"
    return "passed" if text.all_passed(run.log.text, run.failure) else None
