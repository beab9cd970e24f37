"""Read and write search and replace: blocks of the lines as they are and as they are to be.

    path/to/file.py
    ```python
    <<<<<<< SEARCH
        return a - b
    =======
        return a + b
    >>>>>>> REPLACE
    ```

A search block is whole lines and must be at one place of the file; each block is searched in what the one before it
left. An empty search block is a new or empty file. A block without a path above it is of the file of the block before.
The markers have seven signs; where a line of the file is such a marker, all three have another number, from 5 to 9.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from misstep_harness.edits.applying import apply_edits
from misstep_harness.edits.changes import Edits, FileEdit, Hunk, Tag, hunk_of, is_fence, named_path
from misstep_harness.edits.file_text import both_texts, change_groups, only_span, reply_lines
from misstep_harness.errors import EditRefused

NAME = "search_replace"
apply = apply_edits
_HEAD = re.compile(r"(<{5,9}) ?SEARCH>?[ \t\r]{0,9}")
_TAIL = re.compile(r"(>{5,9}) ?REPLACE<?[ \t\r]{0,9}")
_DIVIDER = re.compile(r"(={5,9})[ \t\r]{0,9}")
_ABOVE = 3
_DEEPEST = 8


def parse(text: str, path: str = "") -> Edits:
    """Return the blocks of a reply; raises `EditRefused` if there is none or one is broken."""
    lines = reply_lines(text)
    blocks: list[tuple[str, Hunk]] = []
    current, after, place, fenced = path, 0, 0, False
    while place < len(lines):
        if stray := _TAIL.fullmatch(lines[place]):
            raise _malformed(place, f"`{stray[0].strip()}` closes no block, or one that holds markers itself")
        if head := _HEAD.fullmatch(lines[place]):
            current = _path_above(lines, place, after, path) or current
            hunk, place = _block(lines, place, head[1])
            blocks.append((current, hunk))
            after = place
        else:
            fenced ^= is_fence(lines[place])
            place += 1
    if fenced and blocks:
        raise EditRefused("malformed", "the fence around the blocks is not closed", "The reply may have been cut off.")
    if not blocks:
        advice = "Write <<<<<<< SEARCH, the lines as they are, =======, the lines as they are to be, >>>>>>> REPLACE."
        raise EditRefused("malformed", "no SEARCH/REPLACE block", advice)
    if not all(name for name, _ in blocks):
        raise EditRefused("malformed", "a block names no file", "Write the path on the line above it.")
    files = [(name, tuple(hunk for _, hunk in of_file)) for name, of_file in groupby(blocks, itemgetter(0))]
    return Edits(tuple(FileEdit(name, hunks) for name, hunks in files), path, in_turn=True)


def _block(lines: Sequence[str], head: int, opened: str) -> tuple[Hunk, int]:
    size = len(opened)
    dividers: dict[int, list[int]] = {}
    for place in range(head + 1, len(lines)):
        line = lines[place]
        if line[:5] == "=====" and (divider := _DIVIDER.fullmatch(line)):
            dividers.setdefault(len(divider[1]), []).append(place)
        elif (closing := _TAIL.fullmatch(line)) and (len(closing[1]) == size or size not in dividers):
            middle = dividers.get(size) or [at for places in dividers.values() for at in places]
            if len(middle) != 1:
                fault = "no =======" if not middle else f"{len(middle)} lines of ======="
                raise _malformed(place, f"the block from line {head + 1} has {fault}")
            ops = aligned(lines[head + 1 : middle[0]], lines[middle[0] + 1 : place])
            return hunk_of(ops, tagged=False), place + 1
        elif (other := _HEAD.fullmatch(line)) and len(other[1]) == size:
            raise _malformed(place, f"a block begins inside that from line {head + 1}")
    raise _malformed(head, "the block has no >>>>>>> REPLACE")


def _path_above(lines: Sequence[str], head: int, after: int, known: str) -> str:
    """Return the path on the nearest line above a block that is not a fence, or in the fence itself."""
    for place in range(head - 1, max(after, head - _ABOVE) - 1, -1):
        line = lines[place]
        if named := named_path(line, known):
            return known if named == known.rsplit("/", 1)[-1] else named
        if line.strip() and not is_fence(line):
            return ""
    return ""


def _malformed(place: int, message: str) -> EditRefused:
    advice = "Where a line of the file is a marker itself, write all three markers with another number of signs."
    return EditRefused("malformed", f"line {place + 1} of the reply: {message}", advice)


def render(path: str, before: str | None, after: str | None, around: int = 2) -> str:
    """Return the change as blocks with `around` lines above and below, or as many as make each the only one."""
    if after is None:
        raise EditRefused("malformed", "the format cannot delete a file", path=path)
    old, new = both_texts(path, before, after)
    blocks = []
    now = list(old.lines)
    for start, end, lines in reversed(change_groups(old.lines, new.lines)):
        first, last = only_span(now, start, end, around)
        blocks.append(_replacement(now[first:last], [*now[first:start], *lines, *now[end:last]]))
        now[start:end] = lines
    return f"{path}\n```\n" + "".join(blocks) + "```\n"


def _replacement(old: Sequence[str], new: Sequence[str]) -> str:
    matches = (mark.fullmatch(line) for line in (*old, *new) for mark in (_HEAD, _DIVIDER, _TAIL))
    used = {len(match[1]) for match in matches if match}
    size = next((size for size in (7, 8, 9, 6, 5) if size not in used), 7)
    return "\n".join([f"{'<' * size} SEARCH", *old, "=" * size, *new, f"{'>' * size} REPLACE", ""])


def aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[Tag, str]]:
    """Return one text turned into another: lines that are kept, deleted and added, in order."""
    lines: list[tuple[Tag, str]] = []
    todo = [(0, len(old), 0, len(new), 0)]
    while todo:
        start, end, first, last, depth = todo.pop()
        if depth < 0:
            lines += [(" ", text) for text in old[start:end]]
            continue
        head = 0
        while start + head < end and first + head < last and old[start + head] == new[first + head]:
            head += 1
        tail = 0
        while start + head < end - tail and first + head < last - tail and old[end - tail - 1] == new[last - tail - 1]:
            tail += 1
        lines += [(" ", text) for text in old[start : start + head]]
        start, end, first, last = start + head, end - tail, first + head, last - tail
        anchors = _anchors(old[start:end], new[first:last]) if depth < _DEEPEST else []
        tail_span = (end, end + tail, 0, 0, -1)
        if not anchors:
            lines += [("-", text) for text in old[start:end]] + [("+", text) for text in new[first:last]]
            lines += [(" ", text) for text in old[end : end + tail]]
            continue
        spans = []
        at, place = start, first
        for one, other in anchors:
            spans.append((at, start + one, place, first + other, depth + 1))
            at, place = start + one, first + other
        spans.append((at, end, place, last, depth + 1))
        todo += [tail_span, *reversed(spans)]
    return lines


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places of lines that are once in both, as many as keep their order."""
    in_old, in_new = Counter(old), Counter(new)
    places = {text: place for place, text in enumerate(new) if in_new[text] == 1}
    both = [(place, places[text]) for place, text in enumerate(old) if in_old[text] == 1 and text in places]
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(both):
        rank = bisect_left(ends, other)
        ends[rank : rank + 1] = [other]
        at[rank : rank + 1] = [number]
        before.append(at[rank - 1] if rank else -1)
    chain: list[tuple[int, int]] = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(both[number])
        number = before[number]
    return chain[::-1]
