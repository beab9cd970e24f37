"""`misstep judge`: run judges over a benchmark, score them and compare them."""

import typer

from misstep.judge.ask import ask
from misstep.judge.calibrate import calibrate
from misstep.judge.check import check
from misstep.judge.compare import compare
from misstep.judge.drift import drift
from misstep.judge.import_verdicts import import_verdicts
from misstep.judge.probe import probe
from misstep.judge.run import run
from misstep.options.common import Data, Json, command_app, json_text, say_remarks
from misstep_harness.progress import say

app = command_app(has_commands=True)


@app.callback()
def judge() -> None:
    """Run judges over the items of a benchmark, score them against gold labels and compare them."""


@app.command("list")
def list_judges(data: Data = None, json: Json = False) -> None:
    """List all judges: with a prompt, rules, recorded ones.

    The exit code is 1 if a judge of another package cannot be used; stderr names it.
    """
    from misstep.judge.list import listed, listed_text
    from misstep_harness.catalogue import how_to_get

    judges = listed(data)
    print(json_text(judges.known) if json else listed_text(judges.known))
    if judges.absent:
        say(f"misstep: recorded judges of {', '.join(judges.absent)} are not available. {how_to_get(judges.absent)}")
    say_remarks(judges.broken)
    if judges.broken:
        raise typer.Exit(1)


for command in (run, check, ask, compare):
    app.command()(command)
app.command("import")(import_verdicts)
for study in (calibrate, probe, drift):
    app.command()(study)
