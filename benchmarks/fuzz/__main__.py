"""Run `python -m benchmarks fuzz [--n N] [--seed S] [--only NUMBER]`: mutated recordings through everything."""

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.cases import case_of, run

_SHOWN = 40
_EVERY = 2_000


def main(arguments: Sequence[str]) -> int:
    """Run the cases and print failures, each with the command that makes it again; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fuzz")
    parser.add_argument("--n", type=int, default=2_000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one case alone")
    options = parser.parse_args(arguments)
    numbers = range(options.n) if options.only is None else range(options.only, options.only + 1)
    failures, read = fuzz(options.seed, numbers)
    print(f"{len(numbers):,} mutated inputs, seed {options.seed}: {read:,} trajectories read; {failures:,} failed")
    return 1 if failures else 0


def fuzz(seed: int, numbers: range) -> tuple[int, int]:
    """Run cases; returns the number of those that failed, and of trajectories that were read."""
    kinds: Counter[str] = Counter()
    read = 0
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in numbers:
            try:
                form, data = case_of(seed, number)
                read += run(form, data, folder)
            except Exception as error:  # noqa: BLE001 (what is looked for)
                place = traceback.extract_tb(error.__traceback__)[-1]
                kind = f"{type(error).__name__} in {place.name} ({Path(place.filename).name}:{place.lineno})"
                kinds[kind] += 1
                if kinds[kind] == 1 and len(kinds) <= _SHOWN:
                    print(
                        f"python -m benchmarks fuzz --seed {seed} --only {number}  # {form}: {kind}: {str(error)[:200]}"
                    )
                if len(numbers) == 1:
                    traceback.print_exception(error)
            if number and number % _EVERY == 0:
                print(f"{number:,} in {time.perf_counter() - started:,.0f} s", file=sys.stderr, flush=True)
            for left in folder.iterdir():
                left.unlink()
    for kind, count in kinds.most_common():
        print(f"{count:,} times {kind}")
    return kinds.total(), read


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
