"""Experiments with running agents opened for analysis, reported, and kept as recordings.

A recording is a run's folder with what figures need and no more: no trajectories, no guidance, no rationales.

    data/recordings/wink/shadow/run.toml              what was asked
    data/recordings/wink/shadow/live_sessions.jsonl   one session a line, in their order
    data/recordings/wink/shadow/verdicts.jsonl        what `recovery@rule` says of each intervention
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from misstep_analysis.labels.rows import shown
from misstep_analysis.observer.experiments.comparison import compare_arms, experiment_finding, experiment_tables
from misstep_analysis.observer.experiments.own_sessions_report import followed_tables, report_of_own
from misstep_analysis.observer.experiments.recovery_benchmark import judgements_of, verdicts_by_rule
from misstep_analysis.observer.experiments.sessions import of_live, read_sessions
from misstep_analysis.observer.experiments.shadow import live_sessions_table
from misstep_analysis.observer.paper.live import LiveExperiments, heeding_table
from misstep_analysis.observer.paper.live_recovery import recovery_effect_table, time_to_recovery_table
from misstep_analysis.pages import Foot, page, table_text
from misstep_analysis.runs.finished import write_recording
from misstep_analysis.tables import Table
from misstep_analysis.tables.files import document
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import UsageError
from misstep_harness.intervention import Intervention, Invocation
from misstep_harness.journal.opened import OpenRun, open_of
from misstep_harness.journal.records import MANIFEST, VERDICTS, encode_lines, read_verdicts, replace_file
from misstep_harness.live_session import LiveSession
from misstep_harness.observer.experiment.own_sessions import Assignment
from misstep_harness.observer.records import LIVE_RECORDS
from misstep_harness.places import data_folder
from misstep_harness.trajectory import Evidence

Observed = TypeVar("Observed", Invocation, Intervention)

EXPERIMENT = "experiment run"


class Experiment(OpenRun, frozen=True):
    """A run of live sessions: its folder, what was asked, and its sessions."""

    sessions: tuple[LiveSession, ...]

    @property
    def source(self) -> str:
        """Return where its figures are from."""
        if self.evidence == "real":
            return f"{self.requested('policy')}, {self.requested('model')}, n {len(self.sessions):,}"
        return f"generated, seed {self.requested('seed')}, n {len(self.sessions):,}"

    @property
    def evidence(self) -> Evidence:
        """Return the kind of evidence that its figures are; before runs said so, all were generated."""
        return "real" if self.requested("evidence") == "real" else "generated"

    @property
    def planted(self) -> bool:
        """Return whether a scripted agent misbehaves as planted."""
        return not (self.requested("model") or self.requested("policy"))

    @property
    def heeds(self) -> dict[str, float]:
        """Return the drawn probabilities of what a scripted agent does with guidance."""
        drawn = self.manifest.settings.get("heeds")
        return drawn if isinstance(drawn, dict) else {}

    @property
    def live(self) -> LiveExperiments:
        """It as the tables of the paper take it."""
        shadow = self.sessions if self.requested("design") == "shadow" else ()
        ab = self.sessions if self.requested("design") == "ab" else ()
        return LiveExperiments(shadow, ab, int(self.requested("seed") or 0), {}, self.heeds)


class ExperimentFindings(Struct, frozen=True):
    """An experiment in a sentence and tables, and what a reader should know beside them."""

    title: str
    finding: str
    tables: tuple[Table, ...]
    warning: str = ""

    def text(self) -> str:
        """Return it as text."""
        return "\n".join(table_text(table) for table in self.tables)

    def json(self) -> str:
        """Return it as a JSON document."""
        tables = [document(table) for table in self.tables]
        content = {"title": self.title, "finding": self.finding, "warning": self.warning, "tables": tables}
        return msgspec.json.format(msgspec.json.encode(content), indent=2).decode()

    def html(self, command: str, source: str) -> str:
        """Return it as a page."""
        notes = (self.warning,) if self.warning else ()
        return page(self.title, self.finding, self.tables, notes=notes, foot=Foot(command, inputs=(source,)))


def open_experiment(folder: Path) -> Experiment:
    """Return the experiment in a folder, also one in progress."""
    return experiment_of(open_of(folder, EXPERIMENT))


def experiment_of(run: OpenRun) -> Experiment:
    """Return a run of an experiment with its sessions."""
    return Experiment(run.folder, run.manifest, tuple(run.read(LIVE_RECORDS)))


def report_of_run(run: Experiment, seed: int = 0) -> ExperimentFindings:
    """Return the report of a run; `seed` is of resamples and permutations."""
    if len({one.arm for one in run.sessions}) < 2:
        raise UsageError(f"{run.folder} has sessions of less than two arms", "Run more sessions.")
    compared = compare_arms(of_live(run.sessions), treatment="guide", seed=seed)
    tables = list(experiment_tables(compared, run.source, run.evidence))
    tasks = "your own cases" if run.requested("policy") else "generated tasks"
    title, finding = f"Live sessions of {run.requested('model')} on {tasks}", experiment_finding(compared)
    if not run.planted:
        followed = followed_tables([run.folder], run.source, run.evidence)
        tables, finding = [*followed, *tables], " ".join([*(table.finding for table in followed), finding])
    else:
        first = live_sessions_table(run.sessions, run.source)
        first = structs.replace(first, finding=f"Of {run.live.agents}: {first.finding}")
        title, finding = "Live sessions with and without guidance", f"{first.finding} {finding}"
        tables = [first, *tables, recovery_effect_table(run.live)]
        if run.requested("design") == "shadow":
            tables += [time_to_recovery_table(run.live), heeding_table(run.live)]
    warning = ""
    if not run.manifest.finished:
        so_far = counted_text(len(run.sessions), "session")
        warning = f"The run is not finished: it has {so_far} of {run.requested('n')} so far."
    return ExperimentFindings(title, finding, tuple(tables), warning)


def is_experiment(path: Path) -> bool:
    """Return whether a folder is a run of an experiment."""
    return (path / MANIFEST).is_file() and (path / LIVE_RECORDS.file).is_file()


def is_planted(path: Path) -> bool:
    """Return whether a folder is a run of an experiment whose misbehaviour is planted."""
    return is_experiment(path) and open_experiment(path).planted


def own_report(
    paths: Sequence[Path], assignment: Assignment, judged: Path | None = None, seed: int = 0
) -> ExperimentFindings:
    """Return the report on a user's own sessions."""
    own = report_of_own(paths, assignment, judged, seed)
    return ExperimentFindings("Guidance in your own sessions", own.finding, own.tables, " ".join(own.remarks))


def report_of_file(
    file: Path,
    control: str = "",
    treatment: str = "",
    shares: Mapping[str, float] | None = None,
    planned_units: int | None = None,
    seed: int = 0,
) -> ExperimentFindings:
    """Return the report of a user's own sessions in a CSV."""
    compared = compare_arms(read_sessions(file), control, treatment, shares, planned_units, seed)
    tables = experiment_tables(compared, shown(file))
    return ExperimentFindings("An experiment with two arms", experiment_finding(compared), tables)


def compacted(session: LiveSession) -> LiveSession:
    """Return a session without its trajectory and without texts."""
    observed = session.observed
    if observed is not None:
        invocations = (_wordless(one, seconds=None) for one in observed.invocations)
        interventions = (_wordless(one, guidance="") for one in observed.interventions)
        observed = structs.replace(observed, invocations=tuple(invocations), interventions=tuple(interventions))
    return structs.replace(session, trajectory=None, observed=observed)


def _wordless(one: Observed, **without: Any) -> Observed:
    misbehaviours = tuple(structs.replace(each, steps=(), rationale="", evidence={}) for each in one.misbehaviours)
    return structs.replace(one, misbehaviours=misbehaviours, **without)


def record_experiment(run: Experiment, out: Path) -> Experiment:
    """Write the recording of a finished run into a folder of its own."""
    write_recording(run, out, LIVE_RECORDS, map(compacted, run.sessions))
    verdicts = verdicts_by_rule(run.sessions)
    replace_file(out / VERDICTS, encode_lines(structs.replace(one, rationale="", steps=()) for one in verdicts))
    return open_experiment(out)


def recordings(folder: Path | None = None) -> list[Experiment]:
    """Return the recordings of a folder, by default the project's own, by name; none if there are none."""
    place = folder or data_folder() / "recordings" / "wink"
    return [open_experiment(file.parent) for file in sorted(place.glob(f"*/{MANIFEST}"))]


def recorded_live(folder: Path | None = None) -> LiveExperiments | None:
    """The recorded shadow and A/B experiment as the tables of the paper take them; `None` where one is missing."""
    by_design = {run.requested("design"): run for run in recordings(folder)}
    if by_design.keys() < {"shadow", "ab"}:
        return None
    shadow, ab = by_design["shadow"], by_design["ab"]
    judgements = judgements_of(read_verdicts(shadow.folder))
    return LiveExperiments(shadow.sessions, ab.sessions, int(shadow.requested("seed")), judgements, shadow.heeds)
