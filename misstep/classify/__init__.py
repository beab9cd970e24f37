"""`misstep classify`: misbehaviour in trajectories of any known format, found by rule, and how frequent it is."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from msgspec.structs import replace

from misstep.classify.findings import classified_findings
from misstep.classify.options import Categories, JudgesOptions, RulesOptions, settle
from misstep.options.common import (
    Html,
    Json,
    command_app,
    path_or_address,
    refuse_given,
    write_page,
)
from misstep.options.gate import ABOVE, GateOptions
from misstep.options.model import MODEL_OPTIONS, PRICES, ModelOptions, agents_prices
from misstep.options.run_folders import Since, Until, run_folder, stopped_with
from misstep.options.spread import SpreadOptions
from misstep_analysis.sessions.findings import as_json, complaints, findings_text, new_text, shares, with_new
from misstep_harness.classifiers import chosen_categories, classify_all
from misstep_harness.journal.records import REPORT
from misstep_harness.places import path_text
from misstep_harness.progress import say
from misstep_harness.runs.classify import ClassifyPlan
from misstep_harness.runs.inputs import Changed

app = command_app()

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN",
        parser=run_folder,
        help="Folder that keeps verdicts, scores and a page; of a run there only new files are read.",
    ),
]


@app.command()
def classify(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders with agent runs.")],
    categories: Categories = "",
    out: Out = None,
    since: Since = None,
    until: Until = None,
    json: Json = False,
    html: Html = None,
    *,
    judges: JudgesOptions,
    standing: RulesOptions,
    asking: ModelOptions,
    spread: SpreadOptions,
    limits: Annotated[GateOptions, ABOVE],
) -> None:
    """Find misbehaviour in agent runs of any known format, and count how frequent it is.

    Rules look first. With --model M a model is asked what they leave open, by the shipped judge of each category: above
    all whether the agent changed what nobody asked for, or went against an instruction. The answers are kept in
    RUN/judges. People label some of them with `misstep annotate RUN/judges/CATEGORY`; once `misstep judge check` has
    taken their labels, the same line corrects the shares.

    A judge reads the CLAUDE.md and AGENTS.md of the folder that a session worked in, if that is on this machine.

    What findings cost is counted from onset to end, in money where the price of the model is known (--prices).

    With --out, the same command continues a run that was stopped or killed, and brings a finished one up to date: it
    reads new and changed files alone, or all of them if a rule changed, and says how many sessions are new.

    The exit code is 1 if a session was unreadable (stderr names its file and line, and
    the others are counted) or if a classifier failed (stderr names it).

    By default one process reads up to 64 MiB, and above one for each processor, at most 4. With --dask the workers of a
    cluster read, which have to see the same paths; RUN is written here.
    """
    chosen = chosen_categories(categories)
    plan = ClassifyPlan(chosen, classify_all, (), Changed(since, until), standing.read())
    named = [*(["--categories", categories] if categories else []), *standing.line]
    asks = bool(asking.asks or judges.judge or judges.gold)
    if not (asking.asks or judges.judge):
        refuse_given(context, (MODEL_OPTIONS - PRICES) | {"rules", "no_rules"}, "no model is asked without --model")
    gates = limits.gates((*chosen, "any"))
    places = list(map(path_or_address, paths))
    plan = replace(plan, spread=spread.over(places))
    own = (None, None) if asking.asks else (asking.price_in, asking.price_out)
    prices = agents_prices(asking.prices, *own)
    note = f"what was finished is kept in {out}, and the same line goes on from there" if out else ""
    with stopped_with(note or "nothing is kept without --out RUN"), TemporaryDirectory() as unkept:
        run = out or (Path(unkept) if html or asks or prices else None)
        named += ["--out", str(out)] if out else []
        plan = replace(plan, arguments=[*map(path_text, places), *named])
        findings = classified_findings(places, plan, run)
        new = findings.new
        category_judges = None
        if run is not None and (asks or html or prices):
            from misstep.classify.run_folder import at_prices
            from misstep_analysis.sessions.documents import classified_page
            from misstep_harness.journal.opened import open_of

            if asks:
                with judges.opened(asking, chosen) as category_judges:
                    findings = category_judges.judged(open_of(run, "classify"), places, plan, new)
            if prices is not None:
                findings = at_prices(open_of(run, "classify"), prices, new)
            if html is not None:
                write_page("--html", html, classified_page(open_of(run, "classify"), new))
    if new is not None:
        findings = with_new(findings, new.since, new.items)
    page = html or (out / REPORT if out else None)
    print(as_json(findings).decode() if json else findings_text(findings, page), end="" if json else "\n")
    if findings.new is not None:
        say(f"misstep: {new_text(findings.new, datetime.now().astimezone())}.")
    for sentence in complaints(findings):
        say(f"misstep: {sentence}")
    limits.settle(gates, shares(findings), "misstep classify")
    settle(category_judges)
    if findings.unreadable or findings.failed:
        raise typer.Exit(1)
