"""`misstep judge`: run judges over a benchmark, score them and compare them."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup

from misstep.options.common import command_app
from misstep.options.groups import CommandApp


class _Imported(dict[str, Any]):
    """Command → the command, imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        path = super().__getitem__(name)
        if isinstance(path, str):
            module, _, function = path.partition(":")
            app = CommandApp(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
            app.command(name)(getattr(import_module(module), function))
            self[name] = path = typer.main.get_command(app)
            path.name = name
        return path

    def get(self, name: str, default: Any = None) -> Any:
        return self.__getitem__(name) if name in self else default

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]


class JudgeCommands(TyperGroup):
    """The commands for judges, in the order of the help; one is imported when it is run, all when they are listed."""

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

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Imported(self.paths)


app = command_app(has_commands=True, cls=JudgeCommands)


@app.callback()
def judge() -> None:
    """Run judges over the items of a benchmark, score them against gold labels and compare them."""
