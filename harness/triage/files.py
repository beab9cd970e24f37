"""The files of a case, to be read and not changed: no link is followed, and no large file is read."""

import stat
from contextlib import suppress

from misstep.harness.errors import UnsafePath
from misstep.harness.records.triage_case import Part
from misstep.harness.triage.texts import TextsOfCase
from misstep.harness.workspace import beneath
from misstep.harness.workspace.trees import walk

LARGEST_FILE = 4 << 20
"""Bytes of a file that a judge reads."""


class FilesOfCase(TextsOfCase):
    """The texts of a case, and the files of its parts."""

    def files(self, part: Part) -> tuple[str, ...]:
        """Return the paths of all regular files in a part, sorted; none where the case has no such part."""
        folder = self.case.part(part)
        if folder is None:
            return ()
        return tuple(sorted(found.path for found in walk(folder) if stat.S_ISREG(found.status.st_mode)))

    def read(self, part: Part, path: str) -> bytes | None:
        """The content of a file; `None` where there is none, it is a link, or it has more than `LARGEST_FILE`."""
        folder = self.case.part(part)
        if folder is None:
            return None
        with suppress(OSError, UnsafePath):
            return beneath.read_file(folder, beneath.relative(path), LARGEST_FILE)
        return None
