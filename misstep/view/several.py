"""All runs of a folder as one page: read and classified in one pass."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct, structs

from misstep_analysis.pages.page import Foot
from misstep_analysis.sessions.listed import ListedRun, ListedRuns, listed_run, runs_page
from misstep_harness.journal.classified import FailedClassifier, Names, failed_verdicts, together
from misstep_harness.places import path_text
from misstep_harness.progress import Progress
from misstep_harness.runs.classify import ClassifyAs
from misstep_harness.runs.file_batches import Batch, batches, describe, found_files, placed_in, total_bytes
from misstep_harness.runs.spread import BY_SIZE, in_order
from misstep_harness.trajectory import Placed, Trajectory, Unreadable


class ViewedRuns(Struct, frozen=True):
    """A page of runs: how many there are, what could not be read, and which classifiers failed."""

    page: str
    n: int
    unreadable: tuple[Unreadable, ...]
    failed: tuple[FailedClassifier, ...]


def viewed_runs(path: Path, categories: Sequence[str], classify: ClassifyAs, command: str) -> ViewedRuns:
    """Return all runs of a file or folder as one page."""
    files = list(found_files([path]))
    listed, names = ListedRuns(), Names()
    unreadable: list[Unreadable] = []
    failed: list[FailedClassifier] = []
    work = partial(_listed, classify=classify, categories=tuple(categories))
    with Progress("runs") as progress:
        for batch in in_order(work, batches(files), BY_SIZE.for_bytes(total_bytes(files)), describe):
            progress.advance(len(batch))
            for one in batch:
                if isinstance(one, Unreadable):
                    unreadable.append(one)
                    continue
                failed += failed_verdicts(one.verdicts)
                name = names.give(one.session.item)
                listed.add(structs.replace(one, session=structs.replace(one.session, item=name)))
    foot = Foot(command, inputs=(path_text(path),))
    page = runs_page(Path(path_text(path.resolve())).name, categories, listed, unreadable, foot)
    return ViewedRuns(page, listed.n, tuple(unreadable), tuple(together(failed)))


def _listed(batch: Batch, classify: ClassifyAs, categories: tuple[str, ...]) -> list[ListedRun | Unreadable]:
    listed: list[ListedRun | Unreadable] = []
    for one in placed_in(batch):
        session = one.found if isinstance(one, Placed) else one
        if isinstance(session, Unreadable):
            listed.append(session)
        elif isinstance(one, Placed) and isinstance(session, Trajectory):
            listed.append(listed_run(session, one.file, one.line, classify(session, categories)))
    return listed
