"""The rule judge with a sandbox: it works as an investigator would, and what it runs decides.

Which observation decides what, in the order in which they are made, and why:

1. The tests are run again on the agent's result. If they always pass, the recorded failure is of neither the agent's
   work nor the task: the tests are flaky (gold flickers too: task), or the harness broke (infrastructure). Such a run
   is never the agent's fault.
2. The tests are run on the gold solution. If they always fail there, nobody could have passed: task. If they pass and
   fail, the tests depend on chance: task, unless other tests than those fail on the agent's result each time.
3. The gold solution passes, and the agent's result passes and fails: the chance is in the agent's result: agent.
4. The gold solution passes, and the agent's result always fails. The agent's commands are run again in the environment
   as it was. If the result now passes, or a command that failed in the record works now and the record broke off at
   it, then what ran the agent broke: infrastructure. If it goes as recorded, the failure is of agent or task.
5. Agent or task: an input that was never there, or a file that the tests want by a name that nothing states, is the
   task's fault. What else an instruction asks for is a question of meaning, which no rule answers.
6. What remains is the agent's fault: the task can be done, as gold shows, tests and harness are stable, and nothing
   speaks for the agent's result. To take its part without evidence is the error that a critic must avoid (AutoTriage,
   section 5.4).
"""

from collections.abc import Sequence

from misstep.harness.records.attribution import Evidence
from misstep.harness.triage.protocols import Replica, SandboxAccess
from misstep.harness.triage.rules.events import Event, event_in
from misstep.harness.triage.rules.failures import last_lines
from misstep.harness.triage.rules.named_files import chance, lacking_input, spoiled_input, unnamed_file, unnamed_result
from misstep.harness.triage.rules.replay import Repeated, repeat
from misstep.harness.triage.rules.run_record import KILLED, RunRecord
from misstep.harness.triage.rules.runs_of_tests import TestRuns
from misstep.harness.triage.rules.text import agent_fault
from misstep.harness.triage.rules.verdicts import Attribution, Undecided, attributed, infrastructure
from misstep.harness.workspace import Limits

_FEW, _MANY = 2, 8
"""How often tests are run where nothing depends on chance, as far as the files show, and where something may."""


def investigate(run: RunRecord[SandboxAccess]) -> Attribution | Undecided:
    """Whose fault a failed run is."""
    case = run.access.case
    if not case.file.test_command or case.part("workspace") is None:
        return Undecided("The case has no test command, or no result of the agent to run it on.")
    return _Investigation(run).decide()


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
                return Undecided("No test ran, so that the command says nothing of the result.", runs.evidence)
        if self.gold is None:
            reason = "The tests fail each time, and no gold solution shows that they can pass."
            if self.agent.more(_MANY).changing:
                reason = "The tests pass and fail on the result, and no gold solution shows why."
            replayed = None if self.agent.changing else self._replayed()
            return replayed or Undecided(reason, self.agent.evidence)
        if self.gold.more(1).failed and self.gold.more(self.times).failed:
            return self._impossible(self.gold)
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
    def _impossible(gold: TestRuns) -> Attribution | Undecided:
        if gold.timed_out:
            return Undecided("The gold solution runs out of time on this machine.", gold.evidence)
        failure = gold.failure
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
