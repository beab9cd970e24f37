"""Read what public harnesses leave of their runs as triage cases: a module each, and a registry.

A job is recognised by its files; no link in it is followed. The images in which the trials ran are not part of a job;
where they were exported beside it, the tests can be run again in them (`tasks`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.registry import Registry
from misstep_harness.triage.records import TriageCase
from misstep_harness.triage.runs.jobs.trials import JobTrial, written_trials
from misstep_harness.triage.texts import TRAJECTORY

_SHOWN = 5

CASES = "cases"


class JobReader(Protocol):
    """A module that reads the jobs of one public harness."""

    NAME: str

    def is_job(self, path: Path) -> bool:
        """Return whether a folder or file is such a job, by its content."""

    def trials(self, path: Path) -> Iterator[JobTrial]:
        """Return the trials of a job, in order."""


JOBS: Registry[JobReader] = Registry(
    "misstep.jobs",
    {
        "harbor": "misstep_harness.triage.runs.jobs.harbor",
        "terminal_bench": "misstep_harness.triage.runs.jobs.terminal_bench",
        "swe_bench": "misstep_harness.triage.runs.jobs.swe_bench",
        "nemo_gym": "misstep_harness.triage.runs.jobs.nemo_gym",
    },
)
"""Name → dotted path; entry points in the group add to it."""


class ConvertedJob(Struct, frozen=True):
    """The cases of a job, a sentence about it, and whether any case has files to look at."""

    cases: Sequence[TriageCase]
    sentence: str
    has_files: bool


def cases_of_job(path: Path, benchmark: Path) -> ConvertedJob | None:
    """The cases of a job, written into a benchmark's folder; `None` if the path is not a job of a known harness."""
    job = path if beneath.without_links(path) else path.resolve()  # any link is then one of the job's own
    for name in JOBS.names():
        reader = JOBS.load(name)
        if reader.is_job(job):
            cases = written_trials(reader.trials(job), benchmark / CASES)
            has_files = any(case.part("workspace") or case.part("tests") for case in cases)
            runnable = sum(bool(case.roots) for case in cases)
            without = [case.id for case in cases if not (case.folder / TRAJECTORY).is_file()]
            only = "their files can be looked at" if has_files else "they have texts alone"
            trials = f"{len(cases):,} trial{'' if len(cases) == 1 else 's'}"
            run = f"{runnable:,} can be run in exported images" if runnable else "nothing can be run"
            message = f"{path} is {reader.NAME} with {trials}; {only}, and {run}."
            return ConvertedJob(cases, message + _stepless(without), has_files)
    return None


def _stepless(names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
    return f" Without a trajectory that can be read: {shown}."
