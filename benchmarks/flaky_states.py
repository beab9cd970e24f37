"""Measure which tests are called failing or flaky, in how many reruns, by the rate at which they fail and their record.

    python -m benchmarks.flaky_states [--tests 2000] [--seed 0]

Each test has failed once at the head and is run again as the failure bot does. A flaky one fails at its rate in each
run, those of the record too; a broken one has passed (or was flaky) up to a change, and fails always since. `uniform`
is the prior by which a flaky test fails at any rate alike, in place of the one that is used; `at once` is the share
that would be called failing without a rerun.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from unittest.mock import patch

from misstep.harness.repair.failure_bot import flakiness
from misstep.harness.repair.failure_bot.flakiness import Recorded, estimate, rerun

RATES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
RECORDS = (0, 20, 100)
PRIORS = {"used": flakiness._RATES, "uniform": ((1.0, 1.0, 1.0),)}


def states(before: float, now: float, recorded: int, tests: int, seed: int) -> tuple[Counter[str], float]:
    """Count the states of tests that failed before and fail now at such rates, and the mean of their reruns."""
    counts: Counter[str] = Counter()
    reruns = 0
    for number in range(tests):
        draw = random.Random(f"{seed} {before} {now} {recorded} {number}")  # noqa: S311
        record = [Recorded("t", f"{commit}", draw.random() < before) for commit in range(recorded)]

        def again(_: Sequence[str], draw: random.Random = draw) -> dict[str, bool]:
            return {"t": draw.random() < now}

        counts["at once"] += estimate(1, 1, record).state == "failing"
        state = rerun(again, ["t"], record)["t"]
        counts[state.state] += 1
        reruns += state.runs - 1
    return counts, reruns / tests


def main() -> None:
    """Print a line for each kind of test, record and prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    kinds = [(f"flaky, {rate:g}", rate, rate) for rate in RATES]
    kinds += [("broken", 0.0, 1.0), ("broken, 0.01 before", 0.01, 1.0), ("broken, 0.1 before", 0.1, 1.0)]
    print(f"{args.tests} tests a line, seed {args.seed}")
    shown = " ".join(f"{name:>9}" for name in ("at once", "failing", "flaky", "undecided", "reruns"))
    print(f"{'test':<20} {'record':>6} {'prior':<8} {shown}")
    for name, before, now in kinds:
        for recorded in RECORDS:
            for prior, laws in PRIORS.items():
                with patch.object(flakiness, "_RATES", laws):
                    counts, reruns = states(before, now, recorded, args.tests, args.seed)
                shares = [
                    f"{counts[state] / args.tests:>9.1%}" for state in ("at once", "failing", "flaky", "undecided")
                ]
                print(f"{name:<20} {recorded:>6} {prior:<8} {' '.join(shares)} {reruns:>9.2f}", flush=True)


if __name__ == "__main__":
    main()
