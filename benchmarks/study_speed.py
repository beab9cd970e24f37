"""How long a generated study of the size of Wink's takes to generate and to classify, against the limits set for it.

A study of half the size is measured as well: what is linear takes half of the time, and as much memory. The processor
time is of all processes together, and grows less than the time on the clock with what else the machine does.
"""

import sys
import tempfile

from benchmarks.measuring import Taken, machine, measure, misstep

NUMBER, SEED, WORKERS = 42_807, 1, 2
MOST_MIB, MOST_TIMES_HALF = 300, 2.4
LIMITS = {"generate": 180, "classify": 120}
"""The seconds that a step may take with two workers."""


def main() -> None:
    """Generate and classify a study and one of half the size, print what it took."""
    print(f"{machine()}\n{NUMBER:,} sessions, seed {SEED}, {WORKERS} workers\n")
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


def _measured(number: int, study: str) -> list[Taken]:
    made = ["generate", "trajectories", "--study", "--n", number, "--seed", SEED, "--out", study]
    classified = ["classify", f"{study}/trajectories.jsonl", "--out", f"{study}-classified"]
    return [measure(misstep(*step, "--workers", WORKERS)) for step in (made, classified)]


if __name__ == "__main__":
    main()
