"""A fixed sample of the recorded repairs made again, in the sandbox: they have to come out as they are recorded.

The sample is of cases that need no download, those of a public data set, which are written anew from its files: of each
recording the one that took least time.
"""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from misstep.analysis.measures.repair.attempts import RepairArm
from misstep.analysis.measures.repair.repeated import repeats
from misstep.harness.agent.loop import AgentLimits
from misstep.harness.clients import ClientSettings
from misstep.harness.datasets.catalogue import how_to_get, locate, located
from misstep.harness.errors import MisstepError, SandboxMissing
from misstep.harness.repair.attempt import setting_named
from misstep.harness.repair.build.datasets import SETS, write_cases
from misstep.harness.repair.repairers import RepairerOptions
from misstep.harness.runs.repair import RepairPlan, run_repairs
from misstep.harness.workspace import Sandbox, find_sandbox
from misstep.studies.repair_runs import RepairRun, open_repair_run, recordings


class _Repeated(Struct, frozen=True):
    """Recordings, each with the run that made its sample again; a sentence where nothing could be made again."""

    runs: tuple[tuple[RepairArm, RepairArm], ...] = ()
    absent: str = ""

    def check(self) -> None:
        """Say where attempts came out otherwise than they are recorded."""
        pairs = [repeat for recorded, again in self.runs for repeat in repeats(recorded, again)]
        sentences = [sentence for repeat in pairs for sentence in repeat.differences]
        if sentences:
            raise MisstepError(
                f"repairs made again differ from their recording: {' '.join(sentences)}",
                "Find out why, or record the runs anew with `misstep repair report RUN --record DIR`.",
            )


def repeated_sample(folder: Path | None = None) -> _Repeated:
    """Make the sample of every recording of a public data set again."""
    recorded = [run for run in recordings(folder) if run.requested("benchmark") in SETS]
    here = [run for run in recorded if located(run.requested("benchmark")) is not None]
    if not here:
        absent = how_to_get({run.requested("benchmark") for run in recorded})
        return _Repeated(absent=absent if recorded else "No repair of a public data set is recorded.")
    try:
        sandbox = find_sandbox()
    except SandboxMissing as error:
        return _Repeated(absent=error.line())
    # A notebook's cells run in an event loop, and a run of repairs begins one of its own: hence the thread.
    with tempfile.TemporaryDirectory(prefix="misstep-") as place, ThreadPoolExecutor(1) as apart:
        return _Repeated(tuple(apart.submit(_made_again, run, Path(place), sandbox).result() for run in here))


def _made_again(recorded: RepairRun, place: Path, sandbox: Sandbox) -> tuple[RepairArm, RepairArm]:
    """Return a recording, and its sample made again in a folder."""
    benchmark = recorded.requested("benchmark")
    _, quickest = min((attempt.seconds, attempt.case) for attempt in recorded.attempts if attempt.sample == 0)
    cases = write_cases(benchmark, locate(benchmark), place / benchmark, sandbox, {quickest})
    plan = RepairPlan(
        policy=recorded.requested("policy"),
        setting=setting_named(recorded.requested("setting")),
        edit_format=recorded.requested("format"),
        options=RepairerOptions(recorded.requested("format"), seed=int(recorded.requested("seed"))),
        limits=AgentLimits(int(recorded.requested("iterations")), float(recorded.requested("seconds"))),
    )
    out = place / "runs" / recorded.name
    run_repairs(cases, out, plan, ClientSettings(), sandbox)
    return recorded.arm(recorded.name), open_repair_run(out).arm(recorded.name)
