"""`misstep judge`: run judges over a benchmark, score them and compare them."""

from misstep.options.common import command_app

app = command_app(
    commands={
        "list": "misstep.judge.list:list_judges",
        "run": "misstep.judge.run:run",
        "check": "misstep.judge.check:check",
        "ask": "misstep.judge.ask:ask",
        "compare": "misstep.judge.compare:compare",
        "import": "misstep.judge.import_verdicts:import_verdicts",
        "calibrate": "misstep.judge.calibrate:calibrate",
        "probe": "misstep.judge.probe:probe",
        "drift": "misstep.judge.drift:drift",
    }
)


@app.callback()
def judge() -> None:
    """Run judges over the items of a benchmark, score them against gold labels and compare them."""
