"""Whether memory grows with the number of packed sessions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.lake.commands import classify, pack
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Taken

MOST_TIMES = 1.1


def measure_memory(folder: Path, number: int, times: int) -> None:
    """Print the memory of packing and of classifying so many sessions, and of some times as many."""
    few, many = folder / "few.jsonl", folder / "many.jsonl"
    write_runs(few, number)
    write_runs(many, number * times)
    commands: dict[str, Callable[[str, Path], Taken]] = {
        "pack, 1 worker": lambda name, path: pack(path, folder / f"{name}-lake"),
        "classify, 1 worker": partial(_classify, folder, 1),
        "classify, 2 workers": partial(_classify, folder, 2),
    }
    print(f"\n{'peak of all processes, MiB':28}{number:>12,}{number * times:>12,}{'ratio':>40}")
    for name, command in commands.items():
        first, second = (command(path.stem, path).together_mib for path in (few, many))
        met = "met" if second / first <= MOST_TIMES else "MISSED"
        shown = f"{second / first:.2f} (at most {MOST_TIMES:g}: {met})"
        print(f"{name:28}{first:12.0f}{second:12.0f}{shown:>40}")


def _classify(folder: Path, workers: int, name: str, _: Path) -> Taken:
    return classify(folder / f"{name}-lake", folder / f"{name}-{workers}", workers)
