"""An edit's instruction in plain words that also holds the lines as they are and as they shall be, and its patcher.

Swap the arguments in line 12: it is a likely mistake (swapped arguments).
Replace these lines:
```
    return scaled(b, a)
```
with:
```
    return scaled(a, b)
```
"""

import difflib
import re

from misstep.harness.agent.loop import AgentStopped
from misstep.harness.agent.protocols import PatchRequest
from misstep.harness.edits import edit_format
from misstep.harness.protocols import Ask

_FENCE = "```"
_HEADING = re.compile(r"^Replace line (\d{1,9}) and what follows:\n(`{3,99})\n", re.MULTILINE)


def instruction(before: str, after: str, why: str) -> str:
    """Return what a patcher has to do to make one text of another, in whole lines, with the number of the first."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    blocks = [
        block for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if block[0] != "equal"
    ]
    if not blocks:
        return why
    start, end, first, last = blocks[0][1], blocks[-1][2], blocks[0][3], blocks[-1][4]
    if start == end:  # an insertion is said by the line that it comes before, or behind
        if end < len(old):
            end, last = end + 1, last + 1
        else:
            start, first = start - 1, first - 1
    was, shall = ("".join(lines) for lines in (old[start:end], new[first:last]))
    fence = _FENCE
    while fence in was or fence in shall:
        fence += "`"
    was, shall = (text + "\n" if text and not text.endswith("\n") else text for text in (was, shall))
    return f"{why}\nReplace line {start + 1} and what follows:\n{fence}\n{was}{fence}\nwith:\n{fence}\n{shall}{fence}"


def carried_out(content: str, text: str) -> str | None:
    """Return the text that an instruction makes of a file; `None` where it does not fit."""
    heading = _HEADING.search(text)
    if heading is None:
        return None
    fence = heading[2]
    was, parted, shall = f"\n{text[heading.end() :]}".partition(f"\n{fence}\nwith:\n{fence}\n")
    if not parted or not f"\n{shall}".endswith(f"\n{fence}"):
        return None
    was, shall = f"{was}\n"[1:], shall.removesuffix(fence)
    lines = content.splitlines(keepends=True)
    start = int(heading[1]) - 1
    until = start + len(was.splitlines())
    there = "".join(lines[start:until])
    if there.removesuffix("\n") != was.removesuffix("\n"):
        return None
    ending = "\n" if there.endswith("\n") else ""
    return "".join(lines[:start]) + (shall.removesuffix("\n") + ending if shall else "") + "".join(lines[until:])


class SearchPatcher:
    """Writes what an instruction of `SearchPolicy` says in a run's edit format; it sees nothing but the request."""

    def __init__(self, format_name: str) -> None:
        self._format = edit_format(format_name)

    async def patch(self, request: PatchRequest, ask: Ask) -> str:  # noqa: ARG002
        """Return the edit."""
        after = carried_out(request.content, request.instructions)
        if after is None:
            raise AgentStopped("the instruction names no lines of this file")
        return self._format.render(request.path, request.content, after)
