"""Run an experiment: many live sessions, each in the arm of its unit, as one resumable run.

Sessions are written in their order, so that the same seed gives the same file however many run at once. One that was
under way when the run was killed is run again.
"""

import asyncio
import platform
from collections.abc import Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from harness.agent.policies.model import ModelSettings
from harness.clients import ClientSettings
from harness.clients.concurrency import run_concurrently
from harness.generate.voice import WordingSet
from harness.journal.records import LIVE_RECORDS, SCHEMA, Inputs, Manifest
from harness.journal.run_folder import RunInProgress, standing
from harness.live_session import LiveSession
from harness.no_model import NO_MODEL
from harness.observer.detectors import detector_named
from harness.progress import Progress
from harness.protocols import Ask
from harness.runs.experiment.assigning import Design, arm_of
from harness.runs.experiment.drawing import draw_session, engineers, item_of
from harness.runs.experiment.observing import Beside
from harness.runs.experiment.session import run_session
from harness.runs.model_requests import ConcurrentRequests, ItemAsk
from harness.version import __version__
from harness.workspace import Sandbox

COMMAND = "experiment run"


class ExperimentPlan(Struct, frozen=True):
    """What is to be run.

    Parameters
    ----------
    design
        `shadow` compares detection alone with detection and guidance; `ab` no observer with guidance.
    n, seed
        How many sessions, and the seed of all that is drawn for them.
    name
        The experiment's name, which is hashed with each unit.
    beside
        The observer: its detector, how often it is asked and how long it takes.
    wordings
        The set that users and agents speak from.
    model
        The model that works in place of the scripted agent; without a name there is none.
    """

    design: Design
    n: int
    seed: int
    name: str = "live"
    beside: Beside = Beside()
    wordings: WordingSet = "scoring"
    model: ModelSettings = ModelSettings()


class Entry(Struct, frozen=True):
    """The journal's entry for one session."""

    item: str


def run_experiment(
    out: Path,
    plan: ExperimentPlan,
    sandbox: Sandbox,
    client: ClientSettings = ClientSettings(),  # noqa: B008 -- frozen
    *,
    workers: int = 4,
    arguments: Sequence[str] = (),
) -> int:
    """Run every session that the run in `out` does not have yet; gives how many it has.

    Parameters
    ----------
    out
        The run's folder.
    plan
        What is to be run.
    sandbox
        Where the code of the tasks runs.
    client
        The client's settings, where a model is asked.
    workers
        How many sessions run at once.
    arguments
        The command line's.

    Raises
    ------
    UsageError
        `out` holds another run, or there is no such detector.
    MissingPrerequisite
        The server of the model cannot be reached; what was finished is kept.
    KeyboardInterrupt
        Stopped; what was finished is kept.
    """
    detector_named(plan.beside.detector)  # one that does not exist is said before anything is written
    manifest = _manifest(plan, client, sandbox, arguments)
    earlier = standing(out, manifest, LIVE_RECORDS)
    if earlier is not None and earlier.finished:
        return plan.n
    note_of = _entry if plan.model.name else None
    with RunInProgress(out, manifest, LIVE_RECORDS, Entry, note_of) as run:
        if not run.finished:
            asyncio.run(_run_all(plan, run, sandbox, client, workers))
            if len(run.entries) == plan.n:
                run.finish(_now())
        return plan.n if run.finished else len(run.entries)


def unit_of(design: Design, item: str, engineer: str) -> str:
    """What is assigned to an arm: in a shadow experiment each session, in an A/B test each engineer."""
    return engineer if design == "ab" else item


async def live_session(
    plan: ExperimentPlan, index: int, engineer: str, sandbox: Sandbox, ask: Ask = NO_MODEL
) -> LiveSession:
    """Session `index` of an experiment, run."""
    drawn = draw_session(index, plan.seed, engineer, plan.wordings)
    unit = unit_of(plan.design, drawn.item, engineer)
    arm = arm_of(plan.design, plan.name, unit)
    session = await run_session(drawn, arm, plan.beside, sandbox, ask, plan.model)
    return replace(session, unit=unit, seed=plan.seed)


async def _run_all(
    plan: ExperimentPlan,
    run: RunInProgress[LiveSession, Entry],
    sandbox: Sandbox,
    client: ClientSettings,
    workers: int,
) -> None:
    """Run the sessions that are missing and write them in order; what is done when it stops is written as well."""
    done = {entry.item for entry in run.entries}
    named = islice(enumerate(engineers(plan.seed)), plan.n)
    todo = [(index, engineer) for index, engineer in named if item_of(index, plan.seed) not in done]
    requests = ConcurrentRequests(client, workers)
    waiting: dict[int, LiveSession] = {}

    async def one(thing: tuple[int, str]) -> tuple[int, LiveSession] | None:
        index, engineer = thing
        ask = ItemAsk(requests, item_of(index, plan.seed), plan.model.name) if plan.model.name else None
        session = await live_session(plan, index, engineer, sandbox, ask or NO_MODEL)
        return None if ask is not None and ask.cut_off else (index, session)

    def write(index: int) -> None:
        session = waiting.pop(index)
        run.append([session], Entry(session.item))

    following = iter([index for index, _ in todo])
    due = next(following, None)
    try:
        with Progress("sessions", plan.n) as progress:
            progress.advance(len(done))
            async with aclosing(run_concurrently(one, todo, workers, requests.ended)) as coming:
                async for index, session in coming:
                    waiting[index] = session
                    progress.advance()
                    while due in waiting:
                        write(due)
                        due = next(following, None)
        requests.check()
    finally:
        for index in sorted(waiting):
            write(index)
        await requests.close()


def _entry(session: LiveSession, noted: Entry | None) -> Entry:  # noqa: ARG001
    return Entry(session.item)


def _manifest(plan: ExperimentPlan, client: ClientSettings, sandbox: Sandbox, arguments: Sequence[str]) -> Manifest:
    settings: dict[str, Any] = {
        "design": plan.design,
        "n": plan.n,
        "seed": plan.seed,
        "experiment": plan.name,
        "detector": plan.beside.detector,
        "every": plan.beside.every,
        "delay": plan.beside.delay,
        "wordings": plan.wordings,
        "sandbox": sandbox.name,
    }
    if plan.model.name:
        settings |= {"model": plan.model.name, "base_url": client.base_url or ""}
    return Manifest(
        schema=SCHEMA,
        command=COMMAND,
        arguments=list(arguments),
        misstep=__version__,
        python=platform.python_version(),
        started=_now(),
        settings=settings,
        inputs=Inputs(0, 0, ""),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
