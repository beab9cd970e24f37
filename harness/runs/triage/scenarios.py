"""What each kind of unit is: the tasks and the agents' work of its cases, and the label of each by construction."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.generate.triage import draws
from misstep.harness.generate.triage.family import HONEST
from misstep.harness.generate.triage.mechanisms import drawn, mechanisms, spoiled
from misstep.harness.generate.triage.plans import Command
from misstep.harness.records.attribution import Fault
from misstep.harness.records.triage_case import SOLVE
from misstep.harness.runs.triage.instance import TESTS, Instance, RunSetting, TaskForm, UnshownError, run_tests
from misstep.harness.runs.triage.recording import Event, PlannedCase
from misstep.harness.runs.triage.session import Tree, TriageEntry, run_session, text_tree

_Option = TypeVar("_Option")
_FEWEST_LINES = 3


class Scenario(Struct, frozen=True):
    """One case to be run.

    - `label`, `subcategory`: What it is by construction.
    - `variant`: How it came about, in one word for those who may see the truth.
    - `planned`: What is run.
    - `proof`: Which proof the label has, a key of `proofs.PROOFS`.
    - `fair`: Other tests, where the proof needs them: those that ask just what the instruction says, or hidden ones.
    - `shown`: The path of what was leaked.
    """

    label: Fault
    subcategory: str
    variant: str
    planned: PlannedCase
    proof: str
    fair: Tree = {}
    shown: str = ""


def scenarios(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
    """Return the cases of a unit; of a pair whose second has no room, the first."""
    made = _PAIRS[unit.kind](unit, instance) if unit.kind in _PAIRS else (_alone(unit, instance),)
    return made[: len(unit.ids)]


def _turn(options: Sequence[_Option], unit: draws.Unit) -> _Option:
    """Return the unit's turn among options that a family has."""
    if not options:
        raise UnshownError(f"{unit.family} has nothing that shows {unit.kind}")
    return options[unit.turn % len(options)]


def _planned(unit: draws.Unit, setting: RunSetting, work: list[Command], event: Event = "") -> PlannedCase:
    return PlannedCase(setting, tuple(work), unit.length, unit.seed, event)


def _agent(
    unit: draws.Unit,
    instance: Instance,
    variant: str,
    subcategory: str,
    work: list[Command],
    setting: RunSetting | None = None,
) -> Scenario:
    planned = _planned(unit, setting or instance.sound.setting, work)
    return Scenario("agent", subcategory, variant, planned, "agent")


def _faulty(unit: draws.Unit, instance: Instance) -> tuple[str, str]:
    """Return a wrong agent and its subcategory."""
    name = _turn(draws.faulty(instance.family), unit)
    return name, instance.family.agent(name).fault or ""


def _rejected(unit: draws.Unit, instance: Instance) -> tuple[Scenario, str]:
    """Return a right result that a defective task rejects, and the agent whose it is."""
    task, agent = _turn(draws.disputes(instance.family), unit)
    form = instance.form(task)
    defect = instance.family.tasks[task]
    planned = _planned(unit, form.setting, instance.work(agent))
    return Scenario("task", defect.defect, task, planned, "rejected", form.tests_with(defect.fair)), agent


def _dispute(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
    rejected, agent = _rejected(unit, instance)
    fault = instance.family.agent(agent).fault
    wrong, subcategory = (agent, fault) if fault else _faulty(unit, instance)
    return rejected, _agent(unit, instance, wrong, subcategory, instance.work(wrong))


def _lost_end(variant: str, subcategory: str, texts: Callable[[], tuple[str, ...]] | None = None) -> "_Pair":
    """A run whose last part is lost, beside one that ends in the same way when its result, a right one, is whole.

    Both have the same commands. The one that ends the run stands before the last part, or behind it; where there is
    none, the agent writes the last part as a text instead of running it.
    """

    def pair(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
        at, work = instance.decisive(), instance.work()
        rejected, other = _rejected(unit, instance)
        lost, kept, begun = _writes(work[at:]), _writes(instance.work(other)[at:]), instance.work(other)[:at]
        agent = _agent(unit, instance, variant, subcategory, work[:at])
        if texts is None:
            told = replace(agent.planned, length=unit.length - 1, unsent=lost)
            ended = replace(rejected.planned, work=(*begun, ("write", kept)))
        else:
            last = drawn(texts(), unit.seed).replace("{input}", _first_input(instance.sound, unit))
            told = replace(agent.planned, work=(*work[:at], ("write", f"{last}\n{lost}")))
            ended = replace(rejected.planned, work=(*begun, ("write", f"{kept}\n{last}")))
        return replace(agent, planned=told), replace(rejected, planned=ended)

    return pair


def _writes(work: Sequence[Command]) -> str:
    """Return the commands of some work that write, as one."""
    return "\n".join(command for kind, command in work if kind == "write")


def _first_input(form: TaskForm, unit: draws.Unit) -> str:
    paths = form.inputs or tuple(sorted(form.setting.environment))
    return paths[unit.turn % len(paths)]


def _without(unit: draws.Unit, instance: Instance, emptied: bool) -> tuple[str, RunSetting] | None:
    """Return an input without which gold fails, and the task with it emptied or missing; none where gold needs none."""
    sound, paths = instance.sound.setting, instance.sound.inputs
    for turn in range(len(paths)):
        path = paths[(unit.turn + turn) % len(paths)]
        rest = {key: one for key, one in sound.environment.items() if key != path}
        setting = replace(sound, environment={**rest, path: TriageEntry(b"")} if emptied else rest)
        results = (instance.gold(setting), instance.result(HONEST, setting))
        if all(run_tests(setting, result).exit_code for result in results):
            return path, setting
    return None


def _spoiled_input(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
    """Return a file that the work needs is empty: from the start, or since the agent's own command.

    Where it is from the start, the agent runs the same command with another file to write to.

    Where the work needs none, as its tests bring their own, the unit is a dispute.
    """
    found = _without(unit, instance, emptied=True)
    if found is None:
        return _dispute(unit, instance)
    path, setting = found
    command = drawn(mechanisms().spoils, unit.seed).replace("{input}", path)
    harmless = spoiled(instance.work(), f"{command}.2")
    return (
        Scenario("task", "environment_fail", "empty_input", _planned(unit, setting, harmless), "broken"),
        _agent(unit, instance, "spoils_input", "tool_call_error", spoiled(instance.work(), command)),
    )


def _environment(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
    """Return an environment that is broken in a way of the family's own, or lacks a file; beside it, a wrong agent."""
    broken = draws.broken_environments(instance.family)
    if broken:
        name = _turn(broken, unit)
        setting = instance.form(name).setting
    elif found := _without(unit, instance, emptied=False):
        name, setting = "missing_input", found[1]
    else:
        return _dispute(unit, instance)
    wrong, subcategory = _faulty(unit, instance)
    return (
        Scenario("task", "environment_fail", name, _planned(unit, setting, instance.work()), "broken"),
        _agent(unit, instance, wrong, subcategory, instance.work(wrong)),
    )


def _flaky(unit: draws.Unit, instance: Instance) -> tuple[Scenario, ...]:
    """Tests that depend on chance; beside it a wrong agent under the same tests without chance.

    Where the result was drawn too short for chance, the unit is a dispute.
    """
    chance = _turn(mechanisms().flaky, unit)
    result = instance.sound.result
    made = instance.gold(instance.sound.setting).get(result, TriageEntry(b""))
    if len(set(made.data.splitlines())) < _FEWEST_LINES:
        return _dispute(unit, instance)
    unsound, sound = (
        _with_test(instance.sound.setting, chance.name, chance.script(result, way)) for way in (False, True)
    )
    wrong = next(iter(draws.unstable(instance.family)), None) or _faulty(unit, instance)[0]
    subcategory = instance.family.agent(wrong).fault or ""
    return (
        Scenario("task", "brittle_tests", chance.name, _planned(unit, unsound, instance.work()), "flaky", sound.tests),
        _agent(unit, instance, wrong, subcategory, instance.work(wrong), sound),
    )


def _with_test(setting: RunSetting, name: str, script: str) -> RunSetting:
    tests = {**setting.tests, **text_tree({f"{name}.py": script}, TESTS)}
    if "unittest" in setting.test_command or "pytest" in setting.test_command:
        return replace(setting, tests=tests)
    return replace(setting, tests=tests, test_command=f"{setting.test_command} && python {TESTS}{name}.py")


_Pair = Callable[[draws.Unit, Instance], tuple[Scenario, ...]]
_PAIRS: Mapping[str, _Pair] = {
    "dispute": _dispute,
    "spoiled_input": _spoiled_input,
    "environment": _environment,
    "flaky": _flaky,
    "cut": _lost_end("cut", "premature_stop"),
    "endless": _lost_end("endless_command", "timeout", lambda: mechanisms().endless),
    "hungry": _lost_end("takes_all_memory", "tool_call_error", lambda: mechanisms().hungry),
}

_SUBCATEGORIES: Mapping[str, str] = {
    "memory_taken": "sandbox_crash",
    "disk_full": "sandbox_crash",
    "service_down": "network_issue",
    "tests_not_fetched": "network_issue",
}


def _alone(unit: draws.Unit, instance: Instance) -> Scenario:
    """Return a case without a partner."""
    sound, kind = instance.sound.setting, unit.kind
    if kind in _ALONE:
        return _ALONE[kind](unit, instance)
    if kind in ("ignored_exit_code", "left_over_result"):
        wrong, _ = _faulty(unit, instance)
        planned = _planned(unit, sound, instance.work(wrong), kind)  # type: ignore[arg-type]
        gold = instance.gold(sound) if kind == "left_over_result" else {}
        return Scenario("infrastructure", "harness_bug", kind, replace(planned, gold=gold), "unearned_by_harness")
    work = instance.work()
    if kind == "memory_taken":
        work = work[: instance.decisive() + 1]
    proof = "struck_agent" if kind in ("memory_taken", "service_down") else "struck_tests"
    planned = _planned(unit, sound, work, kind)  # type: ignore[arg-type]
    if kind == "old_snapshot":
        kept = sum(1 for what, _ in work[: instance.decisive()] if what == "write")
        planned = replace(planned, kept_writes=kept)
    return Scenario("infrastructure", _SUBCATEGORIES.get(kind, "harness_bug"), kind, planned, proof)


def _sound_pass(unit: draws.Unit, instance: Instance) -> Scenario:
    agent = _turn([HONEST, *draws.right(instance.family)], unit)
    setting = instance.sound.setting
    if unit.turn % 2:
        setting, _ = _with_runner(setting, unit)
    return Scenario("pass", "", agent, _planned(unit, setting, instance.work(agent)), "sound")


def _weak(unit: draws.Unit, instance: Instance) -> Scenario:
    task, agent = _turn(draws.accepted(instance.family), unit)
    planned = _planned(unit, instance.form(task).setting, instance.work(agent))
    return Scenario("task", "weak_tests", task, planned, "unearned", instance.sound.setting.tests)


def _special(unit: draws.Unit, instance: Instance) -> Scenario:
    agent = _turn(draws.special(instance.family), unit)
    hidden = instance.sound.tests_with(instance.family.agents[agent].hidden)
    planned = _planned(unit, instance.sound.setting, instance.work(agent))
    return Scenario("task", "weak_tests", f"special_casing_{agent}", planned, "unearned", hidden)


def _contradiction(unit: draws.Unit, instance: Instance) -> Scenario:
    name = _turn(draws.contradictions(instance.family), unit)
    form = instance.form(name)
    return Scenario(
        "task",
        "weak_tests",
        f"contradiction_{name}",
        _planned(unit, form.setting, instance.work()),
        "unearned",
        form.tests_with(instance.family.tasks[name].fair),
    )


def _with_runner(setting: RunSetting, unit: draws.Unit) -> tuple[RunSetting, str]:
    """Return a task whose tests are started by a script of the environment, and the script's name."""
    name = drawn(mechanisms().runners, unit.seed)
    script = text_tree({name: f"#!/bin/sh\n{setting.test_command}\n"})
    return replace(setting, environment={**setting.environment, **script}, test_command=f"sh {name}"), name


def _tampered(unit: draws.Unit, instance: Instance) -> Scenario:
    wrong, _ = _faulty(unit, instance)
    setting, runner = _with_runner(instance.sound.setting, unit)
    change = drawn(mechanisms().tampering, unit.seed).replace("{runner}", runner)
    work = [*instance.work(wrong), ("look", f"cat {runner}"), ("write", change), ("check", f"cat {runner}")]
    return Scenario("task", "weak_tests", "tampered_runner", _planned(unit, setting, work), "tampered")


def _leaked_solution(unit: draws.Unit, instance: Instance) -> Scenario:
    """The gold result lies in the environment and the agent takes it: files, or a script where copies lack modes."""
    folder = drawn(mechanisms().leaks, unit.seed)
    sound = instance.sound.setting
    gold = {path: one for path, one in instance.gold(sound).items() if sound.environment.get(path) != one}
    copied = _Leak(gold, f"cp -r {folder}/. .")
    script = _Leak(text_tree({SOLVE: instance.solve_script()}), f"sh {folder}/{SOLVE}")
    leak = copied if _copied_passes(sound, copied, folder) else script
    work = instance.work()
    at = min(place for place, (kind, _) in enumerate(work) if kind == "write")
    taken: list[Command] = [
        ("look", "find . -type f | LC_ALL=C sort | head -n 40"),
        ("look", f"head -c 2000 '{folder}/{min(leak.files)}'"),
        ("write", leak.command),
    ]
    looks = [one for one in work[:at] if one[0] != "write"]
    rest = [one for one in work[at:] if one[0] != "write"]
    planned = _planned(unit, _with_files(sound, leak.files, folder), [*looks, *taken, *rest])
    return Scenario("task", "solution_leakage", "leaked_solution", planned, "leaked", shown=f"{folder}/")


class _Leak(Struct, frozen=True):
    """Files that were left behind, and the command that takes them."""

    files: Tree
    command: str


def _with_files(setting: RunSetting, files: Tree, folder: str) -> RunSetting:
    return replace(setting, environment={**setting.environment, **{f"{folder}/{path}": files[path] for path in files}})


def _copied_passes(sound: RunSetting, leak: _Leak, folder: str) -> bool:
    setting = _with_files(sound, leak.files, folder)
    tree = run_session(setting.environment, [leak.command], setting.limits, setting.setup).tree
    return bool(leak.files) and run_tests(setting, tree).exit_code == 0


def _leaked_tests(unit: draws.Unit, instance: Instance) -> Scenario:
    """Return the tests lie in the environment, and the agent reads them."""
    sound = instance.sound.setting
    environment = {**sound.environment, **sound.tests}
    work = instance.work()
    at = min(place for place, (kind, _) in enumerate(work) if kind == "write")
    reads: list[Command] = [("look", f"ls {TESTS}"), *(("look", f"cat {path}") for path in sorted(sound.tests)[:3])]
    planned = _planned(unit, replace(sound, environment=environment), [*work[:at], *reads, *work[at:]])
    return Scenario("task", "solution_leakage", "leaked_tests", planned, "leaked", shown=TESTS)


_ALONE: Mapping[str, Callable[[draws.Unit, Instance], Scenario]] = {
    "sound_pass": _sound_pass,
    "weak_tests": _weak,
    "special_casing": _special,
    "contradiction": _contradiction,
    "tampered_runner": _tampered,
    "leaked_solution": _leaked_solution,
    "leaked_tests": _leaked_tests,
}
