"""What may stand in a field of another tool's file, whatever the field is meant to hold."""

from typing import Any

from harness.values import plain


def mapping(value: Any) -> dict[str, Any]:
    """An object; an empty one for what is none."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; none for what is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A text; an empty one for what is none."""
    return value if isinstance(value, str) else ""


def scalars(value: Any) -> dict[str, str]:
    """The fields of an object that are texts or numbers, as texts; empty for what is no object."""
    return {name: plain(field) for name, field in mapping(value).items() if isinstance(field, str | int | float)}
