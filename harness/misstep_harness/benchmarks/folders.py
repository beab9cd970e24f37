"""Build benchmark folders in the cache when they are first asked for.

A build is under a digest of the set's files, of the catalogue and of the code that makes a benchmark of them; what was
built before stays until the cache is emptied.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from misstep_harness.catalogue import data_set, data_sets, files_of, how_to_get, locate, located, missing_files
from misstep_harness.datasets import LOADERS, loader_for
from misstep_harness.datasets.benchmark import built_in_place, read_benchmark, recorded_folder
from misstep_harness.datasets.upstream import digest_of
from misstep_harness.errors import InputError, UsageError
from misstep_harness.escaping import plain
from misstep_harness.places import cache_folder, data_folder
from misstep_harness.progress import say
from misstep_harness.readers import read_file
from misstep_harness.trajectory import Trajectory, Unreadable

_CODE = ("misstep_harness.datasets", "misstep_harness.readers", "misstep_harness.trajectory")
_DIGITS = 16
_RECORDED = "recorded"
_LAID_OUT = {
    "agent_as_a_judge": "misstep_harness.datasets.judged.agent_as_a_judge",
    "trail": "misstep_harness.datasets.judged.trail_judges",
}
"""Sets whose recorded facts do for their loader, each with the module that writes them in the set's layout."""
_FILES = ("benchmark.toml", "items.jsonl", "gold.csv")
_SHOWN = 3


def benchmark_folder(name: str, data: Path | None = None) -> Path:
    """Return the folder of one benchmark, built where it is absent or stale."""
    folders = benchmark_folders(name.partition("-")[0], data)
    if name not in folders:
        raise UsageError(f"unknown benchmark {name!r}", f"Known: {', '.join(folders)}.")
    return folders[name]


def set_folder(dataset: str, data: Path | None = None) -> Path:
    """Return the folder of a data set that is available, or else of its recorded facts; stderr names what it lacks."""
    if data is None and dataset in _LAID_OUT and located(dataset) is None:
        _say_recorded(dataset)
        return recorded_set(dataset)
    folder = locate(dataset, data)
    if not folder.is_relative_to(cache_folder() / _RECORDED):
        _say_what_lacks(dataset, folder)
    return folder


def recorded_set(dataset: str) -> Path:
    """Return a folder in the layout of a set with its recorded facts and no text or run, made where it is absent."""
    module = _LAID_OUT[dataset]
    key = hashlib.sha256(digest_of(recorded_folder(dataset)).encode())
    for source in sources_of(module):
        key.update(source.read_bytes())
    target = cache_folder() / _RECORDED / key.hexdigest()[:_DIGITS]
    if not target.is_dir():
        with built_in_place(target) as building:
            (building / dataset).mkdir()
            import_module(module).lay_out(building / dataset)
    return target / dataset


@cache
def _say_recorded(dataset: str) -> None:
    say(
        f"misstep: {dataset} is not on this machine: its recorded labels are used, without texts and runs. "
        f"{how_to_get([dataset])}"
    )


@cache
def _say_what_lacks(dataset: str, folder: Path) -> None:
    """Once for each folder: several measures of one run read the same set."""
    if lacks := incomplete(dataset, folder):
        say(f"misstep: {plain(lacks)}")


def incomplete(dataset: str, folder: Path) -> str:
    """Return the gaps of a set's folder, in a sentence or two; empty if every registered file is there."""
    lacks = missing_files(dataset, folder)
    if not lacks:
        return ""
    shown = ", ".join(lacks[:_SHOWN]) + (", …" if len(lacks) > _SHOWN else "")
    return (
        f"{dataset} is incomplete: {len(lacks):,} of its {len(files_of(dataset)):,} files are missing ({shown}), and "
        f"what is measured on it is of the rest. {how_to_get([dataset])}"
    )


def benchmark_folders(dataset: str, data: Path | None = None) -> dict[str, Path]:
    """Return all benchmarks of a data set, name → folder, built where they are absent or stale."""
    data_set(dataset)
    if dataset not in LOADERS.names():
        message = f"the data set {dataset} has no loader that makes a benchmark"
        raise UsageError(message, f"Sets with a loader: {', '.join(sorted(LOADERS.names()))}.")
    folder = set_folder(dataset, data)
    target = cache_folder() / "benchmarks" / dataset / _key(dataset, folder)
    if not target.is_dir():
        with built_in_place(target) as building:
            loader_for(dataset).load(folder, building / dataset, read_file)
    folders = {path.name: path for path in sorted(target.iterdir())}
    _say_left_out(dataset, tuple(folders.values()))
    return folders


@cache
def _say_left_out(dataset: str, folders: tuple[Path, ...]) -> None:
    for line in dict.fromkeys(line for folder in folders for line in read_benchmark(folder).left_out):
        say(f"misstep: {dataset} leaves out {plain(line)}")


def read_trajectories(folder: Path) -> Iterator[Trajectory]:
    """Return the trajectories of a benchmark folder, file by file in order of name; none where it has none."""
    for path in sorted((folder / "trajectories").glob("*.jsonl")):
        for run in read_file(path):
            if isinstance(run, Unreadable):
                message = f"the run cannot be read: {run.error}"
                raise InputError(message, "Load the data set again.", file=run.file, line=run.line)
            yield run


def _key(dataset: str, folder: Path) -> str:
    digest = hashlib.sha256(digest_of(folder).encode())
    for catalogue in ("datasets.toml", "fault_mappings.toml"):
        digest.update((data_folder() / catalogue).read_bytes())
    for module in (*_CODE, LOADERS.names()[dataset].partition(":")[0]):
        for source in sources_of(module):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:_DIGITS]


def sources_of(module: str) -> list[Path]:
    """Return the sources of a module, or of all below a room with its data: what a cached result depends on."""
    file = import_module(module).__file__
    if file is None:
        return []
    path = Path(file)
    room = (file for kind in ("*.py", "*.toml") for file in path.parent.rglob(kind))
    return sorted(room) if path.name == "__init__.py" else [path]


@cache
def digest_of_sources(*modules: str) -> str:
    """Return the digest of the sources of modules or rooms, on which a verdict depends."""
    digest = hashlib.sha256()
    for module in modules:
        for source in sources_of(module):
            digest.update(source.read_bytes())
    return digest.hexdigest()


def benchmark_named(named: str, data: Path | None) -> Path:
    """Return the folder of a benchmark: a folder as it is, else a public set, built where it is absent."""
    folder = Path(named)
    if "/" in named or any((folder / file).exists() for file in _FILES):
        return folder
    if named.partition("-")[0] in data_sets():
        return benchmark_folder(named, data)
    if folder.is_dir():
        return folder
    message = f"unknown benchmark {named!r}"
    raise UsageError(message, f"Give a folder with {', '.join(_FILES)}, or a public set: {', '.join(LOADERS)}.")
