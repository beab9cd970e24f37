"""Runs of a file or folder: by their ids, the first one, or whether there are several."""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from msgspec import Struct

from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import plain
from misstep_harness.journal.classified import Names
from misstep_harness.places import path_text
from misstep_harness.progress import Progress, say
from misstep_harness.readers.input.streams import holds_a_table
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Trajectory, Unreadable

_IDS_NAMED = 10
_RENAMED = re.compile(r"~\d+\Z")


class ChosenRuns(Struct, frozen=True):
    """Runs of a file or folder, the ids of all runs there, and the unreadable ones."""

    runs: tuple[Trajectory, ...]
    ids: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]


def is_of_many(path: Path) -> bool:
    """Return whether a path is one that holds many runs by its nature: a folder, a database or a table of Parquet."""
    return path.is_dir() or holds_a_table(path)


def holds_several(path: Path) -> bool:
    """Whether a file or folder holds more than one run that can be read; it is read no further than the second."""
    runs = (one for one in trajectories([path]) if isinstance(one, Trajectory))
    return len(list(islice(runs, 2))) > 1


def chosen_runs(path: Path, wanted: Sequence[str | None]) -> ChosenRuns:
    """Return the run of each id, as a run of `classify` names them; for `None` the first run.

    The second of an id is `id~2`, also if the first is in another file: then this file has only `id`.
    """
    named: dict[str | None, Trajectory] = {}
    alike: dict[str, Trajectory] = {}
    names = Names()
    ids: list[str] = []
    unreadable: list[Unreadable] = []
    originals = {_RENAMED.sub("", id_) for id_ in wanted if id_ is not None}
    with Progress("trajectories") as progress:
        for one in trajectories([path]):
            if isinstance(one, Trajectory):
                progress.advance()
                ids.append(names.give(one.id))
                if ids[-1] in wanted:
                    named[ids[-1]] = one
                elif one.id in originals:
                    alike.setdefault(one.id, one)
                if None in wanted:
                    named.setdefault(None, one)
            elif isinstance(one, Unreadable):
                unreadable.append(one)
    say_unreadable(unreadable)
    return ChosenRuns(
        tuple(named.get(id_) or _instead(path, id_, alike, ids, unreadable) for id_ in wanted),
        tuple(ids),
        tuple(unreadable),
    )


def _instead(
    path: Path, id_: str | None, alike: Mapping[str, Trajectory], ids: Sequence[str], unreadable: Sequence[Unreadable]
) -> Trajectory:
    """Return the run that `id~2` is of in a file that has only `id`."""
    run = alike.get(_RENAMED.sub("", id_ or ""))
    if run is None:
        raise _not_found(path, id_, ids, unreadable)
    say(f"misstep: {plain(id_ or '')} is not here; this is {plain(run.id)}.")
    return run


def say_unreadable(unreadable: Sequence[Unreadable], more: str = "") -> None:
    """Name the first unreadable ones on stderr; a clause says of the others what they are."""
    for one in unreadable[:_IDS_NAMED]:
        say(f"misstep: {plain(one.file)}{'' if one.line is None else f':{one.line}'}: {plain(one.error)}")
    if more and len(unreadable) > _IDS_NAMED:
        say(f"misstep: and {len(unreadable) - _IDS_NAMED:,} {more}.")


def _not_found(
    path: Path, id_: str | None, ids: Sequence[str], unreadable: Sequence[Unreadable]
) -> InputError | UsageError:
    if id_ is None or not ids:
        problem = "no trajectory can be read" if unreadable else "the file has no trajectory"
        return InputError(problem, "See `misstep convert --help` for the formats.", file=path)
    more = f" and {len(ids) - _IDS_NAMED:,} more" if len(ids) > _IDS_NAMED else ""
    message = f"{path_text(path)} has no trajectory {id_!r}"
    return UsageError(message, f"There are: {', '.join(ids[:_IDS_NAMED])}{more}.")
