"""`misstep generate`: cases whose truth is known by construction, for instruments that should find it."""

from misstep.generate.trajectories import trajectories
from misstep.generate.triage_cases import triage_cases
from misstep.options.common import command_app

app = command_app(has_commands=True)


@app.callback()
def generate() -> None:
    """Generate agent runs with known faults."""


app.command()(trajectories)
app.command("triage-cases")(triage_cases)
