"""Which lines of a reply are in a code fence: there an agent quotes, and says nothing of its own."""

import re
from collections.abc import Sequence

_FENCE = re.compile(r"[ ]{0,3}+(?P<marks>`{3,}+|~{3,}+)(?P<rest>.*)", re.DOTALL)


def is_fenced(lines: Sequence[str]) -> list[bool]:
    """Line by line, whether it opens, closes or is in a code fence; one that nobody closes goes on to the end."""
    flags: list[bool] = []
    opened = ""
    for line in lines:
        fence = _FENCE.fullmatch(line)
        flags.append(bool(opened or fence))
        if fence is None:
            continue
        if not opened:
            opened = fence["marks"]
        elif fence["marks"].startswith(opened) and not fence["rest"].strip():
            opened = ""
    return flags


def unwrapped(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without a fence around all of them, as models like to put one around a whole answer."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 2 or not all(is_fenced(lines[filled[0] : filled[-1] + 1])):
        return lines
    inner = lines[filled[0] + 1 : filled[-1]]
    is_one = _FENCE.fullmatch(lines[filled[-1]]) and not any(is_fenced(inner))
    return inner if is_one else lines
