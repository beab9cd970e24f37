"""Measure generating and classifying a study of the size of Wink's, against its limits, and one of half the size.

What is linear takes half of the processor's time, and as much memory.
"""

import sys
import tempfile

from benchmarks.measuring import Usage, measure, misstep

NUMBER, SEED, WORKERS = 42_807, 1, 2
MOST_MIB, MOST_TIMES_HALF = 300, 2.4
LIMITS = {"generate": 180, "classify": 120}
"""The seconds that a step may take with two workers."""


def main() -> None:
    """Print what both studies took; the exit code is 1 if a limit is missed."""
    print(f"{NUMBER:,} sessions, seed {SEED}, {WORKERS} workers\n")
    print(f"{'':24}{'seconds':>9}{'limit':>8}{'processor':>11}{'x half':>8}{'MiB, all':>10}{'limit':>8}")
    with tempfile.TemporaryDirectory() as folder:
        halves, wholes = (_measured(size, f"{folder}/{size}") for size in (NUMBER // 2, NUMBER))
    missed = False
    for (step, limit), half, whole in zip(LIMITS.items(), halves, wholes, strict=True):
        times = whole.processor_seconds / half.processor_seconds
        missed |= whole.seconds > limit or whole.together_mib > MOST_MIB or times > MOST_TIMES_HALF
        print(
            f"{step:24}{whole.seconds:9.1f}{limit:8.0f}{whole.processor_seconds:11.1f}{times:8.2f}"
            f"{whole.together_mib:10.0f}{MOST_MIB:8}"
        )
    sys.exit(missed)


def _measured(number: int, study: str) -> list[Usage]:
    generate = ["generate", "trajectories", "--study", "--n", number, "--seed", SEED, "--out", study]
    classified = ["classify", f"{study}/trajectories.jsonl", "--out", f"{study}-classified"]
    return [measure(misstep(*step, "--workers", WORKERS)) for step in (generate, classified)]
