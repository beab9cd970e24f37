"""`misstep repair`: build repair benchmarks, run the repair agent on them, report and review."""

from misstep.options.common import command_app

app = command_app(
    commands={
        "build": "misstep.repair.build:build",
        "instructions": "misstep.repair.instructions:instructions",
        "run": "misstep.repair.run:run",
        "report": "misstep.repair.report:report",
        "tasks": "misstep.repair.tasks:tasks",
        "review": "misstep.repair.review:app",
    }
)


@app.callback()
def repair() -> None:
    """Repair programs whose tests fail: run the agent on repair cases in a sandbox, and measure what it solves."""
