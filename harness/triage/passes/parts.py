"""The files of a case as texts: what was given, what the agent changed, and which of their lines tell something."""

import ast
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess


def texts_of(access: ReadOnlyAccess, part: Part) -> dict[str, str]:
    """Path → text of the files of a part that are UTF-8."""
    texts: dict[str, str] = {}
    for path in access.files(part):
        data = access.read(part, path)
        if data is not None and b"\0" not in data:
            with suppress(UnicodeDecodeError):
                texts[path] = data.decode()
    return texts


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


_SHORTEST = 14
_COMMON = re.compile(r"(?:import|from|#!|#include|package|using|except|finally|return$|else|pass$|if __name__)\b")
_MANY_LINES, _MUCH_TEXT = 3, 90


def telling_lines(*texts: str) -> frozenset[str]:
    """Return the lines of texts, without their margins, that are neither short nor what any program has."""
    lines = (line.strip() for text in texts for line in text.splitlines())
    return frozenset(line for line in lines if len(line) >= _SHORTEST and not _COMMON.match(line))


def are_many(lines: Iterable[str]) -> bool:
    """Return whether shared lines are too many, or too long, to be chance."""
    shared = set(lines)
    return len(shared) >= _MANY_LINES or sum(map(len, shared)) >= _MUCH_TEXT


def cut(text: str, most: int = 5) -> str:
    """Return the first lines of a text, as evidence shows them."""
    lines = text.strip().splitlines()
    return "\n".join(line[:200] for line in lines[:most]) + ("\n…" if len(lines) > most else "")
