"""What all tests share: where the public data are, a cache of one's own, no network."""

import fcntl
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from misstep_harness.workspace import bubblewrap
from tests.schemas import hold_all_runs

hold_all_runs()

# Without a deadline: a busy machine is not a failure. `HYPOTHESIS_PROFILE=nights` looks longer.
settings.register_profile("ci", deadline=None, max_examples=30)
settings.register_profile("nights", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Programs that tests start import the project hundreds of times: where nothing compiled is kept, each compiles it anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Projects that tests repair need no plug-in of pytest, and loading ours takes most of the time of a run in the sandbox.
bubblewrap.ENVIRONMENT["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

# What is imported and collected stays: looking through it for garbage takes a fifth of the time of collecting.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Started in the background, a shell has its programs ignore Ctrl-C, and so would those that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of public data sets: skipped where it is not available, a failure in CI."""
    folder = os.environ.get("MISSTEP_DATA")
    if folder and Path(folder).is_dir():
        return Path(folder)
    if folder:
        pytest.fail(f"MISSTEP_DATA {folder} is not a folder")
    sentence = "set MISSTEP_DATA to a folder of public data sets (`misstep datasets fetch NAME` brings them)"
    if os.environ.get("CI"):
        pytest.fail(f"CI must run the tests on public data: {sentence}")
    pytest.skip(sentence)


@pytest.fixture(autouse=True)
def _public_data(request: pytest.FixtureRequest) -> None:
    """What has the mark `data` runs where the data sets are."""
    if request.node.get_closest_marker("data"):
        request.getfixturevalue("data_folder")


MadeOnce = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> MadeOnce:
    """Return what has a folder of a name made by whoever asks first, for all processes of the tests."""
    own = tmp_path_factory.getbasetemp()
    top = own if worker_id == "master" else own.parent

    def folder_of(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = top / name, top / f"{name}.made"
        with (top / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return folder_of


_CACHES = count()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that no other test sees; who writes makes it, since thousands of tests write nothing."""
    folder = tmp_path_factory.getbasetemp() / "caches" / str(next(_CACHES))
    monkeypatch.setenv("MISSTEP_CACHE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_outside_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anything but this machine is an error."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if self.family != socket.AF_UNIX and host not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to connect to {address!r}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", local_only)
