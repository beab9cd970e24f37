"""The made-up runs that the tests of a worker export, made once."""

from pathlib import Path

import pytest

from tests.misstep.made_up_exports import KINDS


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One finished run of each kind, by its name."""
    return {name: made(tmp_path_factory.mktemp(name)) for name, made in KINDS.items()}
