"""`misstep view`: agent runs as an HTML page with their misbehaviour marked."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.common import command_app, path_or_address, write_page
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain
from misstep_harness.intervention import INTERVENTION
from misstep_harness.places import path_text
from misstep_harness.progress import say
from misstep_harness.runs.chosen_runs import chosen_runs, holds_several, is_of_many, say_unreadable
from misstep_harness.trajectory import Trajectory
from misstep_harness.verdict import Verdict

app = command_app()


Out = Annotated[
    Path | None,
    typer.Option(metavar="F.html", help="The HTML page; by default named after the run or folder, in this folder."),
]
Id = Annotated[
    str | None, typer.Option("--id", help="Id of the one run to show; of a file with several, by default the first.")
]


@app.command()
def view(
    path: Annotated[
        Path | None, typer.Argument(metavar="FILE", parser=path_or_address, help="File or folder with agent runs.")
    ] = None,
    out: Out = None,
    id_: Id = None,
    shows_all: Annotated[
        bool, typer.Option("--all", help="Show all runs of a file as one page, as of a folder.")
    ] = False,
    observer: Annotated[
        bool, typer.Option("--observer", help="Show where in one run an observer would have told the agent.")
    ] = False,
) -> None:
    """Write agent runs as an HTML page: one run, or all runs of a folder to search and open.

    The page of one run begins with the misbehaviour that the rules find. A time line shows who spoke and the evidence.
    A folder, database or Parquet file with several runs becomes one page, in which a run opens at its evidence. Pages
    shorten long texts and mark the cuts. The command prints the page's path. It names runs that cannot be read; the
    exit code is 1 then, or if a classifier failed.
    """
    if path is None:
        raise UsageError("no file is named", "Name a file or folder with agent runs: misstep view FILE.")
    if id_ is None and (shows_all or is_of_many(path)) and holds_several(path):
        _view_all(path, out, ["--all"] if shows_all else [])
    else:
        _view_one(path, out, id_, observer)


def _view_all(path: Path, out: Path | None, options: Sequence[str]) -> None:
    from misstep.view.several import viewed_runs
    from misstep_harness.classifiers import categories, classify_all

    viewed = viewed_runs(path, categories(), classify_all, shlex.join(["misstep", "view", path_text(path), *options]))
    _write(out or Path(f"{file_name(Path(path_text(path.resolve())).name)}.html"), viewed.page)
    say_unreadable(viewed.unreadable)
    _end([one.error for one in viewed.failed], bool(viewed.unreadable))


def _view_one(path: Path, out: Path | None, id_: str | None, with_observer: bool) -> None:
    from misstep_harness.classifiers import categories, classify_all

    chosen = chosen_runs(path, [id_])
    (run,) = chosen.runs
    if len(chosen.ids) > 1 and id_ is None:
        another = f"For another, give --id {plain(chosen.ids[1])}; for all in one page, --all."
        say(f"misstep: {len(chosen.ids):,} trajectories; this is the first. {another}")
    verdicts = classify_all(run, categories())
    _write(out or Path(f"{file_name(run.id)}.html"), _page(run, verdicts, path, with_observer))
    _end(_errors(verdicts), bool(chosen.unreadable))


def _errors(verdicts: Sequence[Verdict]) -> list[str]:
    return [one.error or "" for one in verdicts if one.status == "failed"]


def _write(target: Path, page: str) -> None:
    write_page("--out", target, page)
    print(target)


def _end(errors: Sequence[str], is_incomplete: bool) -> None:
    """Name the classifiers that failed; the exit code is 1 if anything is missing."""
    for error in errors:
        say(f"misstep: {plain(error)}")
    if errors or is_incomplete:
        raise typer.Exit(1)


def file_name(id_: str) -> str:
    """Return an id as the name of a file: letters, digits, `.`, `_` and `-`, at most 80 of them, no dot in front."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", id_).strip("-.")[:80] or "trajectory"


def _page(trajectory: Trajectory, verdicts: list[Verdict], path: Path, with_observer: bool) -> str:
    from misstep_analysis.pages import Foot
    from misstep_analysis.pages.trajectory import trajectory_page

    options, observed = [], None
    if with_observer:
        from misstep_harness.observer.replay import ReplayOptions, replay

        guided = any(INTERVENTION in step.extra for step in trajectory.steps)
        options, observed = ["--observer"], None if guided else replay(trajectory, ReplayOptions())
    command = shlex.join(["misstep", "view", path_text(path), "--id", trajectory.id, *options])
    foot = Foot(command, inputs=(f"{path_text(path)}, read as {trajectory.source.format}",))
    return trajectory_page(trajectory, verdicts, foot, observed)
