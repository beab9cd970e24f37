"""Whether a family is whole: everything that its file declares is run, and does what it says."""

from collections.abc import Iterator

from misstep_harness.triage.generate.plans import HONEST, SOUND, Agent, Family, Task
from misstep_harness.triage.runs.recording import Instance, TaskForm, Tree, run_tests

_UNSTABLE_RUNS = 12
_FEWEST_LINES = 3


def broken_claims(name: str, family: Family, seed: str) -> Iterator[str]:
    """What a family claims and a drawing of it breaks, a sentence each; none where it is whole.

    Parameters
    ----------
    seed
        Draws words, numbers and the environment.
    """
    instance = Instance(name, family, seed)
    sound = instance.sound
    yield from _form_is_whole(family)
    gold = instance.gold(sound.setting)
    yield from _passes(sound, gold, "the gold solution", runs=2)
    if not run_tests(sound.setting, sound.setting.environment).exit_code:
        yield f"{SOUND}: the tests pass on the untouched environment"
    yield from _result_is_as_declared(instance, gold)
    results = {agent: instance.result(agent, sound.setting) for agent in (HONEST, *family.agents)}
    for agent, result in results.items():
        yield from _agent_is_as_declared(agent, family.agent(agent), sound, result)
    for task_name, task in family.tasks.items():
        form = instance.form(task_name)
        for sentence in _task_is_as_declared(instance, form, task, results):
            yield f"{task_name}: {sentence}"


def _form_is_whole(family: Family) -> Iterator[str]:
    kinds = [work.kind for work in family.work]
    if len(kinds) < 6 or "write" not in kinds:
        yield "work has fewer than six commands, or none that writes"
    if sum(1 for agent in family.agents.values() if agent.fault) < 2:
        yield "fewer than two agents have a fault"
    if all(agent.fault or agent.hidden for agent in family.agents.values()):
        yield "no agent has another right result"
    if len({task.defect for task in family.tasks.values()}) < 2 or not any(
        task.defect == "weak_tests" for task in family.tasks.values()
    ):
        yield "the tasks have fewer than two defects, or none has weak_tests"


def _result_is_as_declared(instance: Instance, gold: Tree) -> Iterator[str]:
    sound = instance.sound
    if sound.result:
        lines = {line for line in gold[sound.result].data.decode().splitlines() if line.strip()}
        if len(lines) < _FEWEST_LINES:
            yield f"result: {sound.result} has {len(lines)} different lines"


def _agent_is_as_declared(name: str, agent: Agent, sound: TaskForm, result: Tree) -> Iterator[str]:
    if agent.fault is None:
        yield from _passes(sound, result, f"the right agent {name}")
        if agent.hidden and not run_tests(sound.setting, result, sound.tests_with(agent.hidden)).exit_code:
            yield f"agents.{name}: its result passes the hidden tests too"
        return
    codes = {run_tests(sound.setting, result).exit_code for _ in range(_UNSTABLE_RUNS if agent.unstable else 2)}
    if codes == {0} or (0 in codes and not agent.unstable):
        yield f"agents.{name}: its result passes the tests of the sound task"
    if agent.unstable and 0 not in codes:
        yield f"agents.{name}: its result never passes, and is called unstable"


def _task_is_as_declared(instance: Instance, form: TaskForm, task: Task, results: dict[str, Tree]) -> Iterator[str]:
    gold = instance.gold(form.setting)
    if task.defect == "environment_fail":
        if not run_tests(form.setting, gold).exit_code:
            yield "the gold solution passes, and the label says that the environment is broken"
        return
    yield from _passes(form, gold, "the gold solution")
    if task.defect == "weak_tests":
        for agent in task.accepts:
            yield from _passes(form, results[agent], f"the wrong agent {agent}")
        if not task.accepts:
            yield "no wrong agent is accepted"
        return
    if not task.fair:
        yield "it has no fair tests"
        return
    fair = form.tests_with(task.fair)
    for agent in task.right:
        result = instance.result(agent, form.setting)
        if not run_tests(form.setting, result).exit_code:
            yield f"the tests accept {agent}, who is right by the instruction"
        if run_tests(form.setting, result, fair).exit_code:
            yield f"the fair tests reject {agent}: {run_tests(form.setting, result, fair).output[-300:]}"
    if task.contradicts and not run_tests(form.setting, gold, fair).exit_code:
        yield "the fair tests accept the gold solution, which contradicts the instruction"


def _passes(form: TaskForm, result: Tree, what: str, runs: int = 1) -> Iterator[str]:
    for _ in range(runs):
        done = run_tests(form.setting, result)
        if done.exit_code:
            yield f"{what} fails the tests of {form.name}: {done.output.strip()[-600:]}"
            return
