"""Measure bisection with a flaky test: how often the right commit is found, and in how many runs of the test.

    python -m benchmarks.bisect_flaky [--histories 300] [--commits 64] [--seed 0] [--json FILE]

A flake rate f is laid out in three ways: the test fails in the share f of runs *before* the change and always after;
never before and in the share 1 - f *after*; or f/2 before and 1 - f/2 after (*both*). `plain` is the logic of `git
bisect run`; git-bayesect 1.2 is measured where it is installed (`pip install git-bayesect==1.2`).
"""

import argparse
import json
import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from misstep.analysis.stats.proportions import wilson
from misstep.harness.repair.failure_bot.change_point import STEADY, ChangePoint, Prior

CONFIDENCE, MOST = 0.95, 400
Fails = Callable[[int], bool]
Result = tuple[int, int, bool]
"""The commit that is blamed, the runs used, and whether the posterior reached 95%."""


class History:
    """Commits 0 to count - 1, of which the first is known to be sound; the test fails more often from `change` on."""

    def __init__(self, count: int, rates: tuple[float, float], seed: int) -> None:
        self.change = random.Random(f"{seed} change").randrange(1, count)  # noqa: S311
        self._rates, self._seed = rates, seed
        self._answers: dict[int, int] = {}

    def fails(self, commit: int) -> bool:
        """Return the outcome of one more run at a commit."""
        number = self._answers[commit] = self._answers.get(commit, 0) + 1
        rate = self._rates[commit >= self.change]
        return random.Random(f"{self._seed} {commit} {number}").random() < rate  # noqa: S311


def plain(count: int, fails: Fails) -> Result:
    """Search by halves and believe each run."""
    good, bad, runs = 0, count - 1, 0
    while bad - good > 1:
        middle = (good + bad) // 2
        runs += 1
        good, bad = (good, middle) if fails(middle) else (middle, bad)
    return bad, runs, True


def ours(count: int, fails: Fails, prior: Prior | None = None) -> Result:
    """Search as the failure bot does, to which the rates are unknown."""
    point = ChangePoint(count, prior=prior)
    point.rule_out(0)
    best, posterior = point.best()
    while posterior < CONFIDENCE and point.runs < MOST:
        place = point.next()
        if place is None:
            break
        point.record(place, "failed" if fails(place) else "passed")
        best, posterior = point.best()
    return best[0], point.runs, posterior >= CONFIDENCE


def bayesect(count: int, fails: Fails) -> Result:
    """Search as git-bayesect does, whose places count from the newest commit."""
    from git_bayesect import Bisector

    weights = [1.0] * count
    weights[-1] = 0.0
    search: Any = Bisector(weights)
    runs = 0
    while search.distribution.max() < CONFIDENCE and runs < MOST:
        place = search.select()
        runs += 1
        search.record(place, fails(count - 1 - place))
    return count - 1 - int(search.distribution.argmax()), runs, bool(search.distribution.max() >= CONFIDENCE)


def cases() -> list[tuple[float, str, tuple[float, float]]]:
    """List flake rates, how they are laid out, and the rates before and after the change."""
    intervals = [(0.0, "none", (0.0, 1.0))]
    for rate in (0.1, 0.2, 0.3, 0.4, 0.5):
        intervals.append((rate, "before", (rate, 1.0)))
        intervals.append((rate, "after", (0.0, 1 - rate)))
        intervals.append((rate, "both", (rate / 2, 1 - rate / 2)))
    return intervals


def main() -> None:
    """Print a line for each flake rate, way and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=300)
    parser.add_argument("--commits", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    methods: dict[str, Callable[[int, Fails], Result]] = {
        "plain": plain,
        "ours": ours,
        "ours, told not flaky": lambda count, fails: ours(count, fails, STEADY),
    }
    try:
        import git_bayesect  # noqa: F401
    except ImportError:
        print("git-bayesect is not installed: its rows are left out (pip install git-bayesect==1.2)", file=sys.stderr)
    else:
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="git_bayesect")
        methods["git-bayesect"] = bayesect
    rows = []
    print(f"{args.histories} histories of {args.commits} commits, seed {args.seed}; right with Wilson 95% interval")
    print(f"{'flake':>5} {'way':<7} {'method':<21} {'right':>22} {'runs: mean':>11} {'median':>7} {'at most':>8}")
    for rate, way, rates in cases():
        for name, method in methods.items():
            if name.endswith("not flaky") and rate:
                continue
            right, runs, undecided = 0, [], 0
            for number in range(args.histories):
                history = History(args.commits, rates, args.seed * 1_000_003 + number)
                change, used, decided = method(args.commits, history.fails)
                right += change == history.change
                undecided += not decided
                runs.append(used)
            share = wilson(right, args.histories)
            middle = sorted(runs)[len(runs) // 2]
            mean = sum(runs) / len(runs)
            shown = f"{share.value:.1%} [{share.low:.1%}, {share.high:.1%}]"
            print(f"{rate:>5.0%} {way:<7} {name:<21} {shown:>22} {mean:>11.1f} {middle:>7} {max(runs):>8}", flush=True)
            rows.append(
                {"flake_rate": rate, "way": way, "method": name, "n": args.histories, "right": right}
                | {"low": share.low, "high": share.high, "runs_mean": mean, "runs_median": middle}
                | {"undecided": undecided}
            )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
