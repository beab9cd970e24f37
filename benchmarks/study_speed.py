"""How long a generated study of the size of Wink's takes to generate and to classify, against the limits set for it.

A study of half the size is measured as well: what is linear takes half of the time, and as much memory. The processor
time is of all processes together, and grows less than the time on the clock with what else the machine does.
"""

import sys
import tempfile
from pathlib import Path

from msgspec import Struct

from benchmarks.measuring import Taken, machine, measure

NUMBER = 42_807
SEED = 1
WORKERS = 2
MOST_MIB = 300
MOST_TIMES_HALF = 2.4


class Limit(Struct, frozen=True):
    """The seconds that a step may take with two workers."""

    name: str
    seconds: float


GENERATE, CLASSIFY = LIMITS = (Limit("generate", 180), Limit("classify", 120))


def main() -> None:
    """Generate and classify a study and one of half the size, print what it took."""
    print(machine())
    print(f"{NUMBER:,} sessions, seed {SEED}, {WORKERS} workers\n")
    print(f"{'':24}{'seconds':>9}{'limit':>8}{'processor':>11}{'x half':>8}{'MiB, all':>10}{'limit':>8}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half, whole = ([_measured(limit, size, folder) for limit in LIMITS] for size in (NUMBER // 2, NUMBER))
        kept = [_report(*found) for found in zip(LIMITS, half, whole, strict=True)]
    sys.exit(0 if all(kept) else 1)


def _measured(limit: Limit, number: int, folder: Path) -> Taken:
    misstep, study = [sys.executable, "-m", "misstep"], folder / str(number)
    asked = {
        GENERATE.name: ["generate", "trajectories", "--study", "--n", str(number), "--seed", str(SEED)],
        CLASSIFY.name: ["classify", str(study / "trajectories.jsonl")],
    }[limit.name]
    out = study if limit == GENERATE else folder / f"found-{number}"
    return measure([*misstep, *asked, "--workers", str(WORKERS), "--out", str(out)])


def _report(limit: Limit, half: Taken, whole: Taken) -> bool:
    times = whole.processor_seconds / half.processor_seconds
    print(
        f"{limit.name:24}{whole.seconds:9.1f}{limit.seconds:8.0f}{whole.processor_seconds:11.1f}{times:8.2f}"
        f"{whole.together_mib:10.0f}{MOST_MIB:8}"
    )
    return whole.seconds <= limit.seconds and whole.together_mib <= MOST_MIB and times <= MOST_TIMES_HALF


if __name__ == "__main__":
    main()
