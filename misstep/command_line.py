"""The commands of `misstep`, imported when one is run."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from misstep import __version__
from misstep.command_groups import COMMANDS, FIRST, LINES


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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is to run, imported."""
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
