"""What each kind of unit is: the tasks and the agents' work of its cases, and the label of each by construction."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.fault_mappings import Fault
from misstep_harness.triage.generate import plans
from misstep_harness.triage.generate.plans import HONEST, Command, drawn, mechanisms, spoiled
from misstep_harness.triage.records import SOLVE
from misstep_harness.triage.runs.recording import (
    TESTS,
    Instance,
    PlannedCase,
    RunSetting,
    Tree,
    TriageEntry,
    UnshownError,
    run_session,
    run_tests,
    text_tree,
)

_Option = TypeVar("_Option")
_FEWEST_LINES = 3


class Scenario(Struct, frozen=True):
    """One case to be run.

    - `variant`: How it came about, in one word for those who may see the truth.
    - `proof`: A key of `proofs.PROOFS`.
    - `fair`: Other tests, if the proof needs them: those that ask just what the instruction says, or hidden ones.
    """

    label: Fault
    subcategory: str
    variant: str
    planned: PlannedCase
    proof: str
    fair: Tree = {}
    shown: str = ""


class _Draft:
    """A unit that is being made: its kind and turn, and the family as it was drawn."""

    def __init__(self, unit: plans.Unit, instance: Instance) -> None:
        self.unit, self.instance = unit, instance
        self.family, self.sound = instance.family, instance.sound.setting

    def turn(self, options: Sequence[_Option]) -> _Option:
        if not options:
            raise UnshownError(f"{self.unit.family} has nothing that shows {self.unit.kind}")
        return options[self.unit.turn % len(options)]

    def drawn(self, texts: tuple[str, ...], **pieces: str) -> str:
        text = drawn(texts, self.unit.seed)
        for name, piece in pieces.items():
            text = text.replace(f"{{{name}}}", piece)
        return text

    def planned(self, setting: RunSetting, work: Sequence[Command], event: str = "") -> PlannedCase:
        return PlannedCase(setting, tuple(work), self.unit.length, self.unit.seed, event)  # type: ignore[arg-type]

    def agent(
        self, variant: str, subcategory: str, work: Sequence[Command], setting: RunSetting | None = None
    ) -> Scenario:
        return Scenario("agent", subcategory, variant, self.planned(setting or self.sound, work), "agent")

    def faulty(self) -> tuple[str, str]:
        name = self.turn(plans.faulty(self.family))
        return name, self.family.agent(name).fault or ""

    def wrong_agent(self, setting: RunSetting | None = None) -> Scenario:
        wrong, subcategory = self.faulty()
        return self.agent(wrong, subcategory, self.instance.work(wrong), setting)

    def rejected(self) -> tuple[Scenario, str]:
        """Return a right result that a defective task rejects, and the agent whose it is."""
        task, agent = self.turn(plans.disputes(self.family))
        form, defect = self.instance.form(task), self.family.tasks[task]
        planned = self.planned(form.setting, self.instance.work(agent))
        return Scenario("task", defect.defect, task, planned, "rejected", form.tests_with(defect.fair)), agent

    def without(self, *, emptied: bool) -> tuple[str, RunSetting] | None:
        """Return an input without which gold fails, and the task with it emptied or missing; none if none is needed."""
        paths = self.instance.sound.inputs
        for turn in range(len(paths)):
            path = paths[(self.unit.turn + turn) % len(paths)]
            rest = {key: one for key, one in self.sound.environment.items() if key != path}
            setting = replace(self.sound, environment={**rest, path: TriageEntry(b"")} if emptied else rest)
            results = (self.instance.gold(setting), self.instance.result(HONEST, setting))
            if all(run_tests(setting, result).exit_code for result in results):
                return path, setting
        return None

    def with_files(self, files: Tree, folder: str) -> RunSetting:
        below = {f"{folder}/{path}": one for path, one in files.items()}
        return replace(self.sound, environment={**self.sound.environment, **below})

    def with_runner(self) -> tuple[RunSetting, str]:
        name, command = self.drawn(mechanisms().runners), self.sound.test_command
        script = text_tree({name: f"#!/bin/sh\n{command}\n"})
        return replace(self.sound, environment={**self.sound.environment, **script}, test_command=f"sh {name}"), name


def scenarios(unit: plans.Unit, instance: Instance) -> tuple[Scenario, ...]:
    """Return the cases of a unit; of a pair whose second has no room, the first."""
    draft = _Draft(unit, instance)
    if unit.kind in _PAIRS:
        return _PAIRS[unit.kind](draft)[: len(unit.ids)]
    return (_ALONE.get(unit.kind, _struck)(draft),)[: len(unit.ids)]


def _dispute(draft: _Draft) -> tuple[Scenario, ...]:
    rejected, agent = draft.rejected()
    fault = draft.family.agent(agent).fault
    return rejected, draft.agent(agent, fault, draft.instance.work(agent)) if fault else draft.wrong_agent()


def _lost_end(variant: str, subcategory: str, texts: Callable[[], tuple[str, ...]] | None = None) -> "_Pair":
    """A run whose last part is lost, beside one that ends in the same way when its result, a right one, is whole.

    Both have the same commands. The one that ends the run is before the last part, or behind it; without
    one, the agent writes the last part as a text instead of running it.
    """

    def pair(draft: _Draft) -> tuple[Scenario, ...]:
        instance, unit = draft.instance, draft.unit
        at, work = instance.decisive(), instance.work()
        rejected, other = draft.rejected()
        lost, rest, begun = _writes(work[at:]), _writes(instance.work(other)[at:]), instance.work(other)[:at]
        agent = draft.agent(variant, subcategory, work[:at])
        if texts is None:
            shortened = replace(agent.planned, length=unit.length - 1, unsent=lost)
            ended = replace(rejected.planned, work=(*begun, ("write", rest)))
        else:
            inputs = instance.sound.inputs or tuple(sorted(draft.sound.environment))
            last = draft.drawn(texts(), input=inputs[unit.turn % len(inputs)])
            shortened = replace(agent.planned, work=(*work[:at], ("write", f"{last}\n{lost}")))
            ended = replace(rejected.planned, work=(*begun, ("write", f"{rest}\n{last}")))
        return replace(agent, planned=shortened), replace(rejected, planned=ended)

    return pair


def _writes(work: Sequence[Command]) -> str:
    return "\n".join(command for kind, command in work if kind == "write")


def _spoiled_input(draft: _Draft) -> tuple[Scenario, ...]:
    """Return a file that the work needs is empty: from the start, or since the agent's own command.

    If it is from the start, the agent runs the same command with another file to write to. If the work needs none, as
    its tests bring their own, the unit is a dispute.
    """
    cut = draft.without(emptied=True)
    if cut is None:
        return _dispute(draft)
    path, setting = cut
    command, work = draft.drawn(mechanisms().spoils, input=path), draft.instance.work()
    harmless = draft.planned(setting, spoiled(work, f"{command}.2"))
    return (
        Scenario("task", "environment_fail", "empty_input", harmless, "broken"),
        draft.agent("spoils_input", "tool_call_error", spoiled(work, command)),
    )


def _environment(draft: _Draft) -> tuple[Scenario, ...]:
    if broken := plans.broken_environments(draft.family):
        name = draft.turn(broken)
        setting = draft.instance.form(name).setting
    elif cut := draft.without(emptied=False):
        name, setting = "missing_input", cut[1]
    else:
        return _dispute(draft)
    planned = draft.planned(setting, draft.instance.work())
    return Scenario("task", "environment_fail", name, planned, "broken"), draft.wrong_agent()


def _flaky(draft: _Draft) -> tuple[Scenario, ...]:
    """Return tests that depend on chance, and a wrong agent under them without chance; else a dispute."""
    chance, instance = draft.turn(mechanisms().flaky), draft.instance
    result = instance.sound.result
    entry = instance.gold(draft.sound).get(result, TriageEntry(b""))
    if len(set(entry.data.splitlines())) < _FEWEST_LINES:
        return _dispute(draft)
    unsound, sound = (_with_test(draft.sound, chance.name, chance.script(result, way)) for way in (False, True))
    wrong = next(iter(plans.unstable(draft.family)), None) or draft.faulty()[0]
    planned = draft.planned(unsound, instance.work())
    return (
        Scenario("task", "brittle_tests", chance.name, planned, "flaky", sound.tests),
        draft.agent(wrong, draft.family.agent(wrong).fault or "", instance.work(wrong), sound),
    )


def _with_test(setting: RunSetting, name: str, script: str) -> RunSetting:
    command, tests = setting.test_command, {**setting.tests, **text_tree({f"{name}.py": script}, TESTS)}
    if not ("unittest" in command or "pytest" in command):
        command = f"{command} && python {TESTS}{name}.py"
    return replace(setting, tests=tests, test_command=command)


_Pair = Callable[[_Draft], tuple[Scenario, ...]]
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


def _struck(draft: _Draft) -> Scenario:
    kind, work = draft.unit.kind, draft.instance.work()
    if kind == "memory_taken":
        work = work[: draft.instance.decisive() + 1]
    planned = draft.planned(draft.sound, work, kind)
    if kind == "old_snapshot":
        writes = sum(1 for what, _ in work[: draft.instance.decisive()] if what == "write")
        planned = replace(planned, kept_writes=writes)
    proof = "struck_agent" if kind in ("memory_taken", "service_down") else "struck_tests"
    return Scenario("infrastructure", _SUBCATEGORIES.get(kind, "harness_bug"), kind, planned, proof)


def _passed_by_harness(draft: _Draft) -> Scenario:
    kind = draft.unit.kind
    gold = draft.instance.gold(draft.sound) if kind == "left_over_result" else {}
    planned = replace(draft.planned(draft.sound, draft.instance.work(draft.faulty()[0]), kind), gold=gold)
    return Scenario("infrastructure", "harness_bug", kind, planned, "unearned_by_harness")


def _sound_pass(draft: _Draft) -> Scenario:
    agent = draft.turn([HONEST, *plans.right(draft.family)])
    setting = draft.with_runner()[0] if draft.unit.turn % 2 else draft.sound
    return Scenario("pass", "", agent, draft.planned(setting, draft.instance.work(agent)), "sound")


def _unearned(draft: _Draft, variant: str, setting: RunSetting, agent: str, fair: Tree) -> Scenario:
    planned = draft.planned(setting, draft.instance.work(agent))
    return Scenario("task", "weak_tests", variant, planned, "unearned", fair)


def _weak(draft: _Draft) -> Scenario:
    task, agent = draft.turn(plans.accepted(draft.family))
    return _unearned(draft, task, draft.instance.form(task).setting, agent, draft.sound.tests)


def _special(draft: _Draft) -> Scenario:
    agent = draft.turn(plans.special(draft.family))
    hidden = draft.instance.sound.tests_with(draft.family.agents[agent].hidden)
    return _unearned(draft, f"special_casing_{agent}", draft.sound, agent, hidden)


def _contradiction(draft: _Draft) -> Scenario:
    name = draft.turn(plans.contradictions(draft.family))
    form = draft.instance.form(name)
    fair = form.tests_with(draft.family.tasks[name].fair)
    return _unearned(draft, f"contradiction_{name}", form.setting, HONEST, fair)


def _tampered(draft: _Draft) -> Scenario:
    wrong, _ = draft.faulty()
    setting, runner = draft.with_runner()
    change = draft.drawn(mechanisms().tampering, runner=runner)
    ends: list[Command] = [("look", f"cat {runner}"), ("write", change), ("check", f"cat {runner}")]
    planned = draft.planned(setting, [*draft.instance.work(wrong), *ends])
    return Scenario("task", "weak_tests", "tampered_runner", planned, "tampered")


def _leaked_solution(draft: _Draft) -> Scenario:
    """The gold result lies in the environment and the agent takes it: files, or a script where copies lack modes."""
    folder, sound = draft.drawn(mechanisms().leaks), draft.sound
    files: Tree = {path: one for path, one in draft.instance.gold(sound).items() if sound.environment.get(path) != one}
    command = f"cp -r {folder}/. ."
    if not files or not _passes(draft.with_files(files, folder), command, sound):
        files, command = text_tree({SOLVE: draft.instance.solve_script()}), f"sh {folder}/{SOLVE}"
    commands: list[Command] = [
        ("look", "find . -type f | LC_ALL=C sort | head -n 40"),
        ("look", f"head -c 2000 '{folder}/{min(files)}'"),
        ("write", command),
    ]
    begun, rest = _before_writing(draft.instance.work())
    work = [*begun, *commands, *(one for one in rest if one[0] != "write")]
    planned = draft.planned(draft.with_files(files, folder), work)
    return Scenario("task", "solution_leakage", "leaked_solution", planned, "leaked", shown=f"{folder}/")


def _passes(setting: RunSetting, command: str, sound: RunSetting) -> bool:
    tree = run_session(setting.environment, [command], setting.limits, setting.setup).tree
    return run_tests(sound, tree).exit_code == 0


def _before_writing(work: Sequence[Command]) -> tuple[Sequence[Command], Sequence[Command]]:
    at = next(place for place, (kind, _) in enumerate(work) if kind == "write")
    return work[:at], work[at:]


def _leaked_tests(draft: _Draft) -> Scenario:
    sound = draft.sound
    reads: list[Command] = [("look", f"ls {TESTS}"), *(("look", f"cat {path}") for path in sorted(sound.tests)[:3])]
    begun, rest = _before_writing(draft.instance.work())
    setting = replace(sound, environment={**sound.environment, **sound.tests})
    planned = draft.planned(setting, [*begun, *reads, *rest])
    return Scenario("task", "solution_leakage", "leaked_tests", planned, "leaked", shown=TESTS)


_ALONE: Mapping[str, Callable[[_Draft], Scenario]] = {
    "ignored_exit_code": _passed_by_harness,
    "left_over_result": _passed_by_harness,
    "sound_pass": _sound_pass,
    "weak_tests": _weak,
    "special_casing": _special,
    "contradiction": _contradiction,
    "tampered_runner": _tampered,
    "leaked_solution": _leaked_solution,
    "leaked_tests": _leaked_tests,
}
