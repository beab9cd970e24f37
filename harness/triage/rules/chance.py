"""Where files depend on chance, on the clock or on the order of sets: what may pass now and fail the next time."""

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
_LARGEST = 1 << 18


def chance(access: ReadOnlyAccess, parts: Sequence[Part], *, sure: bool = False) -> Evidence | None:
    """Return the first line of some parts that may depend on chance; `None` where none does."""
    for part in parts:
        for path in access.files(part):
            content = access.read(part, path) or b""
            text = content.decode(errors="replace") if len(content) <= _LARGEST else ""
            match = (_SURE if sure else _CHANCE).search(text)
            if match is not None:
                line = text.count("\n", 0, match.start()) + 1
                return Evidence("file", f"{part}/{path}:{line}", text.splitlines()[line - 1].strip()[:300])
    return None
