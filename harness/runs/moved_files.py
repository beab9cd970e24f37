"""Find out what became of the files of a run: a log is renamed, copied, cut off or begun anew when it is rotated."""

from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct

from misstep.harness.journal.inputs import FileState, checksums_up_to

_EARLIER = " (rewritten since)"
"""The end of the place of records whose content is nowhere now: no file has that name, so that they stay."""


class MovedFiles(Struct, frozen=True):
    """The places of the records of a run that grows.

    - `changed`: The file of records → their file now, `None` where it is read again; of all others it stays.
    - `read`: The files to read: the new and the changed.
    - `rewritten`: The places of records whose content is nowhere now: what is read again does not have all of them.
    """

    changed: Mapping[str, str | None]
    read: Set[str]
    rewritten: Set[str]

    def of(self, file: str) -> str | None:
        """Return where the records of a file belong now; `None` if it is read again."""
        return self.changed.get(file, file)


def earlier_place(file: str) -> str:
    """Return the place of records that a file had and has no longer."""
    return file if file.endswith(_EARLIER) else f"{file}{_EARLIER}"


def places_of(known: Mapping[str, FileState], there: Sequence[tuple[Path, FileState]], *, again: bool) -> MovedFiles:
    """Return what became of known files, by their content; `again` reads all that are there."""
    contents = {state.file: _content(state) for _, state in there}
    changed = {name for name, content in contents.items() if name not in known or _content(known[name]) != content}
    moved = _moved(known, there, changed)
    whole = {new for old, new in moved.items() if new in changed and contents[new] == _content(known[old])}
    read = set(contents) if again else changed - whole
    nowhere = (changed & known.keys()) - moved.keys()
    before = {earlier_place(name) for name in read}
    place: dict[str, str | None] = dict.fromkeys(read | before)
    place |= {old: new if new in whole - read else None for old, new in moved.items()}
    place |= {name: earlier_place(name) for name in nowhere - read}
    return MovedFiles(place, read, nowhere & read | before)


NOWHERE_ELSE = MovedFiles({}, frozenset(), frozenset())
"""All files are where they were."""


def _moved(
    known: Mapping[str, FileState], there: Sequence[tuple[Path, FileState]], changed: Set[str]
) -> dict[str, str]:
    """Earlier name of a file that is no longer as it was → the name of one that is it, or begins with it."""
    files = {state.file for _, state in there}
    lost: dict[tuple[int, int], list[str]] = {}
    for name, state in known.items():
        if state.bytes and (name in changed or not (name in files or Path(name).exists())):
            lost.setdefault(_content(state), []).append(name)
    moved: dict[str, str] = {}
    for path, state in sorted(there, key=lambda one: one[1].file not in known):  # what only grew is still itself
        begins: Iterable[tuple[int, int]] = [_content(state)]
        if lost and state.file in changed:
            begins = checksums_up_to(path, sorted({length for length, _ in lost if length <= state.bytes}))
        for content in begins:
            if names := lost.get(content):
                moved[names.pop(names.index(state.file) if state.file in names else 0)] = state.file
    return moved


def _content(state: FileState) -> tuple[int, int]:
    return state.bytes, state.checksum
