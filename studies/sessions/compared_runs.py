"""Two runs side by side as one page: of two files, or of one file or folder."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from misstep.analysis.pages.foot import Foot
from misstep.analysis.pages.runs.compared import ComparedRun, compared_page
from misstep.harness.addresses import local_copies
from misstep.harness.copies import is_address
from misstep.harness.errors import UsageError
from misstep.harness.places import path_text
from misstep.harness.runs.chosen_runs import ChosenRuns, chosen_runs
from misstep.harness.runs.classify import ClassifyAs
from misstep.harness.trajectory import Trajectory
from misstep.harness.verdict import Verdict


class ComparedRuns(Struct, frozen=True):
    """The page of two runs, their ids, whether all else there could be read, and the verdicts on both."""

    page: str
    ids: tuple[str, str]
    is_complete: bool
    verdicts: tuple[Verdict, ...]


def compared_runs(
    path: Path | None,
    named: tuple[str, str],
    id_: str | None,
    categories: Sequence[str],
    classify: ClassifyAs,
    command: str,
) -> ComparedRuns:
    """Return two runs as one page."""
    if path is not None:
        chosen = chosen_runs(path, named)
        places = (path, path)
        runs, is_complete = list(chosen.runs), not chosen.unreadable
        ids = [one if one in chosen.ids else run.id for one, run in zip(named, runs, strict=True)]
    else:
        places = (_existing(named[0]), _existing(named[1]))
        each = [_only_run(place, id_) for place in places]
        runs, is_complete = [one.runs[0] for one in each], not any(one.unreadable for one in each)
        ids = [one.id for one in runs]
    a, b = (
        _compared(structs.replace(run, id=own), place, categories, classify)
        for run, own, place in zip(runs, ids, places, strict=True)
    )
    inputs = tuple(f"{path_text(place)}, read as {run.source.format}" for place, run in zip(places, runs, strict=True))
    page = compared_page(a, b, Foot(command, inputs=tuple(dict.fromkeys(inputs))))
    return ComparedRuns(page, (ids[0], ids[1]), is_complete, (*a.verdicts, *b.verdicts))


def _existing(named: str) -> Path:
    path = local_copies(named) if is_address(named) else Path(named)
    if not path.exists():
        message = f"the file {named} does not exist"
        raise UsageError(message, "Name two files, or one file before two ids: misstep view FILE --compare A B.")
    return path


def _only_run(path: Path, id_: str | None) -> ChosenRuns:
    chosen = chosen_runs(path, [id_])
    if id_ is None and len(chosen.ids) > 1:
        raise UsageError(
            f"{path_text(path)} holds {len(chosen.ids):,} runs",
            f"Choose two of them, such as misstep view {shlex.quote(path_text(path))} --compare "
            f"{shlex.join(chosen.ids[:2])}; or give --id ID for one of that id in each.",
        )
    return chosen


def _compared(run: Trajectory, path: Path, categories: Sequence[str], classify: ClassifyAs) -> ComparedRun:
    return ComparedRun(
        run, tuple(classify(run, categories)), shlex.join(["misstep", "view", path_text(path), "--id", run.id])
    )
