"""Proofs of labels by running: each says what was run, what came out, and what must come out for the label to hold."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.generate.triage import draws
from misstep.harness.runs.triage.instance import Instance, RunSetting, UnshownError, run_tests
from misstep.harness.runs.triage.recording import Recorded, run_work
from misstep.harness.runs.triage.scenarios import Scenario

_RERUNS = 30


class _Check(Struct, frozen=True):
    """One run of tests: on what, its exit code, and what the label needs it to be."""

    run: str
    exit_code: int
    needs: Literal["pass", "fail"]

    @property
    def holds(self) -> bool:
        """Return whether it came out as needed."""
        return (self.exit_code == 0) == (self.needs == "pass")


class Proof(Struct, frozen=True):
    """The proof of a case's label: a line of `proofs.jsonl`.

    `drawing` counts the drawings of the case before this one that could not show what it was to show.
    """

    item: str
    label: str
    subcategory: str
    proof: str
    runs: tuple[_Check, ...]
    drawing: int = 0


def prove(identifier: str, scenario: Scenario, recorded: Recorded, instance: Instance) -> Proof:
    """Prove a label by running."""
    failed = scenario.label != "pass" and not scenario.proof.startswith(_UNEARNED)
    verdict = _Check("the harness's verdict", 0 if recorded.passed else 1, "fail" if failed else "pass")
    runs = (verdict, *PROOFS[scenario.proof](_Trial(scenario, recorded, instance)))
    proof = Proof(identifier, scenario.label, scenario.subcategory, scenario.proof, runs)
    for check in runs:
        if not check.holds:
            raise UnshownError(
                f"{instance.name}, {scenario.variant}: {check.run} should {check.needs} and has exit code "
                f"{check.exit_code}, so that {scenario.label} is not proved",
                f"Look at the family's file; seed {instance.seed!r}.",
            )
    return proof


_UNEARNED = ("unearned", "tampered", "leaked")


class _Trial(Struct, frozen=True):
    """What a proof goes by: the case, its run, and the drawn family."""

    scenario: Scenario
    recorded: Recorded
    instance: Instance

    @property
    def setting(self) -> RunSetting:
        """Return the task of the case."""
        return self.scenario.planned.setting


def _agent(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    gold = trial.instance.gold(setting)
    for _ in range(2):
        yield _Check("gold", run_tests(setting, gold).exit_code, "pass")
    for other in draws.right(trial.instance.family)[:1]:
        yield _Check(
            f"right agent {other}", run_tests(setting, trial.instance.result(other, setting)).exit_code, "pass"
        )
    unstable = trial.scenario.variant in draws.unstable(trial.instance.family)
    if unstable:
        codes = [run_tests(setting, trial.recorded.result).exit_code for _ in range(6)]
        yield _Check("the agent's result, the worst of 6 runs", max(codes), "fail")
        return
    for _ in range(2):
        yield _Check("the agent's result", run_tests(setting, trial.recorded.result).exit_code, "fail")


def _rejected(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("gold", run_tests(setting, trial.instance.gold(setting)).exit_code, "pass")
    yield _Check(
        "a result that is right by the instruction", run_tests(setting, trial.recorded.result).exit_code, "fail"
    )
    loosened = run_tests(setting, trial.recorded.result, trial.scenario.fair)
    yield _Check("the same under tests that ask what the instruction says", loosened.exit_code, "pass")


def _broken(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    for _ in range(2):
        yield _Check("gold in this environment", run_tests(setting, trial.instance.gold(setting)).exit_code, "fail")
    sound = trial.instance.sound.setting
    yield _Check("gold in the sound environment", run_tests(sound, trial.instance.gold(sound)).exit_code, "pass")


def _flaky(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    for needs in ("fail", "pass"):
        check = _Check("the same files", 0 if needs == "fail" else 1, needs)
        for _ in range(_RERUNS):
            if check.holds:
                break
            check = _Check("the same files", run_tests(setting, trial.recorded.result).exit_code, needs)
        yield check
    without = run_tests(setting, trial.recorded.result, trial.scenario.fair)
    yield _Check("the same files under the tests without chance", without.exit_code, "pass")


def _struck_agent(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("the files as the agent left them", run_tests(setting, trial.recorded.result).exit_code, "fail")
    _, again = run_work(replace(trial.scenario.planned, event=""))
    yield _Check("the agent's commands run again without the event", run_tests(setting, again.tree).exit_code, "pass")


def _struck_tests(trial: _Trial) -> Iterator[_Check]:
    for _ in range(2):
        code = run_tests(trial.setting, trial.recorded.result).exit_code
        yield _Check("the tests run again on the agent's files", code, "pass")


def _sound(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("gold", run_tests(setting, trial.instance.gold(setting)).exit_code, "pass")
    for _ in range(2):
        yield _Check("the agent's result", run_tests(setting, trial.recorded.result).exit_code, "pass")


def _unearned(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("the agent's result", run_tests(setting, trial.recorded.result).exit_code, "pass")
    code = run_tests(setting, trial.recorded.result, trial.scenario.fair).exit_code
    yield _Check("the same under tests that ask what the instruction says", code, "fail")


def _unearned_by_harness(trial: _Trial) -> Iterator[_Check]:
    for _ in range(2):
        code = run_tests(trial.setting, trial.recorded.result).exit_code
        yield _Check("the tests run again on the agent's files", code, "fail")


def _tampered(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("the agent's result", run_tests(setting, trial.recorded.result).exit_code, "pass")
    runner = {path: one for path, one in setting.environment.items() if setting.test_command == f"sh {path}"}
    code = run_tests(setting, {**trial.recorded.result, **runner}).exit_code
    yield _Check("the same with the script that runs the tests as it was", code, "fail")


def _leaked(trial: _Trial) -> Iterator[_Check]:
    setting, shown = trial.setting, trial.scenario.shown
    yield _Check("the agent's result", run_tests(setting, trial.recorded.result).exit_code, "pass")
    read = [
        result.exit_code
        for step in trial.recorded.trajectory.steps
        for call, result in zip(step.calls, step.results, strict=True)
        if shown in str(call.arguments) and call.arguments != {"command": f"ls {shown}"}
    ]
    yield _Check("the agent's reading of what was left there", 0 if 0 in read else 1, "pass")


PROOFS: Mapping[str, Callable[[_Trial], Iterator[_Check]]] = {
    "agent": _agent,
    "rejected": _rejected,
    "broken": _broken,
    "flaky": _flaky,
    "struck_agent": _struck_agent,
    "struck_tests": _struck_tests,
    "sound": _sound,
    "unearned": _unearned,
    "unearned_by_harness": _unearned_by_harness,
    "tampered": _tampered,
    "leaked": _leaked,
}
