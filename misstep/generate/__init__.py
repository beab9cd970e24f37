"""`misstep generate`: cases whose truth is known by construction, for instruments that should find it."""

from misstep.options.common import command_app

app = command_app(
    commands={
        "trajectories": "misstep.generate.trajectories:trajectories",
        "triage-cases": "misstep.generate.triage_cases:triage_cases",
    }
)


@app.callback()
def generate() -> None:
    """Generate agent runs with known faults."""
