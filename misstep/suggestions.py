"""Refuse names of commands and options that do not exist, with the nearest one that does."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import NoReturn

from misstep_harness.errors import UsageError


def refuse_command(path: str, name: str, known: Collection[str]) -> NoReturn:
    """Refuse a command; `path` is the line up to it, such as `misstep judge`."""
    raise UsageError(f"unknown command {name!r}", f"{did_you_mean(name, known)}`{path} --help` lists the commands.")


def refuse_option(path: str, option: str, known: Collection[str]) -> NoReturn:
    """Refuse an option of the command whose line up to the options is `path`."""
    meant = did_you_mean(option.lstrip("-"), [name.lstrip("-") for name in known], dashes="--")
    raise UsageError(f"unknown option {option}", f"{meant}`{path} --help` lists the options.")


def did_you_mean(name: str, known: Collection[str], dashes: str = "") -> str:
    """Return the question whether the nearest of the known names was meant; empty if none is near."""
    nearest = get_close_matches(name.casefold(), known, 1)
    return f"Did you mean {dashes}{nearest[0]}? " if nearest else ""
