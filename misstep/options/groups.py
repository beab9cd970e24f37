"""Give commands groups of options, each declared once and shown by `--help` as a section.

The fields of a group carry the options. A command has one keyword parameter of its type, which comes filled:

    def run(out: Out, *, asking: ModelOptions, box: SandboxOptions) -> None: ...
"""

import copy
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields
from typer.core import TyperArgument, TyperCommand, TyperGroup
from typer.models import OptionInfo

from misstep.options.config_file import CONFIG, read_config, resolved_line, with_place

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""The error of the framework about a command line: that of click, or of what typer has in its stead."""


class OptionGroup(Struct, frozen=True):
    """A group of options; `panel` is the title of its section in the help."""

    panel: ClassVar[str] = "Options"


class Only:
    """Options of a group that a command has, if not all: `Annotated[Group, Only("model")]`."""

    def __init__(self, *names: str) -> None:
        self.names = names


class GroupedCommand(TyperCommand):
    """A command whose options may be in a file, whose help has a section for each group, and whose numbers are numbers.

    The line of the process then has the options of the file, and what is recorded of it can be run without the file.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; nan and inf, which lie within every limit, are refused."""
        try:
            rest = super().parse_args(ctx, args)
            for parameter in self.get_params(ctx):
                value = ctx.params.get(parameter.name)
                if isinstance(value, float) and not isfinite(value):
                    raise typer.BadParameter(f"{value} is not a number.", ctx=ctx, param=parameter)  # type: ignore[arg-type]
        except typer.BadParameter as error:
            raise with_place(error, ctx) from None
        except _UsageError as error:
            if "possibilities" not in vars(error):
                raise
            from misstep.suggestions import refuse_option

            refuse_option(
                ctx.command_path, vars(error)["option_name"], [name for one in self.params for name in one.opts]
            )
        sys.argv[:] = resolved_line(sys.argv, ctx)
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the command's own options, then those of each group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                title = "Arguments" if isinstance(parameter, TyperArgument) else panel
                sections.setdefault(title, []).append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class CommandGroup(TyperGroup):
    """A group that answers the name of no command with the nearest one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is to run."""
        if args[0] not in self.commands:
            from misstep.suggestions import refuse_command

            refuse_command(ctx.command_path, args[0], self.commands)
        return super().resolve_command(ctx, args)


_CONFIG_FILE = inspect.Parameter(
    CONFIG,
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            is_eager=True,
            callback=read_config,
            help="TOML file with options of commands; see `misstep help config-file`.",
        ),
    ],
)


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that has one option for each field of its groups, and hands them over filled."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[OptionGroup], Sequence[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        group = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if not (isinstance(group, type) and issubclass(group, OptionGroup)):
            parameters.append(parameter.replace(annotation=hint))
            continue
        names = next((one.names for one in get_args(hint)[1:] if isinstance(one, Only)), ())
        options = [one for one in _options_of(group) if not names or one.name in names]
        groups[parameter.name] = (group, [one.name for one in options])
        parameters += options

    parameters.append(_CONFIG_FILE)

    @wraps(command)
    def run(**values: Any) -> Any:
        del values[CONFIG]
        for name, (group, names) in groups.items():
            values[name] = group(**{one: values.pop(one) for one in names})
        return command(**values)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {one.name: one.annotation for one in parameters} | {"return": None}
    return run


def names_of(group: type[OptionGroup]) -> list[str]:
    """List the options of a group, as parameters."""
    return [one.name for one in _options_of(group)]


def _options_of(group: type[OptionGroup]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    parameters = []
    for field in fields(group):
        hint = hints[field.name]
        kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        option = next((one for one in notes if isinstance(one, OptionInfo)), None)
        if option is None:  # a value that the command sets, not the user
            continue
        own = copy.copy(option)
        own.rich_help_panel = group.panel
        default = inspect.Parameter.empty if field.default is NODEFAULT else field.default
        keyword, annotation = inspect.Parameter.KEYWORD_ONLY, Annotated[kind, own]
        parameters.append(inspect.Parameter(field.name, keyword, default=default, annotation=annotation))
    return parameters


class CommandApp(typer.Typer):
    """An application whose commands take groups of options."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Callable[..., Any]], Any]:
        """Register a command."""
        register = super().command(name, cls=GroupedCommand, **settings)

        def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
            register(grouped(command))
            return command

        return decorate


class LazyCommands(CommandGroup):
    """Commands that are imported when one is run, and all when they are listed.

    Command → `module:function`, or `module:app` for a group of its own.
    """

    paths: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Imported(self.paths)


class _Imported(dict[str, Any]):
    """Command → the command, imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        path = super().__getitem__(name)
        if isinstance(path, str):
            module, _, attribute = path.partition(":")
            app = getattr(import_module(module), attribute)
            if not isinstance(app, typer.Typer):
                command = app
                app = CommandApp(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
                app.command(name)(command)
            self[name] = path = typer.main.get_command(app)
            path.name = name
        return path

    def get(self, name: str, default: Any = None) -> Any:
        return self.__getitem__(name) if name in self else default

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def values(self) -> Any:
        return [self[name] for name in self]
