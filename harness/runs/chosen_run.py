"""One run of a file or folder: the one of an id, or the first."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from harness.errors import InputError, UsageError
from harness.escaping import plain
from harness.journal.classified import Names
from harness.progress import Progress, say
from harness.runs.inputs import trajectories
from harness.trajectory import Trajectory, Unreadable

_IDS_NAMED = 10
_RENAMED = re.compile(r"~\d+\Z")


class ChosenRun(Struct, frozen=True):
    """A run of a file or folder, the ids of all runs there, and what could not be read."""

    run: Trajectory
    ids: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]


def chosen_run(path: Path, id_: str | None) -> ChosenRun:
    """The run of an id, as a run of `classify` names them, or the first where there is none given.

    A run of `classify` calls the second of an id `id~2`, also where the first is in another file: then this file has
    only `id`.

    Parameters
    ----------
    path
        The file or folder.
    id_
        The id.

    Raises
    ------
    InputError
        The path does not exist, or holds no run that can be read; stderr names those that cannot.
    UsageError
        There is no run of that id; names those that there are.
    """
    chosen: Trajectory | None = None
    instead: Trajectory | None = None
    names = Names()
    ids: list[str] = []
    unreadable: list[Unreadable] = []
    with Progress("trajectories") as progress:
        for one in trajectories([path]):
            if isinstance(one, Trajectory):
                progress.advance()
                ids.append(names.give(one.id))
                if chosen is None and id_ in (None, ids[-1]):
                    chosen = one
                elif instead is None and id_ is not None and one.id == _RENAMED.sub("", id_):
                    instead = one
            elif isinstance(one, Unreadable):
                unreadable.append(one)
    say_unreadable(unreadable)
    if chosen is None and instead is not None:
        say(f"misstep: there is no {plain(id_ or '')} here; this is {plain(instead.id)}.")
    run = chosen or instead
    if run is None:
        raise _not_found(path, id_, ids, unreadable)
    return ChosenRun(run, tuple(ids), tuple(unreadable))


def say_unreadable(unreadable: Sequence[Unreadable]) -> None:
    """Name on stderr the first of what could not be read."""
    for one in unreadable[:_IDS_NAMED]:
        say(f"misstep: {plain(one.file)}{'' if one.line is None else f':{one.line}'}: {plain(one.error)}")


def _not_found(path: Path, id_: str | None, ids: list[str], unreadable: list[Unreadable]) -> InputError | UsageError:
    if id_ is None or not ids:
        found = "no trajectory can be read" if unreadable else "there is no trajectory"
        return InputError(found, "See `misstep convert --help` for the formats.", file=path)
    more = f" and {len(ids) - _IDS_NAMED:,} more" if len(ids) > _IDS_NAMED else ""
    return UsageError(f"{path} has no trajectory {id_!r}", f"There are: {', '.join(ids[:_IDS_NAMED])}{more}.")
