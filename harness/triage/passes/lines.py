"""Lines of a text that are worth comparing: long enough to stand in two places for a reason."""

import re
from collections.abc import Iterable

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
