"""The files of a case as texts: what was given, what the agent changed, what is kept from it."""

import ast
from collections.abc import Mapping
from contextlib import suppress

from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess


def texts_of(access: ReadOnlyAccess, part: Part) -> dict[str, str]:
    """Path → text of the files of a part that are UTF-8."""
    found: dict[str, str] = {}
    for path in access.files(part):
        data = access.read(part, path)
        if data is not None and b"\0" not in data:
            with suppress(UnicodeDecodeError):
                found[path] = data.decode()
    return found


def changed_texts(access: ReadOnlyAccess) -> dict[str, str]:
    """Path → text of the files that the agent made or changed."""
    before = texts_of(access, "environment")
    return {path: text for path, text in texts_of(access, "workspace").items() if before.get(path) != text}


def parsed(text: str) -> list[ast.AST]:
    """Return all nodes of a Python program; none of what cannot be parsed."""
    with suppress(SyntaxError, ValueError):
        return list(ast.walk(ast.parse(text)))
    return []


def joined(texts: Mapping[str, str]) -> str:
    """Return all texts as one."""
    return "\n".join(texts.values())
