"""The texts of a case's files: an input that the agent spoiled, and what may pass now and fail the next time."""

import re
from collections.abc import Sequence

from misstep.harness.records.attribution import Evidence
from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess

_CHANCE = re.compile(
    r"\brandom\.(?!seed\(\d|Random\(\d)|\biter\(|\bset\([^)]|\bhash\(|\bthreading\b|\blistdir\b|\bshuffle\(|"
    r"\bsecrets\.|\buuid\d|\btime\.(?:time|perf_counter|monotonic)\(|\.now\(|\$RANDOM|\bshuf\b|\burandom\b|\bdate \+|"
    r"\bsleep\b|\basyncio\b|\bgetpid\b|\bPopen\("
)
_SURE = re.compile(
    r"\brandom\.(?!seed\(\d|Random\(\d)|\bshuffle\(|\bsecrets\.|\buuid\d|\btime\.(?:time|perf_counter|monotonic)\(|\$RANDOM|\bshuf\b"
)
_LARGEST_PROGRAM = 1 << 18


def chance(access: ReadOnlyAccess, parts: Sequence[Part], *, sure: bool = False) -> Evidence | None:
    """Return the first line of some parts that may depend on chance; `None` where none does."""
    for part in parts:
        for path in access.files(part):
            content = access.read(part, path) or b""
            text = content.decode(errors="replace") if len(content) <= _LARGEST_PROGRAM else ""
            match = (_SURE if sure else _CHANCE).search(text)
            if match is not None:
                line = text.count("\n", 0, match.start()) + 1
                return Evidence("file", f"{part}/{path}:{line}", text.splitlines()[line - 1].strip()[:300])
    return None


_LARGEST = 64 << 10
_MOST_TEXT = 1 << 20


def text_of(access: ReadOnlyAccess, part: Part, largest: int = _LARGEST) -> str:
    """Return all text of the files of a part that are small enough to be read by a person."""
    texts = []
    left = _MOST_TEXT
    for path in access.files(part):
        content = access.read(part, path)
        if content is not None and len(content) <= min(largest, left) and b"\0" not in content[:1024]:
            texts.append(content.decode(errors="replace"))
            left -= len(content)
    return "\n\n".join(texts)


def spoiled_input(access: ReadOnlyAccess) -> Evidence | None:
    """A file of the environment that the agent's result has no more, or has empty, though gold leaves it as it is."""
    if access.case.part("workspace") is None:
        return None
    of_gold = set(access.files("solution"))
    for path in access.files("environment"):
        before, after = access.read("environment", path), access.read("workspace", path)
        if before and not after and path not in of_gold:
            return Evidence("file", f"workspace/{path}", "it is empty" if after == b"" else "it is gone")
    return None
