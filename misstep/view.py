"""`misstep view`: one agent run as an HTML page with its misbehaviour marked."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from harness.errors import InputError, UsageError
from harness.escaping import plain
from harness.intervention import INTERVENTION
from harness.journal.classified import Names
from harness.progress import Progress, say
from harness.runs.inputs import trajectories
from harness.trajectory import Trajectory, Unreadable
from harness.verdict import Verdict
from misstep.options import command_app
from misstep.pages import write_page

app = command_app()

_IDS_NAMED = 10
_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80
_RENAMED = re.compile(r"~\d+\Z")


@app.command()
def view(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File or folder with agent runs.")],
    out: Annotated[
        Path | None, typer.Option(metavar="F.html", help="The HTML page; by default <id>.html in the current folder.")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Id of the trajectory to show; by default the first.")] = None,
) -> None:
    """Write one agent run as an HTML page: first the misbehaviour that the rules find, then every step.

    A time line shows who spoke, the evidence, and where an observer would have told the agent. The page shortens long
    texts and marks the cuts. The command prints the page's path. It names other runs of the file or folder that cannot
    be read; the exit code is 1 then, or if a classifier failed.
    """
    chosen, ids, unreadable = _choose(path, id_)
    for one in unreadable[:_IDS_NAMED]:
        say(f"misstep: {plain(one.file)}{'' if one.line is None else f':{one.line}'}: {plain(one.error)}")
    if chosen is None:
        raise _not_found(path, id_, ids, unreadable)
    if len(ids) > 1 and id_ is None:
        say(f"misstep: {len(ids):,} trajectories; this is the first. For another, give --id {plain(ids[1])}")
    target = out or Path(f"{file_name(chosen.id)}.html")
    from harness.classifiers import categories, classify_all

    verdicts = classify_all(chosen, categories())
    write_page("--out", target, _page(chosen, verdicts, path))
    print(target)
    failed = [verdict for verdict in verdicts if verdict.status == "failed"]
    for verdict in failed:
        say(f"misstep: {plain(verdict.error or '')}")
    if unreadable or failed:
        raise typer.Exit(1)


def file_name(id_: str) -> str:
    """An id as the name of a file: letters, digits, `.`, `_` and `-`, at most 80 of them, no dot in front."""
    name = _NO_FILE_NAME.sub("-", id_).strip("-.")[:_LONGEST_NAME]
    return name or "trajectory"


def _choose(path: Path, id_: str | None) -> tuple[Trajectory | None, list[str], list[Unreadable]]:
    """The trajectory of that id, or the first; all ids, as a run of `classify` names them; and what could not be read.

    A run calls the second of an id `id~2`, also where the first is in another file: then this file has only `id`.
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
    if chosen is None and instead is not None:
        say(f"misstep: there is no {plain(id_ or '')} here; this is {plain(instead.id)}.")
    return chosen or instead, ids, unreadable


def _not_found(path: Path, id_: str | None, ids: list[str], unreadable: list[Unreadable]) -> InputError | UsageError:
    if id_ is None or not ids:
        found = "no trajectory can be read" if unreadable else "there is no trajectory"
        return InputError(found, "See `misstep convert --help` for the formats.", file=path)
    more = f" and {len(ids) - _IDS_NAMED:,} more" if len(ids) > _IDS_NAMED else ""
    return UsageError(f"{path} has no trajectory {id_!r}", f"There are: {', '.join(ids[:_IDS_NAMED])}{more}.")


def _page(trajectory: Trajectory, verdicts: list[Verdict], path: Path) -> str:
    from analysis.pages import Foot
    from analysis.pages.trajectory import trajectory_page
    from harness.observer.replay import ReplayOptions, replay

    command = shlex.join(["misstep", "view", str(path), "--id", trajectory.id])
    guided = any(INTERVENTION in step.extra for step in trajectory.steps)
    observed = None if guided else replay(trajectory, ReplayOptions())
    foot = Foot(command, inputs=(f"{path}, read as {trajectory.source.format}",))
    return trajectory_page(trajectory, verdicts, foot, observed)
