"""A few sessions of the recorded experiments run again, in the sandbox: they have to come out as they are recorded."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from misstep.harness.errors import MisstepError, SandboxMissing
from misstep.harness.records.live_session import LiveSession
from misstep.harness.runs.experiment.drawing import engineers
from misstep.harness.runs.experiment.observing import Beside
from misstep.harness.runs.experiment.running import ExperimentPlan, live_session
from misstep.harness.workspace import Sandbox, find_sandbox
from misstep.studies.experiments import Experiment, compacted, recordings

SAMPLE = 4
"""Sessions of each recording: the first in which something was planted."""


class SessionsAgain(Struct, frozen=True):
    """Pairs of a recorded session and the same run again; a sentence where none could be run."""

    pairs: tuple[tuple[LiveSession, LiveSession], ...] = ()
    absent: str = ""

    def check(self) -> None:
        """Say where sessions came out otherwise than they are recorded."""
        different = [
            f"{recorded.item} ({recorded.arm})"
            for recorded, again in self.pairs
            if _whatever_the_words(recorded) != _whatever_the_words(again)
        ]
        if different:
            raise MisstepError(
                f"sessions run again differ from their recording: {', '.join(different)}",
                "Find out why, or record the experiment anew: `misstep experiment run` as its run.toml says, then "
                "`misstep experiment report RUN --record DIR`.",
            )


def _whatever_the_words(session: LiveSession) -> LiveSession:
    """Return a session without what counts the words of prompts and guidance, which are edited now and then."""
    return replace(session, input_tokens=0, seconds=0.0)


def sessions_again(folder: Path | None = None) -> SessionsAgain:
    """Run the sample of every recording again."""
    recorded = recordings(folder)
    if not recorded:
        return SessionsAgain(absent="No experiment is recorded.")
    try:
        sandbox = find_sandbox()
    except SandboxMissing as error:
        return SessionsAgain(absent=error.line())
    # A notebook's cells run in an event loop, and the sessions begin one of their own: hence the thread.
    with ThreadPoolExecutor(1) as apart:
        return SessionsAgain(tuple(pair for run in recorded for pair in apart.submit(_again, run, sandbox).result()))


def plan_of(run: Experiment) -> ExperimentPlan:
    """Return the plan that an experiment was run by."""
    settings = run.manifest.settings
    beside = Beside(settings["detector"], settings["every"], settings["delay"])
    return ExperimentPlan(
        settings["design"], settings["n"], settings["seed"], settings["experiment"], beside, settings["wordings"]
    )


def _again(run: Experiment, sandbox: Sandbox) -> list[tuple[LiveSession, LiveSession]]:
    plan = plan_of(run)
    wanted = [at for at, session in enumerate(run.sessions) if session.episodes][:SAMPLE]
    names = list(islice(engineers(plan.seed), max(wanted, default=-1) + 1))

    async def made() -> list[LiveSession]:
        return [compacted(await live_session(plan, at, names[at], sandbox)) for at in wanted]

    return list(zip((run.sessions[at] for at in wanted), asyncio.run(made()), strict=True))
