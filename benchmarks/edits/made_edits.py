"""Make edits of the standard library's source files, by seed."""

import keyword
import re
import sysconfig
from pathlib import Path
from random import Random

from msgspec import Struct

PATH = "pkg/module.py"
_SHORTEST, _LONGEST = 40, 400
_NAME = re.compile(r"[a-z_]{3,20}")


class Edit(Struct, frozen=True):
    """A file before and after, as lines; `places` are the lines of the old file that change, as (start, end, new)."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    places: tuple[tuple[int, int, tuple[str, ...]], ...]


def sources() -> list[Path]:
    """Source files of a fitting length, in order of name."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(path for path in folder.glob("*/*.py") if "site-packages" not in path.parts)
    return [path for path in [*sorted(folder.glob("*.py")), *paths] if 1_000 < path.stat().st_size < 20_000]


def source_lines(path: Path) -> tuple[str, ...] | None:
    """Return the lines of a file that is plain enough to be edited: UTF-8, LF, no marker of an edit format in it."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.removesuffix("\n").split("\n")
    plain = "\r" not in text and not any(line.rstrip() != line or line.strip() == "..." for line in lines)
    marked = any(line.startswith(("<<<<", "====", ">>>>", "```", "***", "@@", "---", "+++")) for line in lines)
    return tuple(lines) if plain and not marked and _SHORTEST <= len(lines) <= _LONGEST else None


def made_edit(draw: Random, before: tuple[str, ...], most: int = 3) -> Edit | None:
    """Return one to `most` places changed as people change code; `None` where the file gives no chance."""
    worded = [number for number, line in enumerate(before) if sum(map(str.isalnum, line)) > 6]
    if len(worded) < 12:
        return None
    places: list[tuple[int, int, tuple[str, ...]]] = []
    for number in sorted(draw.sample(worded, draw.randint(1, most))):
        end = min(len(before), number + draw.choice((1, 1, 1, 2, 3)))
        if places and number - places[-1][1] < 3:
            continue
        new = _changed(draw, before[number:end])
        if new != before[number:end]:
            places.append((number, end, new))
    after = list(before)
    for start, end, new in reversed(places):
        after[start:end] = new
    return Edit(before, tuple(after), tuple(places)) if places and tuple(after) != before else None


def _changed(draw: Random, lines: tuple[str, ...]) -> tuple[str, ...]:
    kind = draw.choice(("rename", "rename", "number", "insert", "insert", "delete", "wrap"))
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip())]
    word = f"{draw.choice(('total', 'count', 'value', 'state', 'limit'))}_{draw.randint(1, 99)}"
    if kind == "insert":
        return (*lines, f"{indent}{word} = {draw.randint(0, 999)}")
    if kind == "delete":
        return lines[1:]
    if kind == "wrap":
        return (f"{indent}if {word}:", *(f"    {line}" if line.strip() else line for line in lines))
    if kind == "number":
        return tuple(re.sub(r"\d+", lambda match: str(int(match[0]) + 1), line) for line in lines)
    names = [name for name in _NAME.findall(first) if not keyword.iskeyword(name)]
    return tuple(line.replace(draw.choice(names), word) for line in lines) if names else (f"{indent}{word} = 0", *lines)


def text_of(lines: tuple[str, ...] | list[str]) -> str:
    """Return the text that lines make."""
    return "".join(f"{line}\n" for line in lines)
