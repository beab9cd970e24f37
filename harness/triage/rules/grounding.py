"""The texts of a case's files, and an input that the agent spoiled."""

from misstep.harness.records.attribution import Evidence
from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess

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
