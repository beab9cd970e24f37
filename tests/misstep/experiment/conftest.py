"""One finished experiment for the tests of its commands."""

from functools import partial
from pathlib import Path

import pytest

from tests.conftest import MadeOnce
from tests.misstep.as_a_user import CommandLine, misstep


def _make(folder: Path) -> None:
    made = misstep("experiment", "run", "--n", "24", "--seed", "1", "--wordings", "development", "--out", folder)
    assert made.returncode == 0, made.stderr
    assert "Live sessions of a scripted agent" in made.stdout


@pytest.fixture(scope="session")
def run(made_once: MadeOnce) -> Path:
    return made_once("experiment-run", _make)


@pytest.fixture
def experiment(in_process: CommandLine) -> CommandLine:
    return partial(in_process, "experiment")
