"""`misstep triage`: say of runs whose fault they are."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from msgspec.structs import replace

from misstep.options import run_folders
from misstep.options.common import Json, command_app, path_alone, refuse_given
from misstep.options.model import EACH_AT_ONCE, MODEL_OPTIONS, ModelOptions, with_local_model
from misstep.options.sandbox import SandboxOptions
from misstep.options.spread import SpreadOptions
from misstep.triage.cases import judge_cases
from misstep_harness.errors import UsageError

app = command_app()

_LOCAL_TOKENS, _LOCAL_REPLY, _LOCAL_CHARACTERS = 600, 256, 10_000
"""What the small local model has room for: tokens of a case and of a reply, characters of a conversation."""


@app.command()
def triage(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", parser=path_alone, help="Folders of cases, cases, or jobs of a public harness."
        ),
    ],
    access: Annotated[
        Literal["text", "read-only", "sandbox"],
        typer.Option(help="Access of the judge: texts, also files, or also running them in a sandbox."),
    ] = "text",
    judge: Annotated[
        Literal["rules", "phrases", "model"] | None,
        typer.Option(help="Judge: rules, the table of phrases that everybody uses, or a model.", show_default="rules"),
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, metavar="S", help="Time limit for one case.")] = 1800.0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            parser=run_folders.run_folder,
            help="Folder of the run; an unfinished run in it is continued.",
        ),
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Gold labels, if they are not in gold.csv above the cases.")
    ] = None,
    curate: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Folder for the runs by what is to be done with them, with a data card."),
    ] = None,
    iterations: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of a model's commands per case.")] = 40,
    case_tokens: Annotated[
        int | None,
        typer.Option(
            min=200, metavar="N", help="Tokens of a case that a model is shown at first.", show_default="24000"
        ),
    ] = None,
    without_solution: Annotated[
        bool, typer.Option("--without-solution", help="Text access without the tests and the gold solution.")
    ] = False,
    wheels: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="Wheels of what requirements.txt of cases names.",
            show_default="wheels/ in a case",
        ),
    ] = None,
    json: Json = False,
    *,
    asking: Annotated[ModelOptions, EACH_AT_ONCE],
    spread: SpreadOptions,
    box: SandboxOptions,
) -> None:
    """Attribute failed runs to the task, the agent or the infrastructure.

    Each verdict names its evidence. A case is a folder (`misstep help triage-case`), whose `case.toml` has
    `outcome = "failed"` or `"passed"`; jobs of Harbor, runs of Terminal-Bench, evaluations of SWE-bench and rollouts of
    NeMo Gym are read as they are. A run in which the agent took no step is undecided, or the infrastructure's.

    Without --model rules decide. With --out the run is kept: the same command continues it, and `judge compare`,
    `judge calibrate` and `report` take it. Gold labels are scored against, and no judge sees them. With --curate each
    run is kept, filtered, sent for a rerun or for a repair of its task: JSON Lines for training, and none is left out.

    Without a model as many processes judge as --workers says, by default one for each processor, or the workers of
    a cluster (--dask), which have to see the cases. A model is asked about as many cases at once, by default 16.
    """
    from misstep_harness.agent.protocols import ModelSettings
    from misstep_harness.triage.runs.benchmark import asked_cases
    from misstep_harness.triage.runs.judges import TOKENS_OF_CASE, judge_name, triage_judge
    from misstep_harness.workspace import find_sandbox

    asks_model = asking.asks
    if asks_model and judge not in (None, "model"):
        raise UsageError(f"--judge {judge} asks no model", "Leave out --judge, or the options of the model.")
    if not asks_model and judge != "model":
        refuse_given(context, MODEL_OPTIONS | {"iterations", "case_tokens"}, "no model is asked")
    if asks_model or judge == "model":
        refuse_given(context, {"dask"}, "a server bounds a judge, and one process asks it")
    if access == "text":
        refuse_given(context, {"iterations"}, "a judge of texts runs no commands")
    if access != "text":
        refuse_given(context, {"without_solution"}, f"with --access {access} the files can be read")
    if access != "sandbox":
        of_the_sandbox = {"sandbox", "unsafe_no_sandbox", "show", "wheels"}
        refuse_given(context, of_the_sandbox, f"with --access {access} nothing runs")
    elif box.unsafe_no_sandbox:
        refuse_given(context, {"sandbox"}, "--unsafe-no-sandbox uses none")
    with run_folders.kept_or_thrown_away(out) as run, with_local_model(asking) as known:
        cases = asked_cases(paths, run, gold)
        allowed = cases.at_most(access)
        if allowed == "sandbox":
            cases = cases.within(find_sandbox(box.place).showing(box.show or ()))
            allowed = cases.at_most(access)
        if allowed == "sandbox":
            box.warn("the cases run")
        small = {"max_tokens": _LOCAL_REPLY, "most_characters": _LOCAL_CHARACTERS} if asking.local else {}
        settings = replace(ModelSettings(known.model, 0.0, seed=0), **small)
        chosen = triage_judge(
            judge_name(judge or ("model" if asks_model else "rules"), allowed),
            model=settings,
            seconds=seconds,
            sandbox=box.place,
            iterations=iterations,
            budget=case_tokens or (_LOCAL_TOKENS if asking.local else TOKENS_OF_CASE),
        )
        places = {"cases": cases.cases, "roots": cases.roots, "wheels": wheels, "show": tuple(box.show or ())}
        judge_cases(
            replace(chosen, without_solution=without_solution, **places),
            cases,
            run,
            known,
            spread=spread.over(paths),
            curate=curate,
            kept=out is not None,
            json=json,
        )
