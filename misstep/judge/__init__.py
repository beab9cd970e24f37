"""`misstep judge`: run judges over a benchmark, score them and compare them."""

from collections.abc import Mapping
from typing import ClassVar

from misstep.options.common import command_app
from misstep.options.groups import LazyCommands


class JudgeCommands(LazyCommands):
    """The commands for judges, in the order of the help."""

    paths: ClassVar[Mapping[str, str]] = {
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


app = command_app(has_commands=True, cls=JudgeCommands)


@app.callback()
def judge() -> None:
    """Run judges over the items of a benchmark, score them against gold labels and compare them."""
