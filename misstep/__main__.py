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

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Sessions": {
        "classify": ("misstep.classify", "Find misbehaviour in recorded agent runs with rules."),
        "view": ("misstep.view", "Show one agent run as an HTML page, its misbehaviour marked."),
        "watch": ("misstep.watch", "Classify sessions as they come in, and print each finding."),
        "sessions": ("misstep.sessions", "List packed agent runs that meet a condition."),
        "convert": ("misstep.convert", "Convert agent runs of any known format to ATIF."),
        "pack": ("misstep.pack", "Pack agent runs into a folder of Parquet files."),
        "generate": ("misstep.generate", "Generate agent runs with known faults."),
    },
    "Judges": {
        "judge": ("misstep.judge", "Run judges over a benchmark, score them, compare them."),
        "benchmark": ("misstep.benchmark", "Make a benchmark for judges from sessions and people's labels."),
        "group": ("misstep.group", "Group the reasons or errors of a run by their words."),
    },
    "Annotators": {
        "agreement": ("misstep.agreement", "Measure how far annotators agree."),
        "label": ("misstep.label", "Label a sample of a judge's items on a page or in a tool."),
        "annotate": ("misstep.annotate", "Label cases with several raters, and measure their agreement."),
    },
    "Systems": {
        "triage": ("misstep.triage", "Attribute failed runs to task, agent or infrastructure."),
        "repair": ("misstep.repair", "Repair programs whose tests fail in a sandbox, and measure it."),
        "observe": ("misstep.observe", "Replay runs through an observer: when it would speak, and how."),
        "experiment": ("misstep.experiment", "Run agents with and without guidance, and compare them."),
        "reflect": ("misstep.reflect", "Run the reflexive loop on work items, and see what it does."),
    },
    "Papers": {
        "reproduce": ("misstep.reproduce", "Run the notebooks and write their pages and tables."),
        "audit": ("misstep.audit", "Recompute printed figures and name those that cannot be right."),
        "datasets": ("misstep.datasets", "List, download, verify and load the public data sets."),
    },
    "Runs": {
        "report": ("misstep.report", "Write one HTML page for one or several runs, with every item."),
        "pass": ("misstep.passing", "Measure pass@k, pass^k and flicker of repeated attempts."),
        "merge": ("misstep.merge", "Join the shards of a run that several machines made."),
        "count": ("misstep.count", "Count records on many machines, and add up the counts."),
        "notebook": ("misstep.notebook", "Write a short starter notebook for a run."),
        "export": ("misstep.export", "Write a run as Parquet, CSV, a data set or a scan of Scout."),
    },
    "This machine": {
        "doctor": ("misstep.doctor", "Report what this machine can do and what is missing."),
        "plugins": ("misstep.plugins", "List what other installed packages add."),
        "help": ("misstep.help", "Show the form of a file: its keys and their values."),
    },
}
"""Group of the help → command → its module, which has `app`, and its line: modules are imported when used."""

FIRST = ("classify", "view", "judge", "agreement", "triage", "repair", "observe", "report", "reproduce", "doctor")
"""The commands that most people need first."""

LINES = {name: entry for commands in COMMANDS.values() for name, entry in commands.items()}
"""Command → its module and its line."""


class Commands(TyperGroup):
    """The commands by name; only the one that is run is imported, so that help and errors are quick."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (the framework's signature)
        """Return the commands in the order of the help."""
        return list(LINES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """What the overview says of a command: its name and its line, without importing it."""
        return TyperCommand(cmd_name, help=LINES[cmd_name][1]) if cmd_name in LINES else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands by group, after those that most people need first."""
        with formatter.section("Most people begin with"):
            formatter.write_text(", ".join(FIRST))
        width = max(map(len, LINES))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is to run, imported."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = typer.main.get_command(import_module(LINES[str(name)][0]).app)
            command.name = name
        return name, command, rest


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
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
