"""Benchmark folders: found or built, what tells one version from another, the runs in them, and what a judge saw."""

from pathlib import Path

from misstep_harness.errors import UsageError

_FILES = ("benchmark.toml", "items.jsonl", "gold.csv")


def benchmark_named(named: str, data: Path | None) -> Path:
    """Return the folder of a benchmark: a folder as it is, else a public set, built where it is absent."""
    folder = Path(named)
    if "/" in named or any((folder / file).exists() for file in _FILES):
        return folder
    from misstep_harness.benchmarks.folders import benchmark_folder
    from misstep_harness.catalogue import data_sets
    from misstep_harness.datasets import LOADERS

    if named.partition("-")[0] in data_sets():
        return benchmark_folder(named, data)
    if folder.is_dir():
        return folder
    message = f"unknown benchmark {named!r}"
    raise UsageError(message, f"Give a folder with {', '.join(_FILES)}, or a public set: {', '.join(LOADERS)}.")
