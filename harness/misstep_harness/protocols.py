"""Protocols of readers, classifiers, judges and loaders; any object with these members qualifies."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from msgspec import Struct

from misstep_harness.exchange import Failure, Outcome, Request
from misstep_harness.items import Attempts, Item
from misstep_harness.trajectory import Source, Trajectory, Unreadable
from misstep_harness.verdict import Verdict


class Ask(Protocol):
    """A way to ask a model, with the cost limit, cache, retries and records of the run."""

    model: str
    """The model that the command line or the judge's file names; empty if there is none."""

    async def __call__(self, request: Request) -> Outcome:
        """Return what the model answered, or why it did not; raises nothing."""


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

    `UNIT` is `value` where each JSON value (a document, or one line of JSON Lines) is alone, `file` where all
    lines of a file make one trajectory.
    """

    FORMAT: str
    UNIT: Unit

    def refuse(self, sample: Sample) -> str | None:
        """Return why the file is not of this format, in a few words; `None` when it is."""

    def read(self, data: bytes, source: Source) -> Iterator[Trajectory]:
        """Return the trajectories in the bytes of one value or of a whole file, in UTF-8 without a byte-order mark.

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
        """Return the verdict on one trajectory: label, evidence steps, one sentence why."""


class Judge(Protocol):
    """What judges items; `kind`, one kind of items, and `category` may be beside it in a judge that somebody writes.

    A class without parameters will do, and so will an object or a module.
    """

    @property
    def name(self) -> str:
        """Return its name in its verdicts."""

    @property
    def labels(self) -> Sequence[str] | Mapping[str, str]:
        """Return the labels that it may give, or label → meaning; none where each item names its own."""

    async def judge(self, item: "Item", trajectory: Trajectory | None, ask: Ask) -> Verdict:
        """Return the verdict on an item; `trajectory` is the run that it is about, if there is one."""


ReadFile = Callable[[Path], Iterator[Trajectory | Unreadable]]


class Loader(Protocol):
    """A module that turns one public data set's upstream files into a benchmark folder."""

    NAME: str

    def load(self, folder: Path, out: Path, read: ReadFile) -> None:
        """Write `benchmark.toml`, `items.jsonl`, `gold.csv` and `trajectories/` of the set in `folder` to `out`."""


class OutcomeLoader(Protocol):
    """A module that reads from one public data set which system solved which task."""

    NAME: str

    def outcomes(self, folder: Path) -> "Iterator[Attempts]":
        """Return every system on every task it was tried on."""


class NoModel:
    """There is nobody to ask; whoever asks gets a failure."""

    model = ""

    async def __call__(self, request: Request) -> Outcome:  # noqa: ARG002
        """Return the failure."""
        return Failure("bad_request", "A model is asked, and none is named.")


NO_MODEL: Ask = NoModel()
