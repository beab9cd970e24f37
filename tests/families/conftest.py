"""What the tests of several families read: each public data set, loaded once a process."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from misstep_harness.datasets import loader_for
from misstep_harness.readers import read_file


@pytest.fixture(scope="session")
def loaded(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Path]]:
    """Return what loads a set by name: the benchmark folders that its loader writes, one a question."""
    top = tmp_path_factory.mktemp("loaded")

    @cache
    def load(name: str) -> list[Path]:
        (top / name).mkdir()
        loader_for(name).load(data_folder / name, top / name / name, read_file)
        return sorted((top / name).iterdir())

    return load
