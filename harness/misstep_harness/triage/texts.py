"""The texts of a case and its files, to be read and not changed: no link is followed, no large file is read."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from misstep_harness import beneath
from misstep_harness.errors import InputError, UnsafePath
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Trajectory, Unreadable
from misstep_harness.triage.logs import outcome_in, outcome_of_run, outcomes_in
from misstep_harness.triage.protocols import TextAccess
from misstep_harness.triage.records import Evidence, Outcome, Part, TriageCase
from misstep_harness.workspace.trees import regular_files

INSTRUCTION, TRAJECTORY = "instruction.md", "trajectory.json"
MOST_TEXT = 1 << 18
"""Bytes of one text that a judge sees: of a longer one it sees the first and the last half of them."""

_MOST_FILES = 500
"""Files of one part that are shown as texts."""

_NO_LOGS: Mapping[str, str] = MappingProxyType({})


class TextsOfItem(Struct, frozen=True):
    """The texts in an item itself, where it has no folder."""

    case: TriageCase
    instruction: str = ""
    trajectory: Trajectory | None = None
    logs: Mapping[str, str] = _NO_LOGS
    attached: Mapping[str, str] = _NO_LOGS


class TextsOfCase:
    """The texts in the folder of a case, each read when it is first asked for; links are not followed.

    - `whole`: Whether the tests and the gold solution are shown as well (AutoTriage, section 5.1).
    """

    def __init__(self, case: TriageCase, trajectory: Trajectory | None = None, *, whole: bool = True) -> None:
        self.case, self._whole = case, whole
        if trajectory is not None:
            self.__dict__["trajectory"] = trajectory  # as if the cached property had been asked for

    @cached_property
    def instruction(self) -> str:
        """Return what the agent was asked; empty where the case does not say."""
        return _text(self.case.folder, INSTRUCTION) or ""

    @cached_property
    def trajectory(self) -> Trajectory | None:
        """Return the run; `None` where the case has none."""
        folder = self.case.folder
        status = beneath.status(folder, TRAJECTORY)
        if status is None or not stat.S_ISREG(status.st_mode):
            return None
        first = next(read_file(folder / TRAJECTORY), None)
        if isinstance(first, Unreadable):
            advice = "Repair the file, or remove it: a case may have no run."
            raise InputError(f"the run cannot be read: {first.error}", advice, file=first.file, line=first.line)
        return first

    @cached_property
    def logs(self) -> Mapping[str, str]:
        """Path in `logs/` → text."""
        return self._texts("logs")

    @cached_property
    def attached(self) -> Mapping[str, str]:
        """Path → text of the tests and of the gold solution; files that are not text are left out."""
        parts: tuple[Part, ...] = ("tests", "solution") if self._whole else ()
        texts = {f"{part}/{path}": text for part in parts for path, text in self._texts(part).items()}
        return {path: text for path, text in texts.items() if "\0" not in text}

    def _texts(self, part: Part) -> Mapping[str, str]:
        folder = self.case.part(part)
        if folder is None:
            return _NO_LOGS
        texts = {path: _text(folder, path) for path in islice(regular_files(folder), _MOST_FILES)}
        return {path: text for path, text in texts.items() if text is not None}


def recorded_outcome(access: TextAccess) -> Outcome | None:
    """Whether the run passed, as recorded: in the case's description, else in the run, else in the harness's logs."""
    return _outside_logs(access) or outcome_in(access.logs)


def lines_of_outcome(access: TextAccess) -> tuple[Evidence, ...]:
    """Return the lines of logs that say whether the run passed, where nothing else does."""
    return () if _outside_logs(access) else tuple(one.evidence for one in outcomes_in(access.logs))


def _outside_logs(access: TextAccess) -> Outcome | None:
    return access.case.file.outcome or outcome_of_run(access.trajectory)


def _text(folder: Path, name: str) -> str | None:
    try:
        with beneath.folder_at(folder) as opened:
            file = beneath.open_beneath(opened, name, os.O_RDONLY)
    except (OSError, UnsafePath):
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size <= MOST_TEXT:
            return os.pread(file, MOST_TEXT, 0).decode(errors="replace")
        half = MOST_TEXT // 2
        left_out = status.st_size - 2 * half
        ends = (os.pread(file, half, 0), os.pread(file, half, status.st_size - half))
        head, tail = (end.decode(errors="replace") for end in ends)
        return f"{head}\n[{left_out:,} bytes are left out]\n{tail}"
    finally:
        os.close(file)


LARGEST_FILE = 4 << 20
"""Bytes of a file that a judge reads."""


class FilesOfCase(TextsOfCase):
    """The texts of a case, and the files of its parts."""

    def files(self, part: Part) -> tuple[str, ...]:
        """Return the paths of all regular files in a part, sorted; none if the case has no such part."""
        folder = self.case.part(part)
        if folder is None:
            return ()
        root = self.case.roots.get(part)
        apart = (".git/",) if part in self.case.views else (root.name,) if root is not None else ()
        return tuple(sorted(path for path in regular_files(folder) if not path.startswith(apart)))

    def read(self, part: Part, path: str) -> bytes | None:
        """The content of a file; `None` if there is none, it is a link, or it has more than `LARGEST_FILE`."""
        folder = self.case.part(part)
        if folder is None:
            return None
        with suppress(OSError, UnsafePath):
            return beneath.read_file(folder, beneath.relative(path), LARGEST_FILE)
        return None
