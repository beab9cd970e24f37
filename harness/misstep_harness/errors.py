"""Define every error that a user may meet: a line with exit code 2, or 3 if something outside Misstep is missing."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any, Literal, Self

from misstep_harness.path_names import address_text

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""The device is full, the quota is used, a file may not grow further, the device is broken."""

_ENDS = (".", "?", "!", "…")


def closed(sentence: str) -> str:
    """Return a sentence with its full stop, which none gets that has an end already, as words of others often have."""
    ended = sentence.rstrip().rstrip("'\"”)")
    return sentence if not sentence or ended.endswith(_ENDS) else f"{sentence}."


def clause(sentence: str) -> str:
    """Return a sentence without its full stop, for more to follow."""
    return sentence.rstrip().removesuffix(".")


class MisstepError(Exception):
    """The base of all errors shown to a user: what was found and what to do."""

    exit_code = 2

    def __init__(self, found: str, advice: str = "") -> None:
        self.found = found
        self.advice = advice
        super().__init__(self.line())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the error as it is, whatever its type is made of: a worker raises it to whoever asked."""
        return _remade, (type(self), self.args, self.__dict__)

    def line(self) -> str:
        """Return the error as one line: where, what was found, what to do."""
        return f"{closed(self.found)} {self.advice}" if self.advice else self.found


def _remade(kind: type[MisstepError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> MisstepError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


class UsageError(MisstepError):
    """The command line asks for something that cannot be."""


class InputError(MisstepError):
    """A file says something that cannot be."""

    def __init__(
        self,
        found: str,
        advice: str = "",
        *,
        file: Path | str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.file = None if file is None else address_text(str(file))
        self.line_number = line
        self.field = field
        super().__init__(found, advice)

    def line(self) -> str:
        """Return the error as one line that opens with `file:line: field:`."""
        place = self.file or ""
        if self.line_number is not None:
            place += f":{self.line_number}"
        where = ": ".join(part for part in (place, self.field) if part)
        sentence = super().line()
        return f"{where}: {sentence}" if where else sentence


class NoTrajectory(InputError):
    """There is nothing to read in the files and folders that were named."""


class UnknownFormat(InputError):
    """No reader recognises a file."""

    def __init__(self, file: Path | str, reasons: dict[str, str], nearest: str) -> None:
        self.reasons = reasons
        closest = f"; the nearest is {nearest}: {reasons[nearest]}" if nearest in reasons else ""
        super().__init__(
            f"no known trajectory format{closest}",
            "`misstep convert --help` lists the formats; docs/plug-ins.md shows how to add a reader.",
            file=file,
        )


class UnreadableTrajectory(InputError):
    """One trajectory is broken; the reading of the others goes on."""


class EmptyFile(UnreadableTrajectory):
    """There is nothing in a file, or nothing but blanks."""


class ReaderFailed(UnreadableTrajectory):
    """A reader raised what it must not: one file or trajectory cannot be read with it."""


Refusal = Literal[
    "absent",
    "not_unique",
    "no_such_line",
    "hunk_mismatch",
    "ellipsis",
    "path_escape",
    "no_such_file",
    "exists",
    "mixed_line_endings",
    "no_newline_at_end",
    "unchanged",
    "malformed",
]
"""Why an edit is refused: the text that it changes is not there, or at several places; the line that it names does not
exist, or holds something else; lines are left out where text is meant; its path leads out of the tree; a file is
missing, or in the way; line ends contradict each other; it does not say how the file ends; it changes nothing; it
breaks its format."""


class EditRefused(MisstepError):
    """An edit cannot be applied safely, and nothing of it is; `advice` has the nearest lines of the file, if any."""

    def __init__(self, reason: Refusal, found: str, advice: str = "", *, path: str = "") -> None:
        self.reason = reason
        self.path = path
        super().__init__(f"{path}: {found}" if path else found, advice)


class MissingPrerequisite(MisstepError):
    """Something outside Misstep is missing; `advice` names the command that brings it."""

    exit_code = 3


class SandboxMissing(MissingPrerequisite):
    """No sandbox works on this machine; `misstep doctor` says more."""


class SandboxFailed(MisstepError):
    """A sandbox that works in general could not start this command; the command itself is not at fault."""

    exit_code = 3


class UnsafePath(MisstepError):
    """A path leaves the folder that it is given for, goes through a symbolic link, or names no regular file."""


class SnapshotDamaged(MisstepError):
    """A snapshot on disk is missing, or holds something else than was kept; nothing has been restored from it."""


class SkillFailed(MisstepError):
    """A skill of the reflexive loop raised what it must not, or gave back what is none of the types that it may."""


class TimeSpent(MisstepError):
    """The time that was given for one piece of work is over; what was found until then may be kept."""


class CannotWrite(MisstepError):
    """A device takes no more of a file: it is full, the quota is used, or it fails; what was written stays."""

    exit_code = 3

    def __init__(self, file: Path | str, reason: str) -> None:
        advice = "Free some space there and run the same command again: it keeps what is written already."
        super().__init__(f"{file}: cannot write: {reason}", advice)


def is_full(error: OSError) -> bool:
    """Return whether it is the device that takes no more."""
    return error.errno in _NO_ROOM


@contextmanager
def opening(file: Path | str, advice: str, failure: str = "cannot open") -> Iterator[None]:
    """Turn an OSError inside into an `InputError`."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{failure}: {error.strerror}", advice, file=file) from error


class Closing:
    """What is closed at the end of a `with`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back what is held."""


@contextmanager
def writing(file: Path | str) -> Iterator[None]:
    """Return what is done inside writes a file: an `OSError` in it names the file, as a full device alone does not."""
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise CannotWrite(file, error.strerror or str(error)) from error
        if error.filename is None and error.errno is not None:
            error.filename = str(file)
        raise


def write_all(stream: FileIO, content: bytes, file: Path) -> None:
    """Write all of it to an unbuffered stream: a device that is about to be full takes a part."""
    rest = memoryview(content)
    with writing(file):
        while rest:
            rest = rest[stream.write(rest) :]
