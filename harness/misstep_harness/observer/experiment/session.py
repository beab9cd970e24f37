"""One live session: the scripted agent at its task in a sandbox, with the observer of its arm."""

import asyncio
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from misstep_harness.agent.environment import Environment, replies_in
from misstep_harness.agent.loop import AgentLimits, run_agent
from misstep_harness.agent.model_policy import ModelPatcher, ModelPolicy
from misstep_harness.agent.protocols import ModelSettings, Patcher, Policy, Task, Watcher
from misstep_harness.agent.scripted_policy import ScriptedPolicy
from misstep_harness.edits import instructions
from misstep_harness.generate.projects import TEST_COMMAND
from misstep_harness.generate.voice import Voice
from misstep_harness.live_session import LiveArm, LiveSession
from misstep_harness.observer.experiment.drawing import DrawnSession, rates
from misstep_harness.observer.experiment.observing import Beside, observer_of, paced
from misstep_harness.observer.observer import LiveObservation
from misstep_harness.protocols import NO_MODEL, Ask
from misstep_harness.trajectory import Source, Step, Trajectory
from misstep_harness.workspace import Limits, Sandbox, Snapshot, Workspace, open_workspace, python_toolchain
from misstep_harness.workspace.suite.report import SuiteReport
from misstep_harness.workspace.suite.run import run_suite


class Engineer:
    """Steers the agent, without fail, once a misbehaviour has lasted for so many of its commands."""

    def __init__(self, active_faults: Callable[[], Sequence[tuple[str, int]]], patience: int, voice: Voice) -> None:
        self._active_faults = active_faults
        self._patience = patience
        self._voice = voice
        self.interventions = 0

    def after_action(self, steps: Sequence[Step]) -> Step | None:  # noqa: ARG002
        """Return a turn of the user, if patience is at its end."""
        if all(count < self._patience for _, count in self._active_faults()):
            return None
        self.interventions += 1
        return Step("user", self._voice.say("steering"))

    async def end(self, steps: Sequence[Step]) -> None:
        """Nothing is left to stop."""


class Watchers:
    """Several who look on: the first that has something to say is heard, the others after the next command."""

    def __init__(self, *watchers: Watcher) -> None:
        self._watchers = watchers

    def after_action(self, steps: Sequence[Step]) -> Step | None:
        """Return the first guidance of them."""
        return next((guidance for each in self._watchers if (guidance := each.after_action(steps)) is not None), None)

    async def end(self, steps: Sequence[Step]) -> None:
        """Tell all of them that the run is over."""
        for each in self._watchers:
            await each.end(steps)


CHARACTERS_A_TOKEN = 4


def tokens_of(steps: Sequence[Step]) -> tuple[int, int]:
    """Input and output tokens: each command is asked for with all texts before it, four characters a token."""
    before = prompt_tokens = output_tokens = 0
    for step in steps:
        tokens_written = _characters(step)
        if step.role == "agent":
            prompt_tokens += before // CHARACTERS_A_TOKEN
            output_tokens += tokens_written // CHARACTERS_A_TOKEN
        before += tokens_written + sum(len(result.text) for result in step.results)
    return prompt_tokens, output_tokens


def seconds_of(steps: Iterable[Step], tokens: tuple[int, int]) -> float:
    """Seconds of work: each command, each token and each run of the tests counts as `rates.toml` says."""
    each = rates().seconds
    names = [call.name for step in steps if step.role == "agent" for call in step.calls]
    tests = sum(name in ("run_tests", "edit") for name in names)
    seconds = len(names) * each["command"] + tests * each["tests"]
    return round(seconds + tokens[0] * each["input_token"] + tokens[1] * each["output_token"], 1)


def failed_calls(steps: Iterable[Step]) -> tuple[int, int]:
    """Commands, and those whose result is an error."""
    results = [result for step in steps if step.role == "agent" for result in step.results]
    return len(results), sum(bool(result.is_error) for result in results)


def _characters(step: Step) -> int:
    calls = (msgspec.json.encode(call.arguments) for call in step.calls)
    return len(step.text) + len(step.reasoning or "") + sum(map(len, calls))


MOST_COMMANDS = 60
_TEST_SECONDS = 30.0
_FORMAT = "search_replace"


async def run_session(
    drawn: DrawnSession,
    arm: LiveArm,
    beside: Beside,
    sandbox: Sandbox,
    ask: Ask = NO_MODEL,
    model: ModelSettings = ModelSettings(),  # noqa: B008 -- frozen
    how: LiveObservation | None = None,
) -> LiveSession:
    """Run a session to its end; its unit is its own, and its seed is not told.

    A `model` that is named works on the task in place of the scripted agent: no fault is injected then.
    """
    blank = Trajectory(drawn.item, Source("misstep", evidence="generated"), drawn.task.request)
    async with observer_of(blank, arm, beside, how, ask) as observer:
        scripted = ScriptedPolicy(
            drawn.work,
            drawn.faults,
            heeds=drawn.heeds,
            understands=observer.categories if observer else lambda step: (),  # noqa: ARG005
            relapse_after=drawn.relapse_after,
            look=drawn.look,
            last_words=drawn.last_words,
        )
        engineer = Engineer(lambda: scripted.active_faults, drawn.patience, drawn.voice)
        watchers = Watchers(*([observer] if observer else []), engineer)
        acting: Policy = ModelPolicy(model) if model.name else scripted
        patcher: Patcher = ModelPatcher(partial(instructions, _FORMAT), model) if model.name else scripted
        run, solved = await _worked(drawn, paced(acting, observer), patcher, watchers, sandbox, ask)
    run = replace(run, source=blank.source)
    tokens = tokens_of(run.steps)
    calls, failed = failed_calls(run.steps)
    return LiveSession(
        item=drawn.item,
        seed=0,
        arm=arm,
        unit=drawn.item,
        version=drawn.version,
        n_steps=calls,
        calls=calls,
        failed_calls=failed,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        seconds=seconds_of(run.steps, tokens),
        engineer_interventions=engineer.interventions + (not solved),
        solved=solved,
        ended=str(run.extra["ended"]),
        heeds=drawn.heeds,
        episodes=scripted.episodes,
        observed=observer.observed(run.steps) if observer else None,
        last_step=len(run.steps) - 1,
        trajectory=run,
    )


async def _worked(
    drawn: DrawnSession, policy: Policy, patcher: Patcher, watcher: Watcher, sandbox: Sandbox, ask: Ask
) -> tuple[Trajectory, bool]:
    """Return the run, without times, and whether the tests pass with the change asked for and no other."""
    with tempfile.TemporaryDirectory(prefix="misstep-task-") as folder:
        for path, text in drawn.task.files.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        toolchain = python_toolchain()
        variables = {**toolchain.environment, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        base = open_workspace(Path(folder), sandbox=sandbox, read_only=toolchain.read_only, environment=variables)
        with base as workspace:
            tests = _Tests(workspace, workspace.take())
            environment = Environment(
                workspace, patcher=patcher, apply_reply=replies_in(_FORMAT), ask=ask, run_tests=tests.report
            )
            task, limits = Task(drawn.item, drawn.task.request), AgentLimits(MOST_COMMANDS)
            try:
                run = await run_agent(task, policy, environment, ask, limits, watcher=watcher)
            finally:
                environment.close()
            wanted = {path: text.encode() for path, text in drawn.task.solved_files.items()}
            solved = (await tests.report()).passed and wanted == {
                path: workspace.read(path) for path in workspace.files()
            }
    return replace(run, steps=tuple(replace(step, seconds=None) for step in run.steps)), solved


class _Tests:
    """The task's tests in a workspace; on the same files they are run once, for they give the same again."""

    def __init__(self, workspace: Workspace, start: Snapshot) -> None:
        self._workspace, self._start = workspace, start
        self._known: dict[tuple[tuple[str, bytes], ...], SuiteReport] = {}

    async def report(self) -> SuiteReport:
        changed = self._workspace.changed(self._start)
        files = tuple((path, self._workspace.read(path)) for path in changed)
        if files not in self._known:
            limits = Limits(seconds=_TEST_SECONDS)
            self._known[files] = await asyncio.to_thread(run_suite, self._workspace, TEST_COMMAND, (), limits)
        return self._known[files]
