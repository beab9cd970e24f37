"""Align a search block with its replacement, so that the lines that both have are left as they are.

Anchored on the lines that are once in each (patience diff: Bram Cohen, 2010), which takes n log n of any text.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from misstep.harness.edits.changes import Tag

_DEEPEST = 8


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
