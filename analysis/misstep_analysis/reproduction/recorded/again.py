"""Make a fixed sample of the recordings again, in the sandbox: it has to come out as it is recorded."""

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar

import tomli_w
from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.observer.experiments.report import Experiment, compacted
from misstep_analysis.observer.experiments.report import recordings as recorded_experiments
from misstep_analysis.repair.attempts import RepairArm, repeats
from misstep_analysis.repair.recorded_runs import RepairRun, open_repair_run
from misstep_analysis.repair.recorded_runs import recordings as recorded_repairs
from misstep_analysis.reproduction import triage_recording
from misstep_harness.agent.loop import AgentLimits
from misstep_harness.catalogue import how_to_get, locate
from misstep_harness.clients import ClientSettings
from misstep_harness.datasets.benchmark import whole_folder
from misstep_harness.errors import MisstepError, SandboxMissing
from misstep_harness.fault_mappings import FAULTS
from misstep_harness.journal.records import encode_lines
from misstep_harness.live_session import LiveSession
from misstep_harness.observer.experiment.drawing import engineers
from misstep_harness.observer.experiment.observing import Beside
from misstep_harness.observer.experiment.running import ExperimentPlan, live_session
from misstep_harness.repair.attempt import setting_named
from misstep_harness.repair.build.datasets import SETS, write_cases
from misstep_harness.repair.repairers import RepairerOptions
from misstep_harness.repair.runs.repair import RepairPlan, Repairs
from misstep_harness.runs.judging.judge import run_judge
from misstep_harness.runs.judging.known_judges import known_judge
from misstep_harness.runs.run import carry_out
from misstep_harness.triage.generate.plans import families, units
from misstep_harness.triage.records import TriageVerdict, read_triage_verdicts
from misstep_harness.triage.runs.case_folders import make_unit
from misstep_harness.workspace import Sandbox, find_sandbox

T = TypeVar("T")

SESSIONS, UNITS = 4, 1
"""Sessions of each experiment, the first with something planted; units of cases, each of one case or of two."""


class Again(Struct, Generic[T], frozen=True):
    """Pairs of a recorded result and the same made again; a sentence where none could be made."""

    what: str
    differences: Callable[[T, T], Iterable[str]]
    advice: str
    pairs: tuple[tuple[T, T], ...] = ()
    absent: str = ""

    def check(self) -> None:
        """Name the results that came out otherwise than they are recorded."""
        different = [one for pair in self.pairs for one in self.differences(*pair)]
        if different:
            raise MisstepError(f"{self.what} differ from their recording: {', '.join(different)}", self.advice)


def _session_differences(recorded: LiveSession, again: LiveSession) -> list[str]:
    # What counts the words of prompts and guidance, which are edited now and then, is left out.
    same = replace(recorded, input_tokens=0, seconds=0.0) == replace(again, input_tokens=0, seconds=0.0)
    return [] if same else [f"{recorded.item} ({recorded.arm})"]


def _repair_differences(recorded: RepairArm, again: RepairArm) -> list[str]:
    return [sentence.rstrip(".") for repeat in repeats(recorded, again) for sentence in repeat.differences]


def _verdict_differences(recorded: TriageVerdict, again: TriageVerdict) -> list[str]:
    before, now = (f"{one.label or one.status} {one.subcategory}".rstrip() for one in (recorded, again))
    return [] if before == now else [f"{again.judge} on {again.item} ({before}, now {now})"]


SessionsAgain = partial(
    Again[LiveSession],
    "sessions run again",
    _session_differences,
    "Find out why, or record the experiment anew: `misstep experiment run` as its run.toml says, then "
    "`misstep experiment report RUN --record DIR`.",
)
RepairsAgain = partial(
    Again[RepairArm],
    "repairs made again",
    _repair_differences,
    "Find out why, or record the runs anew with `misstep repair report RUN --record DIR`.",
)
VerdictsAgain = partial(
    Again[TriageVerdict],
    "verdicts given again",
    _verdict_differences,
    "Find out why, or record them anew with `python -m studies.triage_recording`.",
)


def sessions_again(folder: Path | None = None) -> Again[LiveSession]:
    """Run the sample of every recorded experiment again."""
    recorded = recorded_experiments(folder)
    if not recorded:
        return SessionsAgain(absent="No experiment is recorded.")
    try:
        sandbox = find_sandbox()
    except SandboxMissing as error:
        return SessionsAgain(absent=error.line())
    return SessionsAgain(tuple(pair for run in recorded for pair in apart(_run_again, run, sandbox)))


def repairs_again(folder: Path | None = None) -> Again[RepairArm]:
    """Repair again, of every recording on a public data set, the case that took least time; it needs no download."""
    # A model's replies quote the cases, so that its runs are recorded without them.
    without_model = [run for run in recorded_repairs(folder) if not run.requested("model")]
    recorded = [run for run in without_model if run.requested("benchmark") in SETS]
    here = [run for run in recorded if whole_folder(run.requested("benchmark")) is not None]
    if not here:
        absent = how_to_get({run.requested("benchmark") for run in recorded})
        return RepairsAgain(absent=absent if recorded else "No repair of a public data set is recorded.")
    try:
        sandbox = find_sandbox()
    except SandboxMissing as error:
        return RepairsAgain(absent=error.line())
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        return RepairsAgain(tuple(apart(_repaired_again, run, Path(place), sandbox) for run in here))


def verdicts_again(folder: Path | None = None) -> Again[TriageVerdict]:
    """Generate the first units of the recording and have its judges judge them again."""
    recorded = triage_recording.recordings(folder)
    if not recorded:
        return VerdictsAgain(absent="No judge of triage is recorded.")
    try:
        find_sandbox()
    except SandboxMissing as error:
        return VerdictsAgain(absent=error.line())
    about = triage_recording.recorded_about(recorded[0])
    chosen = list(islice(units(about.n, about.seed, families(about.families)), UNITS))
    pairs: list[tuple[TriageVerdict, TriageVerdict]] = []
    with tempfile.TemporaryDirectory(prefix="misstep-") as place:
        cases = Path(place) / "cases"
        cases.mkdir()
        rows = [row for unit in chosen for row in make_unit(unit, cases, {one.family: "" for one in chosen})]
        about_cases = {"name": "again", "kind": "triage", "labels": list(FAULTS)}
        (cases / "benchmark.toml").write_text(tomli_w.dumps(about_cases))
        (cases / "items.jsonl").write_bytes(encode_lines(row.item for row in rows))
        for judge, verdicts in triage_recording.open_recording(recorded[0]).runs.items():
            out = Path(place) / judge
            apart(run_judge, known_judge(judge), cases, out, ClientSettings())
            known = {verdict.item: verdict for verdict in verdicts}
            pairs += [(known[again.item], again) for again in read_triage_verdicts(out) if again.item in known]
    return VerdictsAgain(tuple(pairs))


def apart(work: Callable[..., T], *arguments: object) -> T:
    """Work in a thread: a notebook's cells run in an event loop, and a run begins one of its own."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(work, *arguments).result()


def _run_again(run: Experiment, sandbox: Sandbox) -> list[tuple[LiveSession, LiveSession]]:
    about = run.manifest.settings
    beside = Beside(about["detector"], about["every"], about["delay"])
    plan = ExperimentPlan(about["design"], about["n"], about["seed"], about["experiment"], beside, about["wordings"])
    wanted = [at for at, session in enumerate(run.sessions) if session.episodes][:SESSIONS]
    names = list(islice(engineers(plan.seed), max(wanted, default=-1) + 1))

    async def sessions() -> list[LiveSession]:
        return [compacted(await live_session(plan, at, names[at], sandbox)) for at in wanted]

    return list(zip((run.sessions[at] for at in wanted), asyncio.run(sessions()), strict=True))


def _repaired_again(recorded: RepairRun, place: Path, sandbox: Sandbox) -> tuple[RepairArm, RepairArm]:
    value = recorded.requested
    _, quickest = min((attempt.seconds, attempt.case) for attempt in recorded.attempts if attempt.sample == 0)
    cases = write_cases(value("benchmark"), locate(value("benchmark")), place / value("benchmark"), sandbox, {quickest})
    plan = RepairPlan(
        policy=value("policy"),
        setting=setting_named(value("setting")),
        edit_format=value("format"),
        options=RepairerOptions(value("format"), seed=int(value("seed"))),
        limits=AgentLimits(int(value("iterations")), float(value("seconds"))),
    )
    out = place / "runs" / recorded.name
    carry_out(Repairs(cases, plan, ClientSettings(), sandbox), out)
    return recorded.arm(recorded.name), open_repair_run(out).arm(recorded.name)
