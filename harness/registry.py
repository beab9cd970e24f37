"""A registry is a visible dict from name to dotted path, loaded when used; entry points add to it from outside."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from harness.errors import UsageError


def names(known: dict[str, str], group: str) -> dict[str, str]:
    """Name → dotted path (`package.module` or `package.module:name`), the entry points of `group` included."""
    return known | {name: target for name, target in _added(group).items() if name not in known}


@cache
def _added(group: str) -> dict[str, str]:
    """The entry points of a group; what is installed is looked through once, as that takes milliseconds."""
    return {point.name: point.value for point in entry_points(group=group)}


def resolve(name: str, known: dict[str, str], group: str) -> Any:
    """What stands under `name`, or at `name` itself where that is a dotted path `package.module:name`.

    Raises
    ------
    UsageError
        The name is not registered (the message lists those that are) or its module cannot be imported.
    """
    registered = names(known, group)
    target = registered.get(name, name if ":" in name else None)
    if target is None:
        raise UsageError(
            f"no {group.removeprefix('misstep.')} named {name!r}", f"Known: {', '.join(sorted(registered))}."
        )
    module, _, attribute = target.partition(":")
    try:
        loaded = import_module(module)
        return getattr(loaded, attribute) if attribute else loaded
    except (Exception, SystemExit) as error:  # a module from elsewhere may raise anything
        raise UsageError(
            f"{name!r} cannot be loaded from {target!r}: {raised(error)}", "Check the dotted path."
        ) from error


def raised(error: BaseException) -> str:
    """What was raised, on one line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def origin(name: str, known: dict[str, str], group: str) -> str:
    """Where a registered name leads: its dotted path, and the installed package that it comes from, if it does."""
    target = names(known, group).get(name, name)
    points = [] if name in known else entry_points(group=group)
    packages = [point.dist.name for point in points if point.name == name and point.dist is not None]
    return f"{target} of the package {packages[0]}" if packages else target
