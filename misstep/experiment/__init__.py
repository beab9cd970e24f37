"""`misstep experiment`: live sessions with and without an observer, and what they show."""

from misstep.options.common import command_app

app = command_app(
    commands={
        "run": "misstep.experiment.run:run",
        "report": "misstep.experiment.report:report",
        "codes": "misstep.experiment.codes:codes",
    }
)


@app.callback()
def experiment() -> None:
    """Run agents with and without guidance in a sandbox, and measure what guidance changes."""
