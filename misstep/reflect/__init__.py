"""`misstep reflect`: run the reflexive loop, leave mechanisms out, report what each of them did."""

from misstep.options.common import command_app

app = command_app(
    commands={
        "run": "misstep.reflect.run:run",
        "report": "misstep.reflect.report:report",
    }
)


@app.callback()
def reflect() -> None:
    """Work on items with a planner, a worker, a check and a reflector, and see what each mechanism of the loop does."""
