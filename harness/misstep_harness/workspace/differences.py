"""The changes between two states of a tree as git prints them (`git help diff`, "Generating patch text with -p")."""

import difflib
from collections.abc import Iterator
from typing import Any

from misstep_harness.workspace.nodes import Node

_LARGEST = 16 << 20
"""Larger files count as binary ones, as they do in git above `core.bigFileThreshold`."""

_MOST_PAIRS = 4_000_000
"""Pairs of lines that are compared; beyond it a block is shown as replaced, as no program's output may cost hours."""

_CONTEXT = 3
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def file_diff(path: str, before: Node | None, after: Node | None) -> str:
    """Return the change of one file; a file that becomes a link is removed and made anew."""
    if before is not None and after is not None and before.kind != after.kind:
        return file_diff(path, before, None) + file_diff(path, None, after)
    old, new = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    lines = [f"diff --git {old} {new}"]
    if before is None and after is not None:
        lines.append(f"new file mode {_mode(after)}")
    elif after is None and before is not None:
        lines.append(f"deleted file mode {_mode(before)}")
    elif before is not None and after is not None and _mode(before) != _mode(after):
        lines += [f"old mode {_mode(before)}", f"new mode {_mode(after)}"]
    one, other = _text(before), _text(after)
    names = (old if before else "/dev/null", new if after else "/dev/null")
    if one is None or other is None:
        lines.append(f"Binary files {names[0]} and {names[1]} differ")
    elif one != other:
        # A name with a space is followed by a tab, as otherwise it could not be told from a date.
        was, becomes = (name + "\t" * (" " in name) for name in names)
        lines += [f"--- {was}", f"+++ {becomes}", *hunks(_lines(one), _lines(other))]
    return "\n".join(lines) + "\n"


def _mode(node: Node) -> str:
    return "120000" if node.kind == "link" else "100755" if node.executable else "100644"


def _text(node: Node | None) -> str | None:
    if node is None:
        return ""
    content = node.content() if node.size <= _LARGEST else b"\0"
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


def _quoted(path: str) -> str:
    """Return a path as git quotes it: bytes beyond ASCII and control characters as octal numbers."""
    raw = path.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in raw):
        return path
    quoted = "".join(
        _ESCAPES.get(chr(byte), chr(byte)) if 32 <= byte < 127 or chr(byte) in _ESCAPES else f"\\{byte:03o}"
        for byte in raw
    )
    return f'"{quoted}"'


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only a line feed ends a line."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def hunks(before: list[str], after: list[str]) -> Iterator[str]:
    """Return the hunks of a unified diff, three lines of context around each change."""
    for group in _grouped(before, after):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
        for tag, i, j, k, m in group:
            if tag == "equal":
                yield from _marked(" ", before[i:j])
            else:
                yield from _marked("-", before[i:j])
                yield from _marked("+", after[k:m])


_Change = tuple[str, int, int, int, int]


def _grouped(before: list[str], after: list[str]) -> Iterator[list[_Change]]:
    shortest = min(len(before), len(after))
    head = next((at for at in range(shortest) if before[at] != after[at]), shortest)
    tail = next((at for at in range(shortest - head) if before[-1 - at] != after[-1 - at]), shortest - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(old) * len(new) > _MOST_PAIRS:
        codes: list[_Change] = [("replace", 0, len(old), 0, len(new))]
    else:
        codes = list(difflib.SequenceMatcher(None, old, new).get_opcodes())
    moved = [(tag, i + head, j + head, k + head, m + head) for tag, i, j, k, m in codes]
    ends: list[_Change] = [
        ("equal", 0, head, 0, head),
        *moved,
        ("equal", len(before) - tail, len(before), len(after) - tail, len(after)),
    ]
    matcher: Any = difflib.SequenceMatcher(None, "", "")  # it groups what it is told as well as what it found
    matcher.opcodes = [code for code in ends if code[1] < code[2] or code[3] < code[4]]
    yield from matcher.get_grouped_opcodes(_CONTEXT)


def _range(start: int, end: int) -> str:
    length = end - start
    return str(start + 1) if length == 1 else f"{start + 1 if length else start},{length}"


def _marked(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"
