"""Record the inputs of a run such that a later change is found and can be named.

`run.toml` identifies each part of the inputs, such as a file, by a digest, its length and its name:

    parts = ["deadbeef 48213 runs/all.jsonl"]

The digest of a file of sessions is SHA-256, as its verdicts are looked up by it. That of a part of a benchmark is
CRC-32, which finds accidents and not forgeries.
"""

import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from misstep_harness.journal.records import FILES, Inputs, Manifest, Records
from misstep_harness.path_names import address_text
from misstep_harness.places import last_changes_of
from misstep_harness.values import NOT_JSON

T = TypeVar("T")

MOST_LISTED = 20_000
"""How many parts are listed; of more there is only a digest."""

_BLOCK = 1 << 18
_LISTED_DIGITS = 16
"""How many digits of a digest are listed: the list of many files is read at each start."""
_NAMED = 3
_SETTLED_SECONDS = 2.0
"""How long a file must have stood unchanged for its times to tell it from what it becomes next."""


class FileState(Struct, frozen=True, gc=False):
    """A file as it was when it was read: its length, the time of its last change in ns, and its SHA-256.

    The digest is empty in runs of 0.1, and of a file that cannot be opened.
    """

    file: str
    bytes: int
    modified: int
    digest: str = ""

    @property
    def content(self) -> tuple[int, str]:
        """Return what the bytes of a file are known by."""
        return self.bytes, self.digest


FILE_RECORDS = Records(FileState, FILES, "file")


def file_state(path: Path, known: FileState | None = None) -> FileState:
    """Return a file as it is now; where its length and time are those of `known`, it is not read.

    What was written last to a database and is in a file beside it is part of it. A file that cannot be opened
    counts as an empty one; the code that reads it raises the error.
    """
    name = name_of(path)
    try:
        size, modified = size_and_change(path)
        if known is not None and known.digest and (known.bytes, known.modified) == (size, modified):
            return known
        length, digest = _unless_settled(_length_and_digest, path)
        if (beside := last_changes_of(path)) is not None:
            more, differing = _unless_settled(_length_and_digest, beside)
            length, digest = length + more, digest_of([digest, differing])
        return FileState(name, length, modified, digest)
    except OSError:
        return FileState(name, 0, 0)


def size_and_change(path: Path) -> tuple[int, int]:
    """Return the length of a file and the time of its last change in ns, without a look inside."""
    beside = last_changes_of(path)
    stats = [one.stat() for one in (path, beside) if one is not None]
    return sum(stat.st_size for stat in stats), max(stat.st_mtime_ns for stat in stats)


def name_of(path: Path) -> str:
    """Return the name under which a file is noted: of a local copy, the address that it is a copy of."""
    return address_text(os.fsencode(path).decode(errors="backslashreplace"))


def inputs_of_files(states: Iterable[FileState]) -> Inputs:
    """Return the number of files and bytes, and a digest over all names and contents, in order."""
    parts, size = [], 0
    for state in states:
        size += state.bytes
        parts.append(f"{state.digest[:_LISTED_DIGITS]} {state.bytes} {state.file}")
    return Inputs(len(parts), size, digest_of(parts), parts=listed(parts))


def part(name: str, length: int, checksum: int) -> str:
    """Return one part of the inputs, in the form of the list."""
    return f"{checksum:08x} {length} {name}"


def text_part(name: str, text: str) -> str:
    """Return a text as a part."""
    content = text.encode()
    return part(name, len(content), zlib.crc32(content))


def digest_of(parts: Iterable[str]) -> str:
    """Return a SHA-256 over parts, in order."""
    digest = sha256()
    for one in parts:
        digest.update(one.encode() + b"\0")
    return digest.hexdigest()


def listed(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts if they are few enough to be listed, else none."""
    return tuple(parts) if len(parts) <= MOST_LISTED else ()


def length_and_checksum(path: Path) -> tuple[int, int]:
    """Return the length and the CRC-32 of a file, cached until the file may have changed."""
    return _unless_settled(_length_and_checksum, path)


def _unless_settled(read: Callable[[Path], tuple[int, T]], path: Path) -> tuple[int, T]:
    """Read a file, once while it stands unchanged."""
    stat = path.stat()
    if time.time() - max(stat.st_mtime, stat.st_ctime) < _SETTLED_SECONDS:
        return read(path)
    return _remembered(read, path, (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))


@lru_cache(maxsize=1 << 16)
def _remembered(read: Callable[[Path], tuple[int, T]], path: Path, state: tuple[int, ...]) -> tuple[int, T]:  # noqa: ARG001 (it tells its states apart)
    return read(path)


def _length_and_checksum(path: Path) -> tuple[int, int]:
    length = checksum = 0
    for block in _blocks(path):
        length += len(block)
        checksum = zlib.crc32(block, checksum)
    return length, checksum


def _length_and_digest(path: Path) -> tuple[int, str]:
    length, digest = 0, sha256()
    for block in _blocks(path):
        length += len(block)
        digest.update(block)
    return length, digest.hexdigest()


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb", buffering=0) as stream:
        while block := stream.read(_BLOCK):
            yield block


def difference(was: Inputs, now: Inputs, *, gone: bool = True) -> str:
    """Return the changes of the inputs in a few words; empty if there are none."""
    if was.digest == now.digest and (was.named == now.named or "" in (was.named, now.named)):
        return ""
    if not was.parts or not now.parts:
        return "the contents differ" if _size(was) == _size(now) else f"{_size(was)} then, {_size(now)} now"
    before, after = _by_name(was), _by_name(now)
    lost = [name for name in before if name not in after]
    kinds = (
        ("changed", [name for name, digest in before.items() if after.get(name, digest) != digest]),
        ("went away", lost if gone else []),
        ("came in", [name for name in after if name not in before]),
    )
    changes = "; ".join(f"{_some(names)} {verb}" for verb, names in kinds if names)
    return changes or ("" if lost else "they come in another order")


def _by_name(inputs: Inputs) -> dict[str, str]:
    split = (one.split(" ", 2) for one in inputs.parts)
    return {name: f"{checksum} {length}" for checksum, length, name in split}


def _size(inputs: Inputs) -> str:
    return f"{inputs.files:,} file{'' if inputs.files == 1 else 's'} of {inputs.bytes:,} bytes"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


_FILES = {
    "prompt": "the prompt",
    "examples": "the judge's examples",
    "judge_digest": "the judge's file",
    "data_digest": "the files of the data set",
}
"""What is asked that only a digest is kept of, as people call it; the judge's file is the last that is named."""

_MEANT = "label_mapping"
"""The table of what imported labels mean; the names in it are anybody's."""
_OPTION = "--"


def differing_settings(earlier: Manifest, now: Manifest) -> list[str]:
    """Return the settings in which two runs differ, as clauses for people."""
    if earlier.command != now.command:
        return [f"it is one of `misstep {earlier.command}`"]
    differs = {
        name: (earlier.settings.get(name), now.settings.get(name))
        for name in {**earlier.settings, **now.settings}
        if earlier.settings.get(name) != now.settings.get(name)
    }
    clauses = [clause for name, (was, is_) in differs.items() for clause in _clauses(name, was, is_)]
    # The digest is of the judge's whole file: name the setting that changed in it, if it is known.
    return clauses if clauses or "judge_digest" not in differs else [f"{_FILES['judge_digest']} changed"]


def _clauses(name: str, was: Any, is_: Any) -> Iterator[str]:
    if name == "judge_digest":
        return
    then, now = _table(was), _table(is_)
    if name in _FILES:
        yield f"{_FILES[name]} changed"
    elif then is not None and now is not None:
        for one in {**then, **now}:
            # The name of a judge's model is asked for by itself.
            if (name, one) != ("settings", "name") and then.get(one) != now.get(one):
                called = f"{_OPTION}label for {one}" if name == _MEANT else one
                yield from _clauses(called, then.get(one), now.get(one))
    else:
        verbs = ("were", "are") if name.endswith("s") and not name.startswith(_OPTION) else ("was", "is")
        yield f"{name} {verbs[0]} {_shown(was)} and {verbs[1]} now {_shown(is_)}"


def _table(noted: Any) -> dict[str, Any] | None:
    """Return a recorded value as a table; `None` if it is not one. Earlier versions recorded tables as JSON."""
    if isinstance(noted, str) and noted.startswith("{"):
        try:
            noted = msgspec.json.decode(noted)
        except NOT_JSON:
            return None
    return {} if noted is None else noted if isinstance(noted, dict) else None


def _shown(value: Any) -> str:
    if value is None or value == "":
        return "not given"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def changes(earlier: Manifest, now: Manifest) -> tuple[frozenset[str], str]:
    """The names of the settings in which two runs differ, `inputs` among them, and the same as a clause for people."""
    names = {
        name for name in {**earlier.settings, **now.settings} if earlier.settings.get(name) != now.settings.get(name)
    }
    names |= {"command"} if earlier.command != now.command else set()
    clauses = differing_settings(earlier, now)
    if inputs := difference(earlier.inputs, now.inputs):
        names.add("inputs")
        clauses.append(inputs)
    return frozenset(names), "; ".join(clauses)
