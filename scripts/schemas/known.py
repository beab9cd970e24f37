"""The commands that print JSON, and the form of each of their documents."""

from typing import Any

from scripts.schemas import annotators, judges, machine, papers, runs, sessions, systems
from scripts.schemas.forms import Form, json_schema

DOCUMENTS: dict[str, Form] = {
    name: form
    for module in (sessions, judges, annotators, systems, papers, runs, machine)
    for name, form in module.DOCUMENTS.items()
}
"""Command → the form of its document."""


def schema_of(command: str) -> dict[str, Any]:
    """Return the JSON Schema of the document of a command."""
    return json_schema(DOCUMENTS[command], f"misstep {command} --json")
