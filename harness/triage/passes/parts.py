"""The files of a case as texts: what was given, what the agent changed, what is kept from it."""

from collections.abc import Mapping

from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess


def texts_of(access: ReadOnlyAccess, part: Part) -> dict[str, str]:
    """Path → text of the files of a part that are UTF-8."""
    read = ((path, access.read(part, path)) for path in access.files(part))
    found: dict[str, str] = {}
    for path, data in read:
        if data is not None and b"\0" not in data:
            try:
                found[path] = data.decode()
            except UnicodeDecodeError:
                continue
    return found


def changed_texts(access: ReadOnlyAccess) -> dict[str, str]:
    """Path → text of the files that the agent made or changed."""
    before = texts_of(access, "environment")
    return {path: text for path, text in texts_of(access, "workspace").items() if before.get(path) != text}


def joined(texts: Mapping[str, str]) -> str:
    """Return all texts as one."""
    return "\n".join(texts.values())
