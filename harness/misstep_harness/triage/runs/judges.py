"""The judges of triage cases by name: `triage@` with an access asks a model, any other is a rule.

A judge finds the case of an item and hands its access to a method. An item names the folder of its case, relative to
the benchmark's, in `extra["case"]`. A judge of texts needs none.
"""

import asyncio
import os
import threading
import time
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, get_args

from msgspec import Struct
from msgspec.structs import replace

from misstep_harness.agent.loop import AgentLimits
from misstep_harness.agent.protocols import ModelSettings
from misstep_harness.errors import InputError, TimeSpent, UsageError
from misstep_harness.fault_mappings import FAULTS
from misstep_harness.items import Item, Question
from misstep_harness.judges.runnable import RunnableJudge
from misstep_harness.protocols import Ask
from misstep_harness.registry import Registry
from misstep_harness.trajectory import Trajectory
from misstep_harness.triage.agentic.methods import MOST_TOKENS, AgenticMethod
from misstep_harness.triage.images import ReplicasInImage, RootFileSystems
from misstep_harness.triage.logs import LOG_OF_ITEM
from misstep_harness.triage.protocols import TextAccess
from misstep_harness.triage.records import Access, CaseFile, TriageCase, TriageVerdict, read_triage_case
from misstep_harness.triage.replica import SECONDS_OF_CASE, ReplicasOfCase
from misstep_harness.triage.texts import FilesOfCase, TextsOfCase, TextsOfItem
from misstep_harness.workspace import Sandbox, find_sandbox, python_toolchain

_RUNNING = threading.BoundedSemaphore(os.cpu_count() or 1)
"""More sandboxes at once than processors would make tests fail by their time limits that pass alone."""


class Method(Protocol):
    """A way to tell whose fault a run is, with what one kind of access allows."""

    @property
    def name(self) -> str:
        """Return the judge's name in its verdicts."""

    @property
    def access(self) -> Access:
        """Return what it is handed."""

    @property
    def uses_model(self) -> bool:
        """Return whether it asks a model."""

    def settings(self) -> dict[str, Any]:
        """Return all of its values that can change a verdict; they have types of TOML."""

    async def judge(self, access: Any, ask: Ask) -> TriageVerdict:
        """Return the verdict on a case; `access` is a `TextAccess`, `ReadOnlyAccess` or `SandboxAccess`, as it says.

        It may raise `TimeSpent` when the access does; whatever it raises costs the case and nothing else.
        """


class CaseJudge(Struct, frozen=True, dict=True):
    """A method as a judge; `seconds` bounds a case by the clock, `cases` may hold cases outside of the benchmark.

    - `without_solution`: Whether a judge of texts is shown neither the tests nor the gold solution.
    - `roots`: Case → part → exported image, of cases whose images are not in their folder.
    - `images`: The folder in which images are made ready, shared by all that judge.
    - `wheels`: The folder of wheels from which `requirements.txt` of a case is installed, for all cases.
    - `show`: The folders that the user has shown in the sandbox.
    """

    method: Method
    seconds: float = SECONDS_OF_CASE
    sandbox: str = "auto"
    folder: Path | None = None
    cases: Path | None = None
    without_solution: bool = False
    roots: Mapping[str, Mapping[str, Path]] = {}
    images: Path | None = None
    wheels: Path | None = None
    show: tuple[Path, ...] = ()
    labels: ClassVar[Mapping[str, str]] = dict.fromkeys(FAULTS, "")

    @property
    def name(self) -> str:
        """Return the name of the method."""
        return self.method.name

    @property
    def model(self) -> str:
        """Return the model that is asked; empty where none is."""
        return self.method.model if isinstance(self.method, AgenticMethod) else ""

    @property
    def uses_model(self) -> bool:
        """Return whether the method asks a model."""
        return self.method.uses_model

    @property
    def shown(self) -> tuple[str, ...]:
        """Return what of the machine the sandbox shows, for a judge that runs things."""
        places = (*python_toolchain().read_only, *self.show) if self.method.access == "sandbox" else ()
        return tuple(map(str, places))

    def settings(self) -> dict[str, Any]:
        """Return the settings of the method, and the time for a case."""
        without = {"without_solution": True} if self.without_solution else {}
        whole = {"judge": self.name, "access": self.method.access, "seconds": self.seconds, **without}
        return {**whole, **self.method.settings()}

    def reads_run(self, item: Item) -> bool:
        """Return whether the run is not in the folder of a case, where it is read as far as it goes."""
        return not item.extra.get("case")

    def skip_reason(self, item: Item) -> str:
        """Return a judge that looks at files needs the folder of a case."""
        if self.method.access != "text" and not item.extra.get("case"):
            return item.unaskable or "it has no case folder to look at"
        return item.skip_reason

    def runnable(self) -> RunnableJudge:
        """Return the judge as a run asks it."""
        return RunnableJudge(
            self,
            self.settings(),
            kind="triage",
            model=self.model,
            asks_model=self.uses_model,
            needs_model=self.uses_model,
            shown=self.shown,
            reads_run=self.reads_run,
            skip_reason=self.skip_reason,
            for_question=self._in_benchmark,
        )

    def _in_benchmark(self, question: Question, folder: Path, run: Path | None) -> RunnableJudge:  # noqa: ARG002
        """Return the judge with the benchmark's folder; a model keeps its own runs in the folder of the run."""
        method = self.method
        if run is not None and isinstance(method, AgenticMethod):
            method = method.kept_in(run)
        return replace(self, folder=folder, method=method).runnable()

    async def judge(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> TriageVerdict:
        """Return the verdict on the case of an item; `failed` where the time for it was over."""
        try:
            if self.method.access == "sandbox" and not self.method.uses_model:
                verdict = await asyncio.to_thread(self._in_turn, item, trajectory, ask)
            else:
                verdict = await self._timed(item, trajectory, ask)
        except TimeSpent as error:
            verdict = TriageVerdict(item.id, self.name, None, "failed", error=error.found)
        return replace(verdict, item=item.id, judge=self.name, access=self.method.access)

    def _in_turn(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> TriageVerdict:
        """Return the verdict of a method that blocks, when a processor is free; its time begins then."""
        with _RUNNING:
            return asyncio.run(self._timed(item, trajectory, ask))

    async def _timed(self, item: Item, trajectory: Trajectory | None, ask: Ask) -> TriageVerdict:
        started = time.monotonic()
        access = await asyncio.to_thread(self._access, item, trajectory)  # an image may have to be unpacked
        verdict = await self.method.judge(access, ask)
        seconds = round(time.monotonic() - started, 3)
        return verdict if verdict.seconds is not None else replace(verdict, seconds=seconds)

    def _access(self, item: Item, trajectory: Trajectory | None) -> TextAccess:
        named = item.extra.get("case")
        if not named and self.method.access == "text":
            case = TriageCase(CaseFile(item.id), Path())
            return TextsOfItem(case, item.task, trajectory, {LOG_OF_ITEM: item.text} if item.text else {})
        case = read_triage_case(case_folder(self.folder or Path(), named, item.id, self.cases))
        if self.method.access == "text":
            return TextsOfCase(case, trajectory, whole=not self.without_solution)
        if self.method.access == "read-only":
            return FilesOfCase(case, trajectory)
        of_job = bool(self.roots) and not Path(str(named)).is_absolute()
        case = replace(case, roots={**case.roots, **self.roots.get(case.id, {})}, of_job=of_job)
        if case.roots:
            return ReplicasInImage(case, self._found_sandbox, self._images, trajectory, self.seconds)
        access = ReplicasOfCase(case, self._found_sandbox, trajectory, self.seconds)
        access.wheels = self.wheels
        return access

    @cached_property
    def _images(self) -> RootFileSystems:
        return RootFileSystems(self.images)

    @cached_property
    def _found_sandbox(self) -> Sandbox:
        return find_sandbox(self.sandbox).showing(self.show)


def case_folder(folder: Path, named: Any, item: str, cases: Path | None = None) -> Path:
    """Return the folder of a case that an item of a benchmark names."""
    advice = 'Name it in `extra` as {"case": "FOLDER"}, relative to the benchmark.'
    if not isinstance(named, str) or not named:
        raise InputError(f"item {item!r} names no folder of a case", advice, file=folder)
    try:
        place = (folder / named).resolve()
        allowed = (folder, cases) if cases is not None else (folder,)
        inside = any(place.is_relative_to(one.resolve()) for one in allowed) and place.is_dir()
    except (OSError, ValueError, RuntimeError):  # too long, a NUL, a loop of links
        inside = False
    if not inside:
        raise InputError(f"item {item!r} names the case {named!r}, which is not a folder in it", advice, file=folder)
    return place


TRIAGE = "triage@"
PHRASES = f"{TRIAGE}phrases"
TOKENS_OF_CASE = 24_000
"""Tokens of a case's texts in the first message to a model."""

AGENTIC: dict[str, Access] = {f"{TRIAGE}{access}": access for access in get_args(Access)}
"""The judges that ask a model: name → access."""

RULES: Registry[Method] = Registry(
    "misstep.triage.run",
    {
        f"{TRIAGE}rules-text": "misstep_harness.triage.runs.rule_methods:TEXT",
        f"{TRIAGE}rules-read-only": "misstep_harness.triage.runs.rule_methods:READ_ONLY",
        f"{TRIAGE}rules-sandbox": "misstep_harness.triage.runs.rule_methods:SANDBOX",
        f"{TRIAGE}phrases": "misstep_harness.triage.runs.rule_methods:PHRASES",
    },
)
"""The judges that ask none: name → dotted path of the method; entry points in the group add to it."""


def judge_names() -> tuple[str, ...]:
    """Return the names of all of them, rules first."""
    return (*RULES.names(), *AGENTIC)


def judge_name(kind: str, access: Access) -> str:
    """The name of the judge of a kind, `rules`, `phrases` or `model`, with an access; the phrases know texts alone."""
    return {"rules": f"{TRIAGE}rules-{access}", "phrases": PHRASES}.get(kind, f"{TRIAGE}{access}")


def judge_named(named: str, model: str = "") -> RunnableJudge:
    """Return the judge of a name as a run asks it, with the model that the command line names."""
    return triage_judge(named, model=ModelSettings(model, 0.0, seed=0)).runnable()


def triage_judge(
    named: str,
    *,
    model: ModelSettings = ModelSettings(),  # noqa: B008 -- frozen
    seconds: float = SECONDS_OF_CASE,
    sandbox: str = "auto",
    iterations: int = 40,
    budget: int = TOKENS_OF_CASE,
) -> CaseJudge:
    """Return the judge of a name."""
    if named in AGENTIC:
        limits = AgentLimits(iterations, seconds, MOST_TOKENS)
        method: Method = AgenticMethod(AGENTIC[named], model, limits, budget)
    elif named in RULES.names():
        method = RULES.load(named)
    else:
        known = ", ".join(judge_names())
        raise UsageError(f"unknown judge {named!r}", f"Judges of triage cases are {known}.")
    return CaseJudge(method, seconds, sandbox)
