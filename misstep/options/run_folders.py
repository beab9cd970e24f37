"""The folder of a run that goes on after a stop: its option, and what a stopped command says."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from misstep.options.common import moment
from misstep_harness.errors import UsageError, closed
from misstep_harness.escaping import plain
from misstep_harness.path_names import is_address
from misstep_harness.progress import say

if TYPE_CHECKING:
    from misstep_harness.runs.kind import RunEnd


def run_folder(text: str) -> Path:
    """Return the folder of a run that is kept as it goes on, and so lies in a file system."""
    if is_address(text):
        message = f"--out {text}: such a run needs a file system"
        raise UsageError(message, "Name a folder of this machine.")
    return Path(text)


Out = Annotated[
    Path,
    typer.Option(metavar="PATH", parser=run_folder, help="Folder of the run; an unfinished run in it is continued."),
]


@contextmanager
def stopped_with(note: str) -> Iterator[None]:
    """End the command on Ctrl-C with exit code 130 and a clause on what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"misstep: stopped; {plain(note)}.")
        raise typer.Exit(130) from None


def kept_when_stopped(out: Path) -> AbstractContextManager[None]:
    """End the command on Ctrl-C with exit code 130 and a message that names the run's folder."""
    return stopped_with(f"what was answered is in {out}, and the same command goes on with it")


@contextmanager
def kept_or_thrown_away(out: Path | None) -> Iterator[Path]:
    """Give the folder of a run: the one that is named, else one that is thrown away; Ctrl-C as `kept_when_stopped`."""
    if out is not None:
        with kept_when_stopped(out):
            yield out
        return
    import tempfile

    with stopped_with("nothing is kept without --out"), tempfile.TemporaryDirectory(prefix="misstep-") as place:
        yield Path(place) / "run"


MOST_K = 1_000


def _reward(reward: float | None) -> float | None:
    if reward is not None and not 0 < reward <= 1:
        raise UsageError(f"--threshold {reward:g}", "Give a reward above 0, up to 1.")
    return reward


K = Annotated[str, typer.Option("--k", metavar="K,K", help="Numbers of attempts that one may make.", show_default=True)]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD",
        help="Smallest reward that counts as a pass (0 to 1), for files with rewards.",
        callback=_reward,
    ),
]


def numbers_of_attempts(text: str) -> list[int]:
    """Return the numbers that `--k` lists, each once, from the least."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 and 1 <= int(part) <= MOST_K for part in parts):
        raise UsageError(f"--k {text}", f"Give whole numbers from 1 to {MOST_K:,}, separated by commas.")
    return sorted({int(part) for part in parts})


Since = Annotated[
    datetime | None,
    typer.Option(
        metavar="WHEN", parser=moment, help="Leave out files that were last changed before: a date or time, or 7d, 12h."
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(metavar="WHEN", parser=moment, help="Leave out files that were last changed then or later."),
]


def exit_unless_whole(ended: "RunEnd") -> None:
    """Say which items were not asked about or failed, and end with exit code 1 unless the run is finished."""
    if not (ended.stopped or ended.failed):
        return
    from misstep_analysis.tables.wording import counted_text

    items = counted_text(ended.wanted, "item")
    if ended.stopped:
        were = "was" if ended.done == 1 else "were"
        say(f"misstep: stopped: {closed(plain(ended.stopped))} {ended.done:,} of {items} {were} asked.")
    if ended.failed:
        why = f" The last failure: {closed(plain(ended.last_failure))}" if ended.last_failure else ""
        left = "they have no label" if ended.finished else "the same command asks again"
        say(f"misstep: {ended.failed:,} of {items} failed; {left}.{why}")
    if ended.stopped or not ended.finished:
        raise typer.Exit(1)
