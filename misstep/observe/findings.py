"""What an observer sees in files and folders, and the run that keeps it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from misstep_analysis.observer.observed import ObservedSummary, observed
from misstep_analysis.observer.page import observed_json, observed_page, observed_sessions
from misstep_analysis.runs.finished import read_scores
from misstep_analysis.sessions.documents import show_flagged
from misstep_harness.journal.classified import Summary
from misstep_harness.journal.records import OBSERVED_RECORDS, REPORT, SCORES, read_records
from misstep_harness.observer.runs.observe import Observe, observe_paths
from misstep_harness.places import path_text
from misstep_harness.runs.spread import BY_SIZE, Spread


def observed_findings(
    paths: Sequence[Path],
    observe: Observe,
    settings: Mapping[str, Any],
    out: Path,
    *,
    spread: Spread = BY_SIZE,
    arguments: Sequence[str] = (),
    with_page: bool = True,
) -> ObservedSummary:
    """Return the observations in all trajectories of the files and folders `paths`."""

    def conclude(left_out: Summary, folder: Path) -> dict[str, bytes]:
        records = read_records(folder, OBSERVED_RECORDS)
        observations = observed(records, left_out.unreadable, left_out.skipped, left_out.renamed)
        page = (
            observed_page(observations, observed_sessions(folder), list(map(path_text, paths)), arguments)
            if with_page
            else ""
        )
        return {SCORES: observed_json(observations)} | ({REPORT: page.encode()} if with_page else {})

    show = show_flagged if with_page else None
    observe_paths(paths, observe, settings, out, conclude=conclude, spread=spread, arguments=arguments, show=show)
    return read_scores(out, ObservedSummary)
