"""`misstep repair run`: run a repair agent on every case of a benchmark, in a sandbox."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from misstep.harness.errors import UsageError
from misstep.harness.escaping import plain
from misstep.harness.progress import say
from misstep.options import model as model_options
from misstep.options import rate as rate_options
from misstep.options import run_folders
from misstep.options.cluster import DaskOption, ShardsOption, asks_cluster
from misstep.options.cluster_lines import do_line
from misstep.options.common import Json
from misstep.options.item_shards import number_of_shards, say_shard
from misstep.options.shard import ShardOption, refuse_beside_shard
from misstep.repair.asking import AskedAgent, JudgeModel, PatchJudge, opened, refuse_ignored
from misstep.repair.cases import (
    Outcomes,
    RepositoryOptions,
    TestCommand,
    TestSeconds,
    Uncommitted,
    named_cases,
)
from misstep.repair.ending import print_scores


def run(
    context: typer.Context,
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="Folder of repair cases, one case, or a git repository.")
    ],
    out: run_folders.Out,
    policy: Annotated[
        str,
        typer.Option(
            help="Policy that chooses commands: search (no model), model, replay, wayward, or package.module:name."
        ),
    ] = "search",
    setting: Annotated[
        str, typer.Option(help="Feedback to the agent: react, react+static, react+tests or react+static+tests.")
    ] = "react+static+tests",
    edit_format: Annotated[
        str,
        typer.Option("--format", help="Edit format: search_replace, unified_diff, line_diff or patch_envelope."),
    ] = "search_replace",
    instructions: Annotated[
        Literal["high-level", "detailed"] | None,
        typer.Option(help="Instructions that the agent gets instead of the failure."),
    ] = None,
    attempts: Annotated[int, typer.Option(min=1, metavar="K", help="Number of attempts per case.")] = 1,
    iterations: Annotated[int, typer.Option(min=1, metavar="N", help="Limit of commands per attempt.")] = 40,
    seconds: Annotated[float, typer.Option(min=1, metavar="S", help="Time limit per attempt, in seconds.")] = 900.0,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Number of attempts at once.")] = 2,
    sample: Annotated[int | None, typer.Option(min=1, metavar="N", help="Repair a random sample of N cases.")] = None,
    seed: Annotated[int, typer.Option(help="Random seed for the sample and for policies that choose.")] = 0,
    shard: ShardOption = None,
    dask: DaskOption = None,
    shards: ShardsOption = None,
    test_command: TestCommand = "",
    test_seconds: TestSeconds = None,
    uncommitted: Uncommitted = False,
    outcomes: Outcomes = None,
    replay_run: Annotated[Path | None, typer.Option(metavar="RUN", help="Repair run for the policy `replay`.")] = None,
    patch_judge: PatchJudge = "",
    judge_model: JudgeModel = "",
    model: model_options.Model = "",
    base_url: model_options.BaseUrl = "",
    temperature: Annotated[float | None, typer.Option(min=0, help="Temperature of the model.")] = None,
    functions: Annotated[
        bool, typer.Option("--functions", help="Offer the commands to the model as functions, not as text.")
    ] = False,
    rpm: rate_options.Rpm = None,
    tpm: rate_options.Tpm = None,
    max_cost: model_options.MaxCost = None,
    prices: model_options.Prices = None,
    price_in: model_options.PriceIn = None,
    price_out: model_options.PriceOut = None,
    cache: model_options.CacheFile = None,
    record: model_options.Record = None,
    replay: model_options.Replay = None,
    local: model_options.Local = False,
    sandbox: Annotated[str, typer.Option(help="Sandbox: auto, bubblewrap or sandlock.")] = "auto",
    unsafe_no_sandbox: Annotated[
        bool,
        typer.Option("--unsafe-no-sandbox", help="Run the code under repair without a sandbox, with limits alone."),
    ] = False,
    json: Json = False,
) -> None:
    """Repair programs whose tests fail.

    Each case has a sandbox of its own; its patch is checked and kept.

    CASES is a folder of repair cases (see `misstep help repair-case`), or a git repository with --test-command, whose
    failing test becomes a case. Without a model the policy `search` tries small changes where the failure leads. With
    --patch-judge a judge says of each patch whether an engineer would land it; with test execution the agent is told.
    The same command continues a run that was stopped; no attempt is made twice. With --shard several machines repair,
    each its own cases; `misstep merge RUN` joins what they did. With --dask a Dask cluster does all shards.
    """
    import sys

    from misstep.harness.agent.loop import AgentLimits
    from misstep.harness.repair.case import sampled_cases
    from misstep.harness.repair.settings import setting_named
    from misstep.harness.runs.repair import RepairPlan, run_repairs
    from misstep.harness.workspace import find_sandbox

    refuse_ignored(context, policy, patch_judge, unsafe=unsafe_no_sandbox)
    if (shard is not None or dask is not None) and test_command:
        option = f"--shard {shard}" if dask is None else "--dask"
        raise UsageError(f"{option} with a git repository", f"Make repair cases of it first, or leave {option} out.")
    if shard is not None:
        refuse_beside_shard({"--dask": dask})
    if asks_cluster(dask, shards, {}):
        do_line(dask, shards, out, json=json)
        return
    limits = AgentLimits(iterations, seconds)
    asked = (model, base_url, max_cost, prices, cache, record, replay, local, price_in, price_out)
    asking = model_options.ModelOptions(*asked, shards=number_of_shards(shard), rpm=rpm, tpm=tpm)
    found = find_sandbox("unsandboxed" if unsafe_no_sandbox else sandbox)
    if unsafe_no_sandbox:
        say("misstep: the code under repair runs without a sandbox, as --unsafe-no-sandbox asks.")
    of_repository = RepositoryOptions(test_command, outcomes, test_seconds, uncommitted)
    named = named_cases(cases, of_repository, out, found)
    chosen = sampled_cases(list(named.cases), sample, seed)
    agent = AskedAgent(policy, edit_format, temperature, functions, replay_run, seed)
    with opened(agent, asking, patch_judge, judge_model) as (given, judge, client):
        plan = RepairPlan(
            policy, setting_named(setting), edit_format, given, instructions or "", attempts, limits, judge
        )
        with run_folders.kept_when_stopped(out):
            ended = run_repairs(chosen, out, plan, client, found, workers=workers, shard=shard, arguments=sys.argv[1:])
    if shard is None:
        print_scores(out, named, json=json, plumbing=bool(local and patch_judge))
    elif ended.done == ended.wanted:
        say_shard(shard, out, ended.done, "attempt", json=json)
    if ended.done < ended.wanted:
        why = f": {plain(ended.stopped)}" if ended.stopped else ""
        say(f"misstep: stopped{why}. {ended.done:,} of {ended.wanted:,} attempts were made.")
        raise typer.Exit(1)
    if named.lacks_environment:
        raise typer.Exit(1)
