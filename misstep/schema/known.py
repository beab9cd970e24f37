"""The commands that print JSON, and the form of each of their documents, by the groups of the help."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from misstep.command_groups import COMMANDS
from misstep.harness.errors import UsageError
from misstep.schema.forms import json_schema

_MODULES = {
    "Sessions": "misstep.schema.sessions",
    "Judges": "misstep.schema.judges",
    "Annotators": "misstep.schema.annotators",
    "Systems": "misstep.schema.systems",
    "Papers": "misstep.schema.papers",
    "Runs": "misstep.schema.runs",
    "This machine": "misstep.schema.machine",
}
"""Group of the help → the module with the forms of its commands, imported when one is asked for."""


def known_commands() -> Iterator[str]:
    """List the commands that print JSON, in the order of the help."""
    for module in _MODULES.values():
        yield from import_module(module).DOCUMENTS


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON Schema of the document of a command."""
    group = next((name for name, commands in COMMANDS.items() if command.split()[0] in commands), "")
    documents = import_module(_MODULES[group]).DOCUMENTS if group else {}
    if command not in documents:
        of_group = ", ".join(documents) or "`misstep schema` lists those that do"
        raise UsageError(f"no command `misstep {command}` prints JSON", f"Name one that does: {of_group}.")
    return json_schema(documents[command], f"misstep {command} --json")
