"""Runs of repairs opened for analysis, and as recordings: the same folder with what figures need and no more.

A recording is a run's folder without trajectories, patches and texts, small enough to be kept with the project:

    data/recordings/repair/planted-search-react/run.toml         what was asked; of which cases, and who made the faults
    data/recordings/repair/planted-search-react/attempts.jsonl   one attempt a line, in order of case and number
    data/recordings/repair/planted-search-react/reviews.csv      what became of its patches, where they were reviewed

Whatever reads a run reads a recording: `misstep repair report`, `misstep report`, `misstep.open`.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from misstep_analysis.repair.attempts import (
    Evidence,
    RepairArm,
    ReviewFunnel,
    noted,
    review_funnel,
)
from misstep_analysis.tables.wording import counted_text
from misstep_harness.catalogue import data_sets
from misstep_harness.escaping import one_line, plain
from misstep_harness.journal.opened import OpenRun, check_named_once, distinct_names, open_of
from misstep_harness.journal.records import MANIFEST, replace_file
from misstep_harness.places import data_folder
from misstep_harness.progress import say
from misstep_harness.repair.records import (
    ATTEMPT_RECORDS,
    REVIEWS,
    RepairAttempt,
    read_reviews,
    review_lines,
)
from misstep_harness.trajectory import Trajectory

REPAIRED = "repair run"

_TELLING = ("policy", "setting", "format", "instructions", "instructions_by", "change_tests", "model", "patcher_model")
_NOTED = ("test_runs", "candidates")
_PATH = re.compile(r"(?<![\w.])/(?:[\w.+@-]+/)+[\w.+@-]*")


class RepairRun(OpenRun, frozen=True):
    """A run of repairs: its folder, what was asked, and its attempts without trajectories, patches and texts."""

    attempts: tuple[RepairAttempt, ...]

    @property
    def unfinished(self) -> str:
        """Return how far an unfinished run is, as a clause; empty of one that is finished."""
        if self.manifest.finished:
            return ""
        return f"is not finished: it has {counted_text(len(self.attempts), 'attempt')} so far"

    def arm(self, name: str) -> RepairArm:
        """Return the run as measures take it, called so."""
        evidence: Evidence = "generated" if self.requested("evidence") == "generated" else "real"
        benchmark = self.requested("benchmark") or Path(self.manifest.folder).name
        return RepairArm(
            name=name,
            policy=self.requested("policy"),
            setting=self.requested("setting"),
            format=self.requested("format"),
            attempts=self.attempts,
            benchmark=benchmark,
            version=self.manifest.inputs.digest,
            instructions=self.requested("instructions"),
            instructions_by=self.requested("instructions_by"),
            model=self.requested("model"),
            evidence=evidence,
            dataset=benchmark if evidence == "real" and benchmark in data_sets() else "",
        )


def open_repair_run(folder: Path) -> RepairRun:
    """Return the run in a folder."""
    return repair_run(open_of(folder, REPAIRED))


def repair_run(run: OpenRun) -> RepairRun:
    """Return a run of repairs with its attempts."""
    attempts = {attempt.id: compacted(attempt) for attempt in run.read(ATTEMPT_RECORDS)}
    in_order = sorted(attempts.values(), key=lambda attempt: (attempt.case, attempt.sample, attempt.id))
    return RepairRun(run.folder, run.manifest, tuple(in_order))


def open_repair_runs(folders: Sequence[Path]) -> list[RepairRun]:
    """Return several runs that are to be looked at together."""
    check_named_once(folders)
    return [open_repair_run(folder) for folder in folders]


def arms_of(runs: Sequence[RepairRun]) -> list[RepairArm]:
    """Return the runs as measures take them, each with a name of its own: what they differ in, or their folders."""
    if not runs:
        return []
    settings = {name: [run.requested(name) for run in runs] for name in _TELLING}
    telling = [values for values in settings.values() if len(set(values)) > 1] or [
        settings["policy"],
        settings["setting"],
        settings["change_tests"],
    ]
    names = [", ".join(filter(None, parts)) for parts in zip(*telling, strict=True)]
    if len(set(names)) < len(names) or not all(names):
        names = distinct_names([run.folder for run in runs])
    return [run.arm(name) for run, name in zip(runs, names, strict=True)]


def warn_of(runs: Sequence[RepairRun]) -> list[str]:
    """Return the notes for a reader before any figure, a sentence each."""
    warnings = [f"The run {plain(run.name)} {run.unfinished}." for run in runs if run.unfinished]
    if len({run.manifest.inputs.digest for run in runs}) > 1:
        warnings.append("The runs are not all of the same cases: pairs are compared on cases of the same name.")
    return warnings


def say_warnings(runs: Sequence[RepairRun]) -> None:
    """Say them on stderr."""
    for sentence in warn_of(runs):
        say(f"misstep: {sentence}")


def compacted(attempt: RepairAttempt) -> RepairAttempt:
    """Return an attempt without its trajectory, patch and texts; what its trajectory notes in numbers is kept."""
    run = attempt.trajectory
    notes = {name: value for name in _NOTED if (value := noted(attempt, name)) is not None}
    return structs.replace(
        attempt,
        patch="",
        signals=tuple(structs.replace(signal, text="") for signal in attempt.signals),
        trajectory=Trajectory(run.id, run.source, extra=notes) if run is not None and notes else None,
    )


def record_run(run: RepairRun, out: Path) -> RepairRun:
    """Write the recording of a finished run into a folder of its own, its review log without names and comments."""
    from misstep_analysis.runs.finished import write_recording

    settings = {name: value for name, value in run.manifest.settings.items() if name != "base_url"}
    settings |= {"benchmark": run.arm("").benchmark}
    inputs = structs.replace(run.manifest.inputs, parts=())
    attempts = (structs.replace(attempt, error=placeless(attempt.error)) for attempt in run.attempts)
    write_recording(run, out, ATTEMPT_RECORDS, attempts, settings=settings, inputs=inputs)
    if (reviews := run.folder / REVIEWS).is_file():
        # Who said what is nobody's business here: the figures need what happened to which patch.
        events = (structs.replace(event, by="", comment="") for event in read_reviews(reviews))
        replace_file(out / REVIEWS, review_lines(events))
    return open_repair_run(out)


def placeless(text: str, most: int = 160) -> str:
    """Return a text on one line of at most `most` characters, without the paths of the machine that it is from."""
    message = one_line(_PATH.sub("…", text))
    return message if len(message) <= most else f"{message[:most].rstrip()} …"


def recordings(folder: Path | None = None) -> list[RepairRun]:
    """Return the recordings of a folder, by default the project's own, by name; none if there are none."""
    place = folder or data_folder() / "recordings" / "repair"
    return [open_repair_run(file.parent) for file in sorted(place.glob(f"*/{MANIFEST}"))]


def recorded_arms(folder: Path | None = None, *, by_model: bool = False) -> list[RepairArm]:
    """Return the recordings as measures take them, each under the name of its folder: of policies, or of a model."""
    return [run.arm(run.name) for run in recordings(folder) if bool(run.requested("model")) == by_model]


def recorded_reviews(folder: Path | None = None) -> ReviewFunnel | None:
    """Return the funnel of all review logs in the recordings; `None` if there is none."""
    logged = [run for run in recordings(folder) if (run.folder / REVIEWS).is_file()]
    if not logged:
        return None
    events = (event for run in logged for event in read_reviews(run.folder / REVIEWS))
    return review_funnel(events, (attempt.id for run in logged for attempt in run.attempts if attempt.patched))
