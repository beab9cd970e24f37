"""Facts of public sets that come with Misstep: labels, outcomes, ratings and counts; never a text, code or a run.

    data/recordings/public/taubench/recording.toml    whose they are, under what licence, of which files they were made
    data/recordings/public/taubench/attempts.csv      a table, a row a record

Where the whole set is, its facts are measured anew and have to be the recorded ones.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from misstep_harness.catalogue import located, made_by_hand, missing_files
from misstep_harness.datasets.upstream import csv_rows
from misstep_harness.errors import InputError
from misstep_harness.places import data_folder

Row = TypeVar("Row", bound=Struct)


class Facts(Struct, Generic[Row], frozen=True):
    """One table of a set's facts: what a row is, and how the rows are measured in the folder of the set.

    `rules` are the modules and rooms that what is ours in them depends on.
    """

    dataset: str
    table: str
    row: type[Row]
    measure: Callable[[Path], Iterable[Row]]
    rules: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """Return the file of the recorded rows."""
        return recorded_folder(self.dataset) / f"{self.table}.csv"

    def recorded(self) -> tuple[Row, ...]:
        """Return the recorded rows."""
        return tuple(csv_rows(self.file, self.row))

    def rows(self, data: Path | None = None) -> tuple[Row, ...]:
        """Return the rows as measured, and checked against the recorded ones, or as recorded if the set is not here."""
        recorded = self.recorded()
        folder = whole_folder(self.dataset, data)
        if folder is not None:
            self._check(tuple(self.measure(folder)), recorded, folder)
        return recorded

    def _check(self, measured: tuple[Row, ...], recorded: tuple[Row, ...], folder: Path) -> None:
        if measured == recorded:
            return
        same = sum(one == other for one, other in zip(measured, recorded, strict=False))
        raise InputError(
            f"{self.dataset} in {folder} gives {len(measured):,} rows, and {len(recorded):,} are recorded; "
            f"{same:,} are the same",
            f"Check the set with `misstep datasets verify {self.dataset}`. Where it is right, find out why, or record "
            f"it anew: `python -m scripts.record_facts {self.dataset}`.",
            file=self.file,
        )


def recorded_folder(dataset: str) -> Path:
    """Return the folder of a set's recorded facts."""
    return data_folder() / "recordings" / "public" / dataset


def whole_folder(dataset: str, data: Path | None = None) -> Path | None:
    """Return the folder of a set if every registered file is in it, else `None`."""
    folder = located(dataset, data)
    return None if folder is None or missing_files(dataset, folder) else folder


def from_recorded(datasets: Iterable[str]) -> tuple[str, ...]:
    """Say which sets' facts are the recorded ones and what measures them again; nothing if all sets are here."""
    recorded = [name for name in datasets if whole_folder(name) is None]
    brought = [name for name in recorded if not made_by_hand(name)]
    again = f"; `misstep datasets fetch {' '.join(brought)}` measures again" if brought else ""
    return (f"From recorded labels of {', '.join(recorded)}{again}.",) if recorded else ()
