"""`misstep COMMAND`: the commands, and how an error becomes one line and an exit code."""

import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from harness.errors import CannotWrite, InputError, MisstepError, is_full
from harness.escaping import plain
from harness.progress import say
from misstep import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "reproduce": ("misstep.reproduce", "Run the notebooks and write their pages and tables."),
    "classify": ("misstep.classify", "Find misbehaviour in recorded agent runs with rules."),
    "merge": ("misstep.merge", "Join the shards of a run that several machines made."),
    "watch": ("misstep.watch", "Classify sessions as they come in, and print each finding."),
    "observe": ("misstep.observe", "Put agent runs before an observer that would steer them back."),
    "agreement": ("misstep.agreement", "Measure how far annotators agree."),
    "count": ("misstep.count", "Count records on many machines, and add up the counts."),
    "pass": ("misstep.passing", "Measure pass@k, pass^k and flicker of repeated attempts."),
    "audit": ("misstep.audit", "Recompute printed figures and name those that cannot be right."),
    "judge": ("misstep.judge", "Run judges over a benchmark, score them, compare them."),
    "triage": ("misstep.triage", "Say of runs whether task, agent or infrastructure is at fault."),
    "benchmark": ("misstep.benchmark", "Make a benchmark for judges from sessions and people's labels."),
    "label": ("misstep.label", "Label a sample of a judge's items on a page or in a tool."),
    "annotate": ("misstep.annotate", "Label cases with several raters, and measure their agreement."),
    "repair": ("misstep.repair", "Repair programs whose tests fail in a sandbox, and measure it."),
    "reflect": ("misstep.reflect", "Run the reflexive loop on work items, and see what it does."),
    "experiment": ("misstep.experiment", "Run agents with and without guidance, and compare them."),
    "report": ("misstep.report", "Write one HTML page for one or several runs, with every item."),
    "group": ("misstep.group", "Group the reasons or errors of a run by their words."),
    "notebook": ("misstep.notebook", "Write a short starter notebook for a run."),
    "export": ("misstep.export", "Write a run as Parquet, CSV, a data set or a scan of Scout."),
    "convert": ("misstep.convert", "Convert agent runs of any known format to ATIF."),
    "pack": ("misstep.pack", "Pack agent runs into a folder of Parquet files."),
    "sessions": ("misstep.sessions", "List packed agent runs that meet a condition."),
    "view": ("misstep.view", "Show one agent run as an HTML page, its misbehaviour marked."),
    "generate": ("misstep.generate", "Generate agent runs with known faults."),
    "plugins": ("misstep.plugins", "List what other installed packages add."),
    "doctor": ("misstep.doctor", "Report what this machine can do and what is missing."),
    "datasets": ("misstep.datasets", "List, download, verify and load the public data sets."),
    "help": ("misstep.help", "Show the form of a file: its keys and their values."),
}
"""Command → its module, which has `app`, and its line in the help: modules are imported when used."""


class Commands(TyperGroup):
    """The commands by name; only the one that is run is imported, so that help and errors are quick."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the framework's signature)
        """The commands in the order of a first visit."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """What the overview says of a command: its name and its line, without importing it."""
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1]) if cmd_name in COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to run, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = typer.main.get_command(import_module(COMMANDS[str(name)][0]).app)
            command.name = name
        return name, command, rest


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"misstep {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Evaluate coding agents, and the judges that grade them, from recorded runs."""


def main() -> None:
    """Run one command; an error is one line on stderr and an exit code (2 input, 3 missing; Ctrl-C gives 130)."""
    try:
        app()
        sys.stdout.flush()
    except SystemExit:
        _flush()
        raise
    except MisstepError as error:
        _flush()
        _end(error)
    except OSError as error:
        _end(_of_the_system(error))


def _flush() -> None:
    """Give out what is printed."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _end(_of_the_system(error))


def _of_the_system(error: OSError) -> MisstepError:
    """What the system said no to, as one line; an error that names no file is one of ours and stays as it is."""
    if error.filename is not None and is_full(error):
        return CannotWrite(error.filename, error.strerror or str(error))
    if error.filename is None:
        if not (is_full(error) or isinstance(error, BrokenPipeError)):
            raise error
        # What is printed has no place to go: it is dropped, or the interpreter fails on it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):  # whoever reads has read enough
            sys.exit(1)
        return CannotWrite("the output", error.strerror or str(error))
    return InputError(error.strerror or str(error), "Check its permissions.", file=error.filename)


def _end(error: MisstepError) -> NoReturn:
    say(f"misstep: {plain(error.line())}")
    sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
