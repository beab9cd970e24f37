"""A loaded benchmark folder as tests look at it: its items by id, its gold labels, its trajectories by id."""

import csv
import gzip
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from misstep_harness.benchmarks.folders import read_trajectories
from misstep_harness.datasets import loader_for
from misstep_harness.datasets.benchmark import Benchmark, Item, read_benchmark
from misstep_harness.errors import InputError
from misstep_harness.items import read_items
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Trajectory


class Loaded:
    """What one loader made of upstream files; `gold` is (item, rater) → label."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def benchmark(self) -> Benchmark:
        return read_benchmark(self.folder)

    @cached_property
    def items(self) -> dict[str, Item]:
        return {item.id: item for item in read_items(self.folder)}

    @cached_property
    def gold(self) -> dict[tuple[str, str], str]:
        """(item, rater) → label."""
        with (self.folder / "gold.csv").open(encoding="utf-8", newline="") as stream:
            return {(row["item"], row["rater"]): row["label"] for row in csv.DictReader(stream)}

    @cached_property
    def trajectories(self) -> dict[str, Trajectory]:
        return {run.id: run for run in read_trajectories(self.folder)}


def load(name: str, upstream: Path, out: Path) -> Loaded:
    loader_for(name).load(upstream, out / name, read_file)
    return Loaded(out / name)


def assert_refused(name: str, upstream: Path, out: Path, words: Iterable[str]) -> None:
    """Check that a loader refuses upstream files with an error that has some words."""
    with pytest.raises(InputError) as raised:
        load(name, upstream, out)
    assert all(word in raised.value.line() for word in words)


def public(name: str) -> Any:
    """A fixture of a module: what a loader makes of a public data set."""

    @pytest.fixture(scope="module")
    def loaded(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
        return load(name, data_folder / name, tmp_path_factory.mktemp("loaded"))

    return loaded


def write(folder: Path, files: dict[str, str]) -> Path:
    """Lay out made-up upstream files; those whose name ends in `.gz` are compressed."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder
