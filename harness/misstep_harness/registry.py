"""A registry is a visible dict from name to dotted path, loaded when used; entry points add to it from outside."""

import sys
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from misstep_harness.errors import MisstepError, UsageError
from misstep_harness.version import __version__

T = TypeVar("T")

_CALLED = "CONTRIBUTING.md says what such a part is called with, and what it gives."


class Registry(dict[str, str], Generic[T]):
    """Name → dotted path (`package.module` or `package.module:name`) of what belongs to Misstep itself."""

    def __init__(self, group: str, known: dict[str, str]) -> None:
        super().__init__(known)
        self.group = group

    def names(self) -> dict[str, str]:
        """Name → dotted path, the entry points of the group included."""
        return self | {name: target for name, target in _added(self.group).items() if name not in self}

    def load(self, name: str) -> T:
        """Return the entry `name`, or the object at a dotted path `package.module:name`, also in the present folder."""
        registered = self.names()
        target = registered.get(name, name if ":" in name else None)
        if target is None:
            message = f"{name!r} is not among the {self.group.removeprefix('misstep.').replace('_', ' ')}"
            raise UsageError(message, f"Known: {', '.join(sorted(registered))}.")
        module, _, attribute = target.partition(":")
        if name not in registered and (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)
        try:
            entry: T = _at(module, attribute)
        except (Exception, SystemExit) as error:  # a module from elsewhere may raise anything
            raise UsageError(
                f"{name!r} cannot be loaded from {target!r}: {raised(error)}",
                "Check the dotted path: a module is installed or is in the present folder.",
            ) from error
        return entry

    def make(self, name: str, *arguments: object, form: str = "") -> Any:
        """Call the entry `name`; a `UsageError` with the `form` that it should have says what it raised."""
        make: Any = self.load(name)
        try:
            return make(*arguments)
        except MisstepError:
            raise
        except (Exception, SystemExit) as error:  # what is from elsewhere may raise anything
            raise UsageError(f"{name!r} cannot be made: {raised(error)}", form or _CALLED) from error

    def origin(self, name: str) -> str:
        """Where a registered name leads: its dotted path, and the installed package that it comes from, if it does."""
        target = self.names().get(name, name)
        points = [] if name in self else entry_points(group=self.group)
        packages = [point.dist.name for point in points if point.name == name and point.dist is not None]
        return f"{target} of the package {packages[0]}" if packages else target

    def version(self, name: str) -> str:
        """Return the version of the package that a registered name comes from; Misstep's own for what belongs to it."""
        points = [] if name in self else entry_points(group=self.group)
        return next((point.dist.version for point in points if point.name == name and point.dist), __version__)


def _at(module: str, attribute: str) -> Any:
    """Return a module, or what it has by a name: also a module below it that nobody imported yet."""
    loaded = import_module(module)
    if not attribute:
        return loaded
    below = f"{module}.{attribute}"
    if not hasattr(loaded, attribute) and hasattr(loaded, "__path__") and find_spec(below) is not None:
        return import_module(below)
    return getattr(loaded, attribute)


def entry_points_from_outside() -> list[EntryPoint]:
    """Return every entry point in a group of Misstep's, whether or not there is such a group, by group and name."""
    groups = sorted(group for group in entry_points().groups if group.startswith("misstep."))
    return [point for group in groups for point in sorted(entry_points(group=group), key=lambda point: point.name)]


@cache
def _added(group: str) -> dict[str, str]:
    """Return the entry points of a group; what is installed is looked through once, as that takes milliseconds."""
    return {point.name: point.value for point in entry_points(group=group)}


def raised(error: BaseException) -> str:
    """Return what was raised, on one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
