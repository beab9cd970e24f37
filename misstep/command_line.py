"""The commands of `misstep`, imported when one is run."""

import shlex
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from misstep import __version__

COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Sessions": {
        "classify": ("misstep.classify", "Find misbehaviour in recorded agent runs with rules."),
        "view": ("misstep.view", "Show one agent run as an HTML page, its misbehaviour marked."),
        "advise": ("misstep.advise", "Propose lines for CLAUDE.md from findings, as a diff."),
        "watch": ("misstep.watch", "Classify sessions as they come in, and print each finding."),
        "convert": ("misstep.convert", "Convert agent runs of any known format to ATIF."),
        "generate": ("misstep.generate", "Generate agent runs with known faults."),
    },
    "Judges": {
        "judge": ("misstep.judge", "Run judges over a benchmark, score them, compare them."),
        "benchmark": ("misstep.benchmark", "Make a benchmark for judges from sessions or pairs."),
    },
    "Annotators": {
        "agreement": ("misstep.agreement", "Measure how far annotators agree."),
        "annotate": ("misstep.annotate", "Label cases on pages, and measure the raters' agreement."),
    },
    "Systems": {
        "triage": ("misstep.triage.run", "Attribute failed runs to task, agent or infrastructure."),
        "repair": ("misstep.repair", "Repair programs whose tests fail in a sandbox, and measure it."),
        "observe": ("misstep.observe.run", "Replay runs through an observer: when it would speak, and how."),
        "experiment": ("misstep.experiment", "Run agents with and without guidance, and compare them."),
        "reflect": ("misstep.reflect", "Run the reflexive loop on work items, and see what it does."),
    },
    "Papers": {
        "reproduce": ("misstep.reproduce", "Run the notebooks and write their pages and tables."),
        "audit": ("misstep.audit", "Recompute printed figures and name those that cannot be right."),
        "datasets": ("misstep.datasets", "List, download and verify the public data sets."),
    },
    "Runs": {
        "show": ("misstep.runs.show", "Show the ten lines that matter of a run of any command."),
        "report": ("misstep.runs.report", "Write one HTML page for one or several runs, with every item."),
        "pass": ("misstep.passing", "Measure pass@k, pass^k and flicker of repeated attempts."),
        "export": ("misstep.runs.export", "Write a run as Parquet, CSV, a data set or a notebook."),
    },
    "This machine": {
        "doctor": ("misstep.doctor", "Report what this machine can do and what is missing."),
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
        """Return what the overview says of a command: its name and its line, without importing it."""
        return TyperCommand(cmd_name, help=LINES[cmd_name][1]) if cmd_name in LINES else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the commands by group, after those that most people need first."""
        with formatter.section("Most people begin with"):
            formatter.write_text(", ".join(FIRST))
        width = max(map(len, LINES))
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), line) for name, (_, line) in commands.items()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; without anything the present folder is looked at."""
        if not args and not ctx.resilient_parsing:
            _propose(".")
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is to run, imported; a path instead of it is looked at."""
        if args[0] not in LINES and not ctx.resilient_parsing:
            _propose(*args)
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = typer.main.get_command(import_module(LINES[str(name)][0]).app)
            command.name = name
        return name, command, rest


def _propose(name: str, *more: str) -> NoReturn:
    """Print what is at a path and the line to run; a name that is neither path nor command is refused."""
    from misstep.suggestions import refuse_command
    from misstep_harness.errors import InputError, UsageError

    path = Path(name)
    if not path.exists():
        if path.suffix or len(path.parts) > 1:
            raise InputError("no such file or folder", "`misstep --help` lists the commands.", file=name)
        refuse_command("misstep", name, LINES)
    if more:
        raise UsageError(f"{name} is a path, not a command", f"`misstep {shlex.quote(name)}` alone says what to run.")
    from misstep.propose import proposal_text

    typer.echo(proposal_text(path))
    raise typer.Exit


app = typer.Typer(
    cls=Commands,
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
