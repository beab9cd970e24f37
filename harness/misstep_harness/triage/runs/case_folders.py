"""The folders of generated cases, and the rows about them."""

import random as _random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.readers.interchange.atif import to_atif
from misstep_harness.triage.generate import plans
from misstep_harness.triage.generate.plans import Unit, families, unstable
from misstep_harness.triage.records import CASE, SOLVE, CaseFile
from misstep_harness.triage.runs.recording import (
    Instance,
    PlannedCase,
    Recorded,
    RunSetting,
    Tree,
    TriageEntry,
    UnshownError,
    record,
    run_tests,
    run_work,
    write_tree,
)
from misstep_harness.triage.runs.scenarios import Scenario, scenarios

_RERUNS = 30


class _Check(Struct, frozen=True):
    """One run of tests: on what, its exit code, and what the label needs it to be."""

    run: str
    exit_code: int
    needs: Literal["pass", "fail"]

    @property
    def holds(self) -> bool:
        return (self.exit_code == 0) == (self.needs == "pass")


class Proof(Struct, frozen=True):
    """The proof of a case's label, a line of `proofs.jsonl`; `drawing` counts drawings that could not show it."""

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
        return self.scenario.planned.setting

    def of_result(self, tests: Tree | None = None, changed: Tree | None = None) -> int:
        return run_tests(self.setting, {**self.recorded.result, **(changed or {})}, tests).exit_code

    def of_gold(self, setting: RunSetting | None = None) -> int:
        """Return the exit code of the tests of the case, or of another setting, on gold."""
        setting = setting or self.setting
        return run_tests(setting, self.instance.gold(setting)).exit_code


def _agent(trial: _Trial) -> Iterator[_Check]:
    setting, family = trial.setting, trial.instance.family
    gold = trial.instance.gold(setting)
    yield from (_Check("gold", run_tests(setting, gold).exit_code, "pass") for _ in range(2))
    for other in plans.right(family)[:1]:
        code = run_tests(setting, trial.instance.result(other, setting)).exit_code
        yield _Check(f"right agent {other}", code, "pass")
    if trial.scenario.variant in plans.unstable(family):
        yield _Check("the agent's result, the worst of 6 runs", max(trial.of_result() for _ in range(6)), "fail")
    else:
        yield from (_Check("the agent's result", trial.of_result(), "fail") for _ in range(2))


def _rejected(trial: _Trial) -> Iterator[_Check]:
    yield _Check("gold", trial.of_gold(), "pass")
    yield _Check("a result that is right by the instruction", trial.of_result(), "fail")
    loosened = trial.of_result(trial.scenario.fair)
    yield _Check("the same under tests that ask what the instruction says", loosened, "pass")


def _broken(trial: _Trial) -> Iterator[_Check]:
    yield from (_Check("gold in this environment", trial.of_gold(), "fail") for _ in range(2))
    yield _Check("gold in the sound environment", trial.of_gold(trial.instance.sound.setting), "pass")


def _flaky(trial: _Trial) -> Iterator[_Check]:
    for needs in ("fail", "pass"):
        tried = (_Check("the same files", trial.of_result(), needs) for _ in range(_RERUNS))
        yield next((check for check in tried if check.holds), _Check("the same files", int(needs == "pass"), needs))
    yield _Check("the same files under the tests without chance", trial.of_result(trial.scenario.fair), "pass")


def _struck_agent(trial: _Trial) -> Iterator[_Check]:
    yield _Check("the files as the agent left them", trial.of_result(), "fail")
    _, again = run_work(replace(trial.scenario.planned, event=""))
    code = run_tests(trial.setting, again.tree).exit_code
    yield _Check("the agent's commands run again without the event", code, "pass")


def _run_again(needs: Literal["pass", "fail"]) -> Callable[[_Trial], Iterator[_Check]]:
    return lambda trial: (
        _Check("the tests run again on the agent's files", trial.of_result(), needs) for _ in range(2)
    )


def _sound(trial: _Trial) -> Iterator[_Check]:
    yield _Check("gold", trial.of_gold(), "pass")
    yield from (_Check("the agent's result", trial.of_result(), "pass") for _ in range(2))


def _unearned(trial: _Trial) -> Iterator[_Check]:
    yield _Check("the agent's result", trial.of_result(), "pass")
    code = trial.of_result(trial.scenario.fair)
    yield _Check("the same under tests that ask what the instruction says", code, "fail")


def _tampered(trial: _Trial) -> Iterator[_Check]:
    setting = trial.setting
    yield _Check("the agent's result", trial.of_result(), "pass")
    runner = {path: one for path, one in setting.environment.items() if setting.test_command == f"sh {path}"}
    code = trial.of_result(changed=runner)
    yield _Check("the same with the script that runs the tests as it was", code, "fail")


def _leaked(trial: _Trial) -> Iterator[_Check]:
    shown = trial.scenario.shown
    yield _Check("the agent's result", trial.of_result(), "pass")
    is_read = any(
        result.exit_code == 0 and shown in str(call.arguments) and call.arguments != {"command": f"ls {shown}"}
        for step in trial.recorded.trajectory.steps
        for call, result in zip(step.calls, step.results, strict=True)
    )
    yield _Check("the agent's reading of what was left there", 0 if is_read else 1, "pass")


PROOFS: Mapping[str, Callable[[_Trial], Iterator[_Check]]] = {
    "agent": _agent,
    "rejected": _rejected,
    "broken": _broken,
    "flaky": _flaky,
    "struck_agent": _struck_agent,
    "struck_tests": _run_again("pass"),
    "sound": _sound,
    "unearned": _unearned,
    "unearned_by_harness": _run_again("fail"),
    "tampered": _tampered,
    "leaked": _leaked,
}


_TRIES = 40
_DRAWINGS = 6


class Row(Struct, frozen=True):
    """What the tables of a benchmark say of a case: the item that judges see, and what only those with the truth do."""

    item: dict[str, Any]
    label: str
    subcategory: str
    family: str
    set: str
    variant: str
    partner: str
    passed: bool
    proof: Proof


def make_unit(unit: Unit, out: Path, which: dict[str, str]) -> list[Row]:
    """Run the cases of a unit, prove their labels, write their folders.

    A drawing that cannot show what the unit is to show is drawn anew before anything of it is kept.
    """
    return [_row_of(case, unit, out, which[unit.family]) for case in _drawn(unit, 0)]


def _drawn(unit: Unit, number: int) -> list["_Proved"]:
    drawing = replace(unit, seed=f"{unit.seed}/{number}", turn=unit.turn + number) if number else unit
    try:
        return list(_proved(drawing, number))
    except UnshownError:
        if number + 1 == _DRAWINGS:
            raise
        return _drawn(unit, number + 1)


class _Proved(Struct, frozen=True):
    scenario: Scenario
    recorded: Recorded
    proof: Proof
    task: str
    solution: Tree


def _proved(unit: Unit, drawing: int) -> Iterator[_Proved]:
    instance = Instance(unit.family, families("all")[unit.family], unit.seed)
    task = f"{unit.family.replace('_', '-')}-{unit.ids[0][-4:]}"
    for identifier, scenario in zip(unit.ids, scenarios(unit, instance), strict=True):
        planned, recorded = _recorded(identifier, task, scenario, instance)
        proof = prove(identifier, replace(scenario, planned=planned), recorded, instance)
        yield _Proved(scenario, recorded, replace(proof, drawing=drawing), task, _solution(instance, scenario))


def _row_of(case: _Proved, unit: Unit, out: Path, family_set: str) -> Row:
    recorded, scenario, name = case.recorded, case.scenario, case.proof.item
    _write(out / name, case)
    item = {
        "id": name,
        "kind": "triage",
        "trajectory": f"{name}/trajectory.json",
        "task": scenario.planned.setting.instruction,
        "text": f"{recorded.tests_log}\n{recorded.harness_log}",
        "extra": {"case": name},
    }
    of_case = (unit.family, family_set, scenario.variant, next((other for other in unit.ids if other != name), ""))
    return Row(item, scenario.label, scenario.subcategory, *of_case, recorded.passed, case.proof)


def _recorded(identifier: str, task: str, scenario: Scenario, instance: Instance) -> tuple[PlannedCase, Recorded]:
    """Return the run of a case; where chance decides, the first of some tries that comes out as planned."""
    planned = scenario.planned
    chance = scenario.proof == "flaky" or scenario.variant in unstable(instance.family)
    for number in range(_TRIES if chance else 1):
        variables = {"PYTHONHASHSEED": str(number), "TEST_SEED": str(number)} if chance else {}
        planned = replace(scenario.planned, variables=variables)
        recorded = record(identifier, task, planned)
        if not chance or not recorded.passed:
            break
    return planned, recorded


def _write(folder: Path, case: _Proved) -> None:
    setting, recorded = case.scenario.planned.setting, case.recorded
    file = CaseFile(
        id=case.proof.item,
        test_command=setting.test_command,
        setup_command=setting.setup,
        outcome="passed" if recorded.passed else "failed",
        task=case.task,
        evidence="generated",
        limits=setting.limits,
    )
    trajectory = msgspec.json.format(msgspec.json.encode(to_atif(recorded.trajectory)), indent=1)
    whole: dict[str, TriageEntry] = {
        CASE: TriageEntry(tomli_w.dumps(msgspec.to_builtins(file)).encode()),
        "instruction.md": TriageEntry(setting.instruction.encode()),
        "trajectory.json": TriageEntry(trajectory + b"\n"),
        "logs/tests.log": TriageEntry(recorded.tests_log.encode()),
        "logs/harness.log": TriageEntry(recorded.harness_log.encode()),
    }
    parts: dict[str, Tree] = {
        "environment": setting.environment,
        "tests": {path.removeprefix("tests/"): one for path, one in setting.tests.items()},
        "solution": case.solution,
        "workspace": recorded.result,
    }
    whole |= {f"{part}/{path}": one for part, tree in parts.items() for path, one in tree.items()}
    write_tree(whole, folder)
    for part in parts:
        (folder / part).mkdir(exist_ok=True)


def _solution(instance: Instance, scenario: Scenario) -> Tree:
    """Return the gold solution as a script, or as the files that it makes in the sound environment."""
    seed = scenario.planned.seed
    if _random.Random(f"{seed}/solution").random() < 0.5:  # noqa: S311 (no secret)
        return {SOLVE: TriageEntry(instance.solve_script().encode(), 0o755)}
    sound = instance.sound.setting
    gold = instance.gold(sound)
    changed = {path: one for path, one in gold.items() if sound.environment.get(path) != one}
    return changed or {SOLVE: TriageEntry(instance.solve_script().encode(), 0o755)}
