"""What a reader, a classifier and a data-set loader must offer; a module that has these names is one."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from harness.attempts import Attempts
from harness.trajectory import Source, Trajectory, Unreadable
from harness.verdict import Verdict

Unit = Literal["value", "file"]
Shape = Literal["document", "lines", "text"]


class Sample(Struct, frozen=True):
    """What a reader sees of a file to tell whether it is one of its own.

    `shape` is `document` (one JSON value), `lines` (JSON Lines) or `text`; `first` is the whole document or the
    value of the first line, `None` for text; `head` is the first 64 KiB as text.
    """

    path: Path
    shape: Shape
    first: Any
    head: str


class Reader(Protocol):
    """A module that turns one trajectory format into trajectories.

    `UNIT` is `value` where each JSON value (a document, or one line of JSON Lines) stands alone, `file` where all
    lines of a file make one trajectory.
    """

    FORMAT: str
    UNIT: Unit

    def refuse(self, sample: Sample) -> str | None:
        """Why the file is not of this format, in a few words; `None` when it is."""

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        """The trajectories in the bytes of one value or of a whole file, in UTF-8 without a byte-order mark.

        `source` has format, file and, for a line of a file, its number.

        Raises
        ------
        UnreadableTrajectory
            The bytes are broken; names the line or field. Nothing else is raised, whatever the bytes.
        """


class Classifier(Protocol):
    """A module that tells for a finished run whether it shows one category of misbehaviour.

    `CATEGORY` is the judge's name in its verdicts, whose labels are `yes` and `no`.
    """

    CATEGORY: str

    def classify(self, trajectory: Trajectory) -> Verdict:
        """The verdict on one trajectory: label, evidence steps, one sentence why."""


ReadFile = Callable[[Path], Iterator[Trajectory | Unreadable]]


class Loader(Protocol):
    """A module that turns one public data set's upstream files into a benchmark folder."""

    NAME: str

    def load(self, folder: Path, out: Path, read: ReadFile) -> None:
        """Write `benchmark.toml`, `items.jsonl`, `gold.csv` and `trajectories/` of the set in `folder` to `out`.

        Raises
        ------
        InputError
            A file is missing or does not have the shape that the set's documentation states.
        """


class OutcomeLoader(Protocol):
    """A module that reads from one public data set which system solved which task."""

    NAME: str

    def outcomes(self, folder: Path) -> Iterator[Attempts]:
        """Every system on every task it was tried on.

        Raises
        ------
        InputError
            A file is missing or does not have the shape that the set's documentation states.
        """
