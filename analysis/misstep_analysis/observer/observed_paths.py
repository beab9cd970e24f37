"""The observations in people's own files and folders: the run and its page."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from misstep_analysis.observer.observed import ObservedSummary, observed
from misstep_analysis.observer.page import observed_json, observed_page
from misstep_analysis.runs.finished import named_inputs, read_scores, require_finished
from misstep_analysis.sessions.classified_paths import show_flagged
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.classified import Summary
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import OBSERVED_RECORDS, REPORT, SCORES, SESSION_RECORDS, read_records
from misstep_harness.observer.runs.observe import Observe, observe_paths
from misstep_harness.places import path_text
from misstep_harness.runs.spread import BY_SIZE, Spread
from misstep_harness.session import Session


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
        contents = {SCORES: observed_json(observations)}
        if with_page:
            contents[REPORT] = observed_page(
                observations, _runs(folder), list(map(path_text, paths)), arguments
            ).encode()
        return contents

    show = show_flagged if with_page else None
    observe_paths(paths, observe, settings, out, conclude=conclude, spread=spread, arguments=arguments, show=show)
    return read_scores(out, ObservedSummary)


def page_of_observed(run: OpenRun) -> str:
    """Return the page of a finished run, made again."""
    require_finished(run)
    scores, manifest = read_scores(run.folder, ObservedSummary), run.manifest
    return observed_page(scores, _runs(run.folder), named_inputs(manifest), manifest.arguments)


def _runs(run: Path) -> Iterator[tuple[Session, ObservedRun]]:
    return zip(read_records(run, SESSION_RECORDS), read_records(run, OBSERVED_RECORDS), strict=True)
