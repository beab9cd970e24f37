"""Edits that agents made by a tool call, shown as a diff.

Tools that replace one text by another name the two in their arguments (Claude Code, Gemini CLI, the editor of SWE-agent
and OpenHands); others take a patch, which is a diff already.
"""

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any

_REPLACED = (("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text"))
_PATCH = re.compile(r"(?:\*\*\* Begin Patch|diff --git |--- [^\n]{1,400}\n\+\+\+ )")
_LINES_COMPARED = 400
_HEADER = 2


def with_diffs(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Return the arguments of a call, each with its name and whether it is a diff.

    Two arguments that are a text and what replaces it become one, `edit`.
    """
    for old, new in _REPLACED:
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str):
            yield from ((name, value, False) for name, value in arguments.items() if name not in (old, new))
            yield "edit", replacement(before, after), True
            return
    for name, value in arguments.items():
        yield name, value, isinstance(value, str) and _PATCH.match(value.lstrip()) is not None


def replacement(before: str, after: str) -> str:
    """Return a replacement as a unified diff without its header; long texts are not compared, which takes too long."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _LINES_COMPARED:
        return "\n".join([*(f"-{line}" for line in old), *(f"+{line}" for line in new)])
    return "\n".join(list(unified_diff(old, new, lineterm=""))[_HEADER:])
