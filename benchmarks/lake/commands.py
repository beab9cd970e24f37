"""The command lines that are measured."""

import os
import sys
from pathlib import Path

from benchmarks.measuring import Taken, measure

MISSTEP = [sys.executable, "-m", "misstep"]


def classify(path: Path, run: Path, workers: int, *more: str) -> Taken:
    """Measure `misstep classify PATH --out RUN`."""
    return measure([*MISSTEP, "classify", str(path), "--workers", str(workers), "--out", str(run), *more])


def pack(path: Path, lake: Path, workers: int = 1, *more: str) -> Taken:
    """Measure `misstep pack PATH --out LAKE`."""
    return measure([*MISSTEP, "pack", str(path), "--workers", str(workers), "--out", str(lake), *more])


def size_of(folder: Path) -> int:
    """Return the bytes of the Parquet files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def with_package(folder: Path) -> None:
    """Let the commands that are measured find the packages in a folder."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(folder) if before is None else f"{folder}{os.pathsep}{before}"
