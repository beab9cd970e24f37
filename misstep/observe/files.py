"""What `misstep observe` does: files into a run and what was found on the screen, or a growing file watched."""

import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer
from msgspec import structs
from msgspec.structs import asdict

from misstep.options.model import ModelOptions, client_settings
from misstep.options.run_folders import stopped_with
from misstep.options.spread import SpreadOptions
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain, printable
from misstep_harness.places import path_text
from misstep_harness.progress import say
from misstep_harness.runs.chosen_runs import say_unreadable
from misstep_harness.runs.spread import Spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from misstep_harness.observer.follow import Watch
    from misstep_harness.observer.replay import ReplayOptions
    from misstep_harness.observer.runs.observe import Observation
    from misstep_harness.trajectory import Trajectory

_SHOWN = 10
_LOOKS_APART = 1.0
"""Seconds between two looks at a growing file."""


def replay_files(
    paths: list[Path],
    options: "ReplayOptions",
    asking: ModelOptions,
    out: Path | None,
    spread: SpreadOptions,
    *,
    json: bool,
) -> None:
    """Replay files into a run folder, and print what was found."""
    from misstep.observe.findings import observed_findings
    from misstep_analysis.observer.page import observed_json, observed_text
    from misstep_analysis.tables.wording import counted_text
    from misstep_harness.journal.records import REPORT

    if asking.model and (spread.workers or spread.dask):
        message = f"{'--dask' if spread.dask else '--workers'} with a detector that asks a model"
        raise UsageError(message, "Leave it out: its server bounds it, and one process asks.")
    named = {"--every": options.every, "--delay": options.delay, "--mode": options.arm, "--detector": options.detector}
    named |= {"--guidance": options.guidance} if options.guidance else {}
    named |= {"--model": asking.model} if asking.model else {}
    arguments = [*map(path_text, paths), *(part for name, value in named.items() for part in (name, str(value)))]
    arguments += ["--categories", ",".join(options.categories)] if options.categories else []
    note = f"what was finished is kept in {out}, and the same line goes on from there" if out else ""
    arguments += ["--out", str(out)] if out else []
    with stopped_with(note or "nothing is kept without --out RUN"), TemporaryDirectory() as unkept:
        how = structs.replace(_observation(options, asking, spread.over(paths)), arguments=arguments)
        findings = observed_findings(paths, how, out or Path(unkept) / "run", with_page=out is not None)
    page = out / REPORT if out else None
    print(observed_json(findings).decode() if json else observed_text(findings, page), end="" if json else "\n")
    say_unreadable(findings.unreadable)
    for error, count in list(findings.failed.items())[:_SHOWN]:
        say(f"misstep: {counted_text(count, 'question')} failed: {plain(error)}")
    if findings.unreadable or findings.failed:
        raise typer.Exit(1)


def follow_file(file: Path, options: "ReplayOptions", asking: ModelOptions, *, json: bool) -> None:
    """Print what the observer has to say of a session while it grows."""
    from misstep_harness.journal.records import encode
    from misstep_harness.observer.follow import Failures, follow, watch_of

    if asking.model and options.delay:
        raise UsageError("--delay is made-up time, and the model takes its own", "Leave out --delay.")
    pause = threading.Event()
    failures = Failures(lambda error: say(f"misstep: a question to the detector has no answer: {plain(error)}"))
    say(f"misstep: watching {plain(str(file))}; Ctrl-C ends it.")
    try:
        with ExitStack() as stack:
            begin: Callable[[Trajectory], Watch] = partial(watch_of, options, failures)
            if asking.model:
                from misstep_harness.observer.runs.observe_model import ModelFollow

                begin = stack.enter_context(ModelFollow(options, client_settings(asking), asking.model, failures))
            for item, one in follow(file, begin, wait=lambda: pause.wait(_LOOKS_APART)):
                if json:
                    print(encode({"item": item, **asdict(one)}).decode(), flush=True)
                    continue
                text = printable(one.guidance) or "".join(misbehaviour.rationale for misbehaviour in one.misbehaviours)
                print(f"{plain(item)}, step {one.detected_at}: {plain(', '.join(one.categories))}\n{text}", flush=True)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _observation(options: "ReplayOptions", asking: ModelOptions, spread: Spread) -> "Observation":
    from misstep_harness.observer.replay import replay
    from misstep_harness.observer.runs.observe import Observation

    if not asking.model:
        return Observation(partial(replay, options=options), settings=options.settings(), spread=spread)
    from misstep_harness.observer.runs.observe_model import ModelReplay
    from misstep_harness.runs.run import Asking

    settings = options.settings() | {"model": asking.model}
    observe, asked = ModelReplay(options, asking.model), Asking(client_settings(asking), 1)
    return Observation(with_model=observe, settings=settings, asking=asked, spread=Spread(1))
