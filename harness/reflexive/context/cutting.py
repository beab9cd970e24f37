"""Texts made shorter: at the end of a sentence or a line where there is one."""

import re

_ENDS = re.compile(r"[.!?…](?=\s)|\n")
_LEAST_KEPT = 0.5
"""The share of the room that has to be filled for a cut at the end of a sentence; else the cut is at a word."""


def cut_at_sentence(text: str, most: int) -> str:
    """Return the beginning of a text, in at most so many characters: up to the end of a sentence, a line or a word."""
    if len(text) <= most:
        return text
    kept = text[: max(most, 0)]
    ends = [found.end() for found in _ENDS.finditer(text, 0, max(most + 1, 0)) if found.end() <= most]
    if ends and ends[-1] >= _LEAST_KEPT * most:
        return kept[: ends[-1]].rstrip()
    blank = kept.rfind(" ")
    return kept[:blank].rstrip() if blank >= _LEAST_KEPT * most else kept


def cut_at_line(text: str, most: int) -> str:
    """Return the end of a text, in at most so many characters: from the beginning of a line if one is early enough."""
    if len(text) <= most:
        return text
    kept = text[len(text) - max(most, 0) :]
    place = kept.find("\n") + 1
    return kept[place:] if 0 < place <= (1 - _LEAST_KEPT) * most else kept
