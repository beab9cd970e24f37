"""Options that several commands share, and the settings of every command line application."""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from misstep.options.config_file import CONFIG, config_in
from misstep.options.groups import CommandApp, CommandGroup, LazyCommands
from misstep_harness.errors import MissingPrerequisite, UsageError, writing
from misstep_harness.escaping import plain
from misstep_harness.journal.records import replace_file
from misstep_harness.path_names import is_address
from misstep_harness.progress import say


def command_app(*, has_commands: bool = False, commands: Mapping[str, str] | None = None) -> CommandApp:
    """Return an application with the settings that all commands share, empty or with commands imported when run."""
    return CommandApp(
        cls=CommandGroup if commands is None else type("Commands", (LazyCommands,), {"paths": commands}),
        no_args_is_help=has_commands or commands is not None,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def need_scikit_learn(for_what: str) -> None:
    """Refuse what needs scikit-learn if it is not installed: it is a tenth of all that Misstep would bring."""
    if find_spec("sklearn") is None:
        message = f"{for_what} needs scikit-learn, which is not installed"
        raise MissingPrerequisite(message, "Run `pip install 'misstep[learn]'`.")


def _checked(data: Path | None) -> Path | None:
    """Return the option; a folder that it or `MISSTEP_DATA` names has to exist."""
    if data is not None or os.environ.get("MISSTEP_DATA"):
        from misstep_harness.catalogue import named_data_folder

        named_data_folder(data)
    return data


Data = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of public data sets; by default MISSTEP_DATA, then the cache.",
        show_default=False,
        callback=_checked,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Html = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the results to an HTML page as well.")]
Seed = Annotated[
    int, typer.Option(min=0, metavar="N", help="Random seed; the same seed gives the same figures.", show_default=True)
]
BenchmarkFolder = Annotated[
    str, typer.Option("--benchmark", help="The benchmark's folder or name, if the benchmark has moved since the run.")
]


def refuse_given(context: typer.Context, names: Collection[str], why: str) -> None:
    """Refuse options that would be ignored, by the names of their parameters.

    What the top of a configuration file says for all commands is no mistake where one of them ignores it.
    """
    config = config_in(context)
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name == "COMMANDLINE"
        if name in names and name != CONFIG and (is_given or (config is not None and name in config.own)):
            place = "" if is_given or config is None else f"{config.place(name)}: "
            raise UsageError(f"{place}{parameter.opts[0]} has no effect: {why}", f"Leave out {parameter.opts[0]}.")


def moment(text: str) -> datetime:
    """Return a date, a time in ISO 8601, or a time some days or hours before now, such as `7d` and `12h`."""
    if span := re.fullmatch(r"(\d{1,5})([dh])", text):
        return datetime.now(UTC) - timedelta(hours=int(span[1]) * (24 if span[2] == "d" else 1))
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date such as 2026-01-31, and no span such as 7d or 12h") from None


def say_remarks(remarks: Iterable[str], about: str = "") -> None:
    """Say on stderr what a reader should know, each in a line, about a file or about all."""
    for remark in remarks:
        say(f"misstep: {plain(f'{about}: {remark}' if about else remark)}")


def json_text(document: object) -> str:
    """Return a document as indented JSON."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def write_file(option: str, file: Path, text: str, *, in_new_folder: bool = False) -> None:
    """Write what an option asks for to a file, on request in a folder that is made for it."""
    advice = "Name a file that can be written." if in_new_folder else "Name a file in a folder that exists."
    try:
        if in_new_folder:
            with writing(file):
                file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode())
    except OSError as error:
        raise UsageError(f"{option} {file}: {error.strerror}", advice) from error


write_page = partial(write_file, in_new_folder=True)
"""As `write_file`, the folder made if there is none."""


def path_or_address(text: str) -> Path:
    """Return a path, or the cached copy of an address such as `s3://bucket/logs`."""
    if not is_address(text):
        return Path(text)
    from misstep_harness.addresses import local_copies

    return local_copies(text)


def path_alone(text: str) -> Path:
    """Return a path of this machine, for commands that look at it again and again or run what is in it."""
    if is_address(text):
        raise UsageError(f"this command reads no address: {text}", "Give a folder of this machine.")
    return Path(text)


def this_line() -> str:
    """Return the command line that makes the same again, for the foot of a page."""
    return shlex.join(["misstep", *(part for part in sys.argv[1:] if part != "--json")])
