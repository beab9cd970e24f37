"""What `misstep observe PATH` does: files into a run, and what was found on the screen."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from harness.errors import UsageError
from harness.escaping import plain
from harness.places import path_text
from harness.progress import say
from misstep.model_options import ModelOptions, client_settings

if TYPE_CHECKING:
    from harness.observer.replay import ReplayOptions
    from harness.runs.observe import Observe

_SHOWN = 10
_PROMPTED = "prompted"


def replay_files(
    paths: list[Path],
    options: "ReplayOptions",
    asking: ModelOptions,
    out: Path | None,
    workers: int | None,
    *,
    json: bool,
) -> None:
    """Replay files into a run folder, and print what was found.

    Raises
    ------
    UsageError
        The detector lacks a model, or `out` holds another run.
    """
    from analysis.pages.observed import observed_json, observed_text
    from harness.journal.records import REPORT
    from studies.observed_paths import observed_findings

    given = {"--every": options.every, "--delay": options.delay, "--mode": options.arm, "--detector": options.detector}
    given |= {"--model": asking.model} if asking.model else {}
    arguments = [*map(path_text, paths), *(part for name, value in given.items() for part in (name, str(value)))]
    arguments += ["--categories", ",".join(options.categories)] if options.categories else []
    try:
        with ExitStack() as stack:
            unkept = Path(stack.enter_context(TemporaryDirectory())) / "run"
            found = observed_findings(
                paths,
                _observe(options, asking, stack),
                options.settings() | ({"model": asking.model} if asking.model else {}),
                out or unkept,
                workers=1 if asking.model else workers,
                arguments=[*arguments, "--out", str(out)] if out else arguments,
                with_page=out is not None,
            )
    except KeyboardInterrupt:
        say(
            f"misstep: stopped; what was finished is kept in {plain(str(out))}, and the same line goes on from there."
            if out
            else "misstep: stopped; nothing is kept without --out RUN."
        )
        raise typer.Exit(130) from None
    page = out / REPORT if out else None
    print(observed_json(found).decode() if json else observed_text(found, page), end="" if json else "\n")
    for one in found.unreadable[:_SHOWN]:
        say(f"misstep: {plain(one.file if one.line is None else f'{one.file}:{one.line}')}: {plain(one.error)}")
    for error, count in list(found.failed.items())[:_SHOWN]:
        say(f"misstep: {count:,} questions failed: {plain(error)}")
    if found.unreadable or found.failed:
        raise typer.Exit(1)


def _observe(options: "ReplayOptions", asking: ModelOptions, stack: ExitStack) -> "Observe":
    """What puts a run before the observer, with a model where one is named."""
    from harness.observer.replay import replay

    if asking.model:
        from harness.runs.observe_model import ModelReplay

        return stack.enter_context(ModelReplay(options, client_settings(asking), asking.model))
    if options.detector == _PROMPTED:
        raise UsageError("the detector `prompted` needs a model", "Name one with --model.")
    return partial(replay, options=options)
