"""The scores and the page of a run of `classify`."""

from collections.abc import Collection, Sequence
from pathlib import Path

from msgspec import structs

from misstep_analysis.runs.finished import named_inputs, read_scores, require_finished
from misstep_analysis.sessions.findings import Findings, NewSessions, as_json
from misstep_harness.journal.classified import labelled_sessions
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import REPORT, SCORES
from misstep_harness.trajectory import Trajectory


def findings_files(result: Findings, folder: Path, inputs: Sequence[str], arguments: Sequence[str]) -> dict[str, bytes]:
    """Return the scores and the page of a run, by the name of their file; only the page marks what is new."""
    scores = as_json(structs.replace(result, new=None))
    return {SCORES: scores, REPORT: _page(result, folder, inputs, arguments).encode()}


def classified_page(run: OpenRun, new: NewSessions | None = None) -> str:
    """Return the page of a finished run, made again; it marks the sessions that are new."""
    require_finished(run)
    arguments = run.manifest.arguments
    scores = structs.replace(read_scores(run.folder, Findings), new=new)
    return _page(scores, run.folder, named_inputs(run.manifest), arguments)


def _page(result: Findings, run: Path, inputs: Sequence[str], arguments: Sequence[str]) -> str:
    from misstep_analysis.sessions.page import sessions_page  # takes long, and only a run has a page

    return sessions_page(result, labelled_sessions(run), inputs, arguments)


def show_flagged(session: Trajectory, evidence: Collection[int]) -> str:
    """Return the data of a flagged session for the page of its run."""
    from misstep_analysis.pages.browser import show_session  # takes long, and only a run has a page

    return show_session(session, evidence)
