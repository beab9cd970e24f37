"""`misstep judge`: ask a judge about every item of a benchmark, and score what it says."""

from typing import Annotated

import typer

from harness.progress import say
from misstep.data_option import Data
from misstep.judge.cache import app as cache_app
from misstep.judge.calibrate import calibrate
from misstep.judge.compare import compare
from misstep.judge.inject import inject
from misstep.judge.run import run
from misstep.judge.stability import stability

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def judge() -> None:
    """Ask a judge about every item of a benchmark, and score what it says."""


@app.command("list")
def list_judges(
    data: Data = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the judges that come with Misstep, and those whose verdicts public data sets ship."""
    import msgspec

    from harness.datasets.catalogue import how_to_get
    from misstep.judge.list import listed, listed_text

    judges, absent = listed(data)
    print(msgspec.json.format(msgspec.json.encode(judges), indent=2).decode() if json else listed_text(judges))
    if absent:
        say(f"misstep: recorded judges of {', '.join(absent)} are not at hand. {how_to_get(absent)}")


app.command()(run)
app.command()(compare)
app.command()(calibrate)
app.command()(inject)
app.command()(stability)
app.add_typer(cache_app, name="cache")
