"""What an observer sees in files and folders, and the run that keeps it."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from misstep_analysis.observer.observed import ObservedSummary, observed
from misstep_analysis.observer.page import observed_json, observed_page, observed_sessions
from misstep_analysis.runs.finished import read_scores
from misstep_analysis.sessions.documents import show_flagged
from misstep_harness.journal.classified import Summary
from misstep_harness.journal.records import OBSERVED_RECORDS, REPORT, SCORES, read_records
from misstep_harness.observer.runs.observe import Observation, observe_paths
from misstep_harness.places import path_text


def observed_findings(paths: Sequence[Path], how: Observation, out: Path, *, with_page: bool = True) -> ObservedSummary:
    """Return the observations in all trajectories of the files and folders `paths`."""

    def conclude(left_out: Summary, folder: Path) -> dict[str, bytes]:
        records = read_records(folder, OBSERVED_RECORDS)
        observations = observed(records, left_out.unreadable, left_out.skipped, left_out.renamed)
        contents = {SCORES: observed_json(observations)}
        if with_page:
            inputs = list(map(path_text, paths))
            contents[REPORT] = observed_page(observations, observed_sessions(folder), inputs, how.arguments).encode()
        return contents

    observe_paths(paths, replace(how, show=show_flagged if with_page else None), out, conclude)
    return read_scores(out, ObservedSummary)
