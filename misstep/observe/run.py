"""`misstep observe`: recorded runs, a growing session or a hook put before the observer."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.observe.files import follow_file, replay_files
from misstep.observe.install import change_settings, hook_options, model_options
from misstep.options.common import Json, command_app, path_or_address
from misstep.options.groups import Only
from misstep.options.hook import HookOptions
from misstep.options.model import ModelOptions
from misstep.options.spread import SpreadOptions
from misstep_harness.errors import UsageError
from misstep_harness.observer.hook import call

app = command_app()


@app.command()
def observe(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH...", parser=path_or_address, help="Files and folders with agent runs."),
    ] = None,
    every: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Steps of the agent between two questions: 5, or 1 for rules on a running agent."
        ),
    ] = None,
    delay: Annotated[
        int, typer.Option(min=0, metavar="N", help="Steps of the agent that the detector's answer takes.")
    ] = 0,
    mode: Annotated[
        Literal["shadow", "guide"],
        typer.Option(help="Only record what is seen, or word what the agent would have been told as well."),
    ] = "shadow",
    detector: Annotated[
        str, typer.Option(metavar="NAME", help="Detector: rules, prompted, or package.module:Class.")
    ] = "rules",
    categories: Annotated[str, typer.Option(metavar="A,B", help="Categories to keep; by default all.")] = "",
    guidance: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Your own words to the agent, a file a category; see `misstep help guidance`."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="RUN", help="Folder that keeps records and a page; a run there goes on.")
    ] = None,
    follow: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Session that grows; guidance is printed as it becomes due.")
    ] = None,
    json: Json = False,
    *,
    asking: Annotated[ModelOptions, Only("model", "base_url", "max_cost", "price_in", "price_out", "cache", "replay")],
    spread: SpreadOptions,
    hooked: HookOptions,
) -> None:
    """Replay agent runs through the observer: what it sees, at which step, and what it would tell the agent.

    Every few steps the detector is shown the run so far. The misbehaviour rate is the share of these questions whose
    answer names misbehaviour. The agent of a recorded run cannot hear guidance: its next steps are what they were. By
    default one process reads up to 64 MiB, and above one for each processor, at most 4.

    With --follow the session of a running agent is watched, until Ctrl-C. With --hook the command speaks the hook
    protocol of Claude Code and Codex: one process a session detects in the background, guidance goes to the agent as
    additional context of a later call, and the exit code is 0 whatever happens. --install puts the hook into the
    settings of the project (.claude/settings.json or .codex/hooks.json).
    """
    if hooked.hook:
        call.main(sys.argv[sys.argv.index("observe") + 1 :])
    from misstep_harness.classifiers import chosen_categories
    from misstep_harness.observer.detectors import check_model, detector_named, steps_between_questions
    from misstep_harness.observer.guidance import checked_guidance
    from misstep_harness.observer.replay import ReplayOptions
    from misstep_harness.observer.state import EVERY

    chosen = chosen_categories(categories) if categories else ()
    between = every or (EVERY if follow is None else steps_between_questions(detector))
    options = ReplayOptions(detector, chosen, between, delay, mode, checked_guidance(guidance))
    detector_named(detector)
    if hooked.install or hooked.uninstall:
        check_model(detector, asking.model)
        texts = checked_guidance(guidance)
        words = [*hook_options(every, detector, categories, texts, hooked), *model_options(asking)]
        return change_settings(hooked, words)
    if (follow is None) == (not paths):
        raise UsageError("name files to replay, or one with --follow", "Give PATH, or --follow FILE.")
    check_model(detector, asking.model)
    if follow is not None and (out or spread.workers or spread.dask):
        raise UsageError("--out, --workers and --dask are for recorded runs", "Leave them out beside --follow.")
    if follow is not None:
        return follow_file(follow, options, asking, json=json)
    replay_files(paths or [], options, asking, out, spread, json=json)
    return None
