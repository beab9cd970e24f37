"""What the classifiers find in people's own files and folders: the findings, and the run that keeps them."""

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from analysis.pages.findings import Findings, findings
from harness.journal.classified import Summary
from harness.journal.labelled_sessions import labelled_sessions
from harness.journal.records import REPORT, SCORES, encode
from harness.runs.classify import ClassifyAs, classify_paths
from harness.trajectory import Trajectory
from studies.finished_runs import finished_manifest, named_paths, read_scores


def classified_findings(
    paths: Sequence[Path],
    categories: Sequence[str],
    classify: ClassifyAs,
    *,
    out: Path | None = None,
    workers: int | None = None,
    arguments: Sequence[str] = (),
    since: datetime | None = None,
) -> Findings:
    """What is found in all trajectories of the files and folders `paths`.

    Parameters
    ----------
    paths, categories, classify, workers, since
        As for `classify_paths`.
    out
        A run folder; a run that is finished there gives its findings at once.
    arguments
        Those of the command line, for the foot of the run's page.

    Raises
    ------
    MisstepError
        As `classify_paths`.
    """

    def conclude(summary: Summary, folder: Path) -> dict[str, bytes]:
        found = findings(categories, summary)
        return {SCORES: as_json(found), REPORT: _page(found, folder, paths, arguments).encode()}

    summary = classify_paths(
        paths,
        categories,
        classify,
        out=out,
        workers=workers,
        arguments=arguments,
        conclude=conclude,
        since=since,
        show=_show,
    )
    if summary is not None:
        return findings(categories, summary)
    return read_scores(out or Path(), Findings)


def as_json(found: Findings) -> bytes:
    """The document as indented JSON, with a line end."""
    return msgspec.json.format(encode(found), indent=2) + b"\n"


def classified_page(run: Path) -> str:
    """The page of a finished run, made again.

    Raises
    ------
    UsageError
        The run is not finished.
    InputError
        Its scores cannot be read.
    """
    manifest = finished_manifest(run, "classify")
    return _page(read_scores(run, Findings), run, named_paths(manifest), manifest.arguments)


def _page(found: Findings, run: Path, paths: Sequence[Path], arguments: Sequence[str]) -> str:
    from analysis.pages.sessions.page import sessions_page  # takes long, and only a run has a page

    return sessions_page(found, labelled_sessions(run), paths, arguments)


def _show(session: Trajectory, evidence: Collection[int]) -> str:
    from analysis.pages.sessions.shown import show_session  # takes long, and only a run has a page

    return show_session(session, evidence)
