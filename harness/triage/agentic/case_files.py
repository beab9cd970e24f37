"""All that a judge may look at in a case, as one tree of files: its parts, its texts, and a file for each step."""

from functools import cached_property
from typing import get_args

from misstep.harness.judges.context import shown_step
from misstep.harness.records.triage_case import Part
from misstep.harness.triage.protocols import ReadOnlyAccess, TextAccess

INSTRUCTION = "instruction.md"
LOGS: Part = "logs"
STEPS = "trajectory"
_PARTS: tuple[Part, ...] = tuple(part for part in get_args(Part) if part != LOGS)


class CaseFiles:
    """The files of a case by paths such as `tests/test_app.py`, `logs/tests.log` and `trajectory/step_012`."""

    def __init__(self, texts: TextAccess, files: ReadOnlyAccess | None = None) -> None:
        self._access, self._reading = texts, files

    @cached_property
    def _texts(self) -> dict[str, str]:
        run = self._access.trajectory
        steps = enumerate(run.steps) if run is not None else ()
        instruction = {INSTRUCTION: self._access.instruction} if self._access.instruction else {}
        logs = {f"{LOGS}/{name}": text for name, text in self._access.logs.items()}
        return instruction | logs | {step_path(number): shown_step(step, number) for number, step in steps}

    @cached_property
    def _files(self) -> dict[str, tuple[Part, str]]:
        """Path → part and path in it, of the other files."""
        reading = self._reading
        if reading is None:
            return {}
        return {f"{part}/{path}": (part, path) for part in _PARTS for path in reading.files(part)}

    def files(self) -> list[str]:
        """Return every file, sorted."""
        return sorted([*self._texts, *self._files])

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        return path in self._texts or path in self._files

    def read(self, path: str) -> bytes:
        """Return the bytes of a file; raises `FileNotFoundError` where there is none that may be read."""
        if path in self._texts:
            return self._texts[path].encode(errors="replace")
        part, below = self._files.get(path, (None, ""))
        content = self._reading.read(part, below) if part and self._reading is not None else None
        if content is None:
            raise FileNotFoundError(path)
        return content


def step_path(number: int) -> str:
    """Return the path of a step."""
    return f"{STEPS}/step_{number:03}"
