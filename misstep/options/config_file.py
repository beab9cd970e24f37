"""Read the options of commands from a TOML file, which `--config FILE` names.

Values at the top hold for all commands that have the option, those of a table for the command or group of its name::

    workers = 4
    [classify]
    categories = ["infinite_loop", "tool_call_failure"]
    [judge.run]
    out = "runs/judge"
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import typer
from msgspec import Struct

from misstep_harness.errors import InputError, opening
from misstep_harness.forms import line_of, toml_form

CONFIG = "config"
"""The name of the parameter, which every command has."""

_META = "misstep.config"
_FORM = "See `misstep help config-file`."
_KEYS = ("key", "token", "secret", "password")
"""Words in the names of what a server asks for, which stays in the environment."""


class ConfigFile(Struct, frozen=True):
    """The values of a file for one command: parameter → what the command line would have.

    `lines` holds the lines of the values, `own` the parameters that a table of the command itself names.
    """

    file: Path
    values: Mapping[str, bool | str | list[str]]
    lines: Mapping[str, int | None]
    own: frozenset[str]

    def place(self, name: str) -> str:
        """Return the file and line of a value."""
        line = self.lines[name]
        return str(self.file) if line is None else f"{self.file}:{line}"


class _Level(NamedTuple):
    """The top of the file or one of its tables: the names of its commands from the top, and its values."""

    names: tuple[str, ...]
    table: Mapping[str, Any]


def read_config(context: typer.Context, file: Path | None) -> None:
    """Take the values of a file as the defaults of the command that is about to run."""
    if file is None or context.resilient_parsing:
        return
    config = config_of(context, file)
    context.meta[_META] = config
    context.default_map = dict(config.values)


def config_in(context: typer.Context) -> ConfigFile | None:
    """Return the file that the command line named, if any."""
    config: ConfigFile | None = context.meta.get(_META)
    return config


def config_of(context: typer.Context, file: Path) -> ConfigFile:
    """Return the values that a file has for a command."""
    with opening(file, "Name a file that can be read."):
        data = file.read_bytes()
    document = toml_form(data, dict[str, Any], file, _FORM)
    text = data.decode("utf-8-sig")
    contexts = _contexts(context)
    names = tuple(str(one.info_name) for one in contexts[1:])
    options = long_names(context.command)
    values: dict[str, bool | str | list[str]] = {}
    lines: dict[str, int | None] = {}
    own: frozenset[str] = frozenset()
    for level, owner in zip(_levels(document, names), contexts, strict=False):
        at_command = owner is context
        for key, value in level.table.items():
            line = line_of(text, [*level.names, key])
            name = key.replace("-", "_")
            if isinstance(value, dict) and not at_command:
                _check_table(key, owner, file, line)
            elif name in options:
                _check_secret(value, file, line, key)
                parameter = options[name]
                lines[parameter.name] = line
                values[parameter.name] = _as_on_the_line(value, parameter, f"{file}:{line}", context)
                own |= {parameter.name} if at_command else set()
            elif at_command or name not in _names_beneath(owner):
                raise _unknown(key, options, file, line, contexts[len(level.names) :])
    return ConfigFile(file, values, lines, own)


def _contexts(context: typer.Context) -> "list[Any]":
    """Return the contexts from that of `misstep` to that of the command."""
    above = context.parent
    return [*(_contexts(above) if above is not None else []), context]  # type: ignore[arg-type]


def _levels(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[_Level]:
    yield _Level((), document)
    table: Any = document
    for count, name in enumerate(names, 1):
        table = table.get(name, {}) if isinstance(table, dict) else {}
        yield _Level(tuple(names[:count]), table if isinstance(table, dict) else {})


def long_names(command: Any) -> dict[str, Any]:
    """Return the options of a command by their long names, with underscores."""
    return {
        name.removeprefix("--").replace("-", "_"): parameter
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("--") and parameter.name != CONFIG
    }


def _names_beneath(context: Any) -> set[str]:
    """Return the options of all commands of a group; for `misstep` every command is imported."""
    if context.parent is None:
        from misstep.command_line import LINES

        commands: Iterable[Any] = (typer.main.get_command(import_module(module).app) for module, _ in LINES.values())
    else:
        commands = context.command.commands.values()
    return {name for command in commands for inner in _with_inner(command) for name in long_names(inner)}


def _with_inner(command: Any) -> Iterator[Any]:
    yield command
    for inner in getattr(command, "commands", {}).values():
        yield from _with_inner(inner)


def _check_table(name: str, owner: Any, file: Path, line: int | None) -> None:
    known = owner.command.list_commands(owner)
    if name not in known:
        from misstep.suggestions import did_you_mean

        message = f"the table [{name}] is not named like a command of `{owner.command_path}`"
        raise InputError(message, f"{did_you_mean(name, known)}{_FORM}", file=file, line=line)


def _check_secret(value: Any, file: Path, line: int | None, key: str) -> None:
    from misstep_harness.redaction import keys_in

    if keys_in(str(value)):
        raise InputError(
            "the value has the form of a key",
            "Keys are read from the environment alone, such as OPENAI_API_KEY.",
            file=file,
            line=line,
            field=key,
        )


def _unknown(key: str, options: Mapping[str, Any], file: Path, line: int | None, contexts: Sequence[Any]) -> InputError:
    """Return the error about an option that neither the command nor another one beneath the first context has."""
    owner, command = contexts[0].command_path, contexts[-1].command_path
    who = f"`{command}` has no" if owner == command else f"no command of `{owner}` has an"
    from misstep.suggestions import did_you_mean

    advice = did_you_mean(key.replace("-", "_"), options).replace("_", "-")
    if any(word in key.casefold() for word in _KEYS):
        advice = "Keys are read from the environment alone, such as OPENAI_API_KEY. "
    return InputError(f"{who} option {key!r}", f"{advice}`{command} --help` lists them.", file=file, line=line)


def _as_on_the_line(value: Any, parameter: Any, place: str, context: Any) -> bool | str | list[str]:
    """Return a value of TOML as the command line would have it, to be checked as one of the command line."""

    def refuse(what: str) -> typer.BadParameter:
        return typer.BadParameter(f"{what} ({place})", ctx=context, param=parameter)

    if parameter.is_flag:
        if not isinstance(value, bool):
            raise refuse("Expected true or false.")
        return value
    takes_several = parameter.multiple or parameter.nargs != 1
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, bool) or not isinstance(part, str | int | float | date) for part in parts):
        raise refuse(f"Expected text, a number or a date{', or a list of them' if takes_several else ''}.")
    words = [str(part) for part in parts]
    if takes_several:
        return words
    if isinstance(value, list):
        if "," not in (parameter.metavar or ""):
            raise refuse("Expected one value, not a list.")
        return _comma_separated(words)
    return words[0]


def _comma_separated(words: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(words)
    return line.getvalue()


def with_place(error: typer.BadParameter, context: Any) -> typer.BadParameter:
    """Return an error about a value, with its place if it is of the file."""
    config = config_in(context)
    name = error.param.name or "" if error.param is not None else ""
    if config is not None and name in config.values and _is_of_file(context, name):
        error.message = f"{error.message} ({config.place(name)})"
    return error


def _is_of_file(context: Any, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def resolved_line(arguments: Sequence[str], context: Any) -> list[str]:
    """Return a command line with the options that its file gave in the place of `--config FILE`."""
    config = config_in(context)
    if config is None:
        return list(arguments)
    by_name = {parameter.name: parameter for parameter in context.command.params}
    options = [
        word
        for name, value in config.values.items()
        if _is_of_file(context, name)
        for word in _words(by_name[name], value)
    ]
    at = next((at for at, word in enumerate(arguments) if word.partition("=")[0] == f"--{CONFIG}"), None)
    if at is None:  # the command was not started from this line
        return list(arguments)
    after = at + (1 if "=" in arguments[at] else 2)
    return [*arguments[:at], *options, *arguments[after:]]


def _words(parameter: Any, value: bool | str | list[str]) -> list[str]:
    option = next(name for name in parameter.opts if name.startswith("--"))
    if isinstance(value, bool):
        return [option] if value else list(parameter.secondary_opts[:1])
    if isinstance(value, list) and parameter.multiple:
        return [word for part in value for word in (option, part)]
    return [option, *value] if isinstance(value, list) else [option, value]


def guide() -> str:
    """Return the page of the help about such files."""
    return """A TOML file with options, for any command: misstep COMMAND --config FILE

    workers = 4
    model = "my-model"

    [classify]
    categories = ["infinite_loop", "tool_call_failure"]
    out = "runs/sessions"
    json = true

    [judge.run]
    out = "runs/judge"

- An option has its long name, with dashes or underscores. A flag is true or false.
- Values at the top hold for every command that has the option. A table holds for the command, or the commands of a
  group ([judge]), whose name it has, and counts more than the top.
- The command line counts more than the file. Arguments such as PATH are on the command line alone.
- A list stands for an option that may be given several times, or that takes names separated by commas.
- Paths begin in the present folder, as on the command line.
- A name that no command has and a wrong value are errors that name the line.
- Keys of servers are read from the environment alone, such as OPENAI_API_KEY.

A run's run.toml records the options themselves in the place of --config FILE.
"""
