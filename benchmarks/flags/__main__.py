"""Draw flags of the rules on public runs: `python -m benchmarks flags --seed 7`.

A reading of one such sample is in `reading.csv` beside this file, its figures in `RESULTS.md`.
"""

import argparse
import csv
import random
import sys
from collections.abc import Iterator

from misstep.studies.recorded.classified import classified_sets

PER_CATEGORY = 30
_STEPS = 6


def main() -> None:
    """Print the drawn flags as CSV."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks flags", description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=7, help="Random seed for the sample.")
    parser.add_argument("--n", type=int, default=PER_CATEGORY, help="Flags of each category, if there are so many.")
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["data_set", "run", "category", "steps", "rule"])
    table.writerows(_drawn(options.seed, options.n))


def _drawn(seed: int, number: int) -> Iterator[tuple[str, str, str, str, str]]:
    flags: dict[str, dict[str, list[tuple[str, str, str, str, str]]]] = {}
    for judged in classified_sets():
        for verdict in judged.verdicts:
            if verdict.label == "yes":
                steps = " ".join(map(str, verdict.steps[:_STEPS]))
                line = (judged.benchmark, verdict.item, verdict.judge, steps, verdict.rationale)
                flags.setdefault(verdict.judge, {}).setdefault(judged.benchmark, []).append(line)
    for category in sorted(flags):
        shuffled = []
        for name in sorted(flags[category]):
            own = sorted(flags[category][name])
            random.Random(f"{seed} {category} {name}").shuffle(own)  # noqa: S311 (a sample, no secret)
            shuffled.append(own)
        turns = (own[turn] for turn in range(max(map(len, shuffled))) for own in shuffled if turn < len(own))
        yield from (line for _, line in zip(range(number), turns, strict=False))


if __name__ == "__main__":
    main()
