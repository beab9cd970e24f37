"""How long it takes to add up whole counts of 64 machines, beside working from the records themselves.

Everything is measured in one process, one after the other, the best of several times; whole commands are measured from
their start as processes, imports included.
"""

import sys
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path

import numpy as np

from benchmarks.agreement_speed import LABELS, best, made_up_codes, run, write_labels
from benchmarks.measuring import machine
from misstep.analysis.labels import Reading, read_labels
from misstep.analysis.labels.coding import counted_labels
from misstep.analysis.measures.agreement import agreement_report
from misstep.harness.records.whole_counts import (
    CountedPart,
    CountedParts,
    Counts,
    RatingPattern,
    ScoreBin,
    decoded_parts,
    summed,
)

SHARDS = 64
ITEMS = 1_000_000
RESAMPLES = 10_000
RATERS = ("rater_0", "rater_1", "rater_2")
MOST_SECONDS = 2.0
JUDGES = 3


def patterns(codes: np.ndarray) -> Counts:
    """Return the rating patterns of some items."""
    rows, items = np.unique(codes, axis=0, return_counts=True)
    found = (
        RatingPattern("", RATERS, tuple(str(LABELS[code]) for code in row), int(n))
        for row, n in zip(rows.tolist(), items.tolist(), strict=True)
    )
    return summed([Counts(ratings=tuple(found))])


def scores(seed: int) -> Counts:
    """Scores of a million answers of each of three judges, in all 1,001 bins."""
    rng = np.random.default_rng(seed)
    rows = [
        ScoreBin(f"judge {judge}", gold, label, place, int(n))
        for judge in range(JUDGES)
        for gold in ("no", "yes")
        for label in ("no", "yes")
        for place, n in enumerate(rng.multinomial(ITEMS // 4, np.full(1_001, 1 / 1_001)).tolist())
        if n
    ]
    return summed([Counts(scores=tuple(rows))])


def encoded(counts: list[Counts]) -> list[bytes]:
    """Return the files of 64 machines."""
    return [
        CountedParts({f"machine {number}": CountedPart(str(number), one)}).encoded()
        for number, one in enumerate(counts)
    ]


def merged(files: list[bytes]) -> Counts:
    """Return what all machines counted, from their files."""
    return reduce(CountedParts.merge, (decoded_parts(file, "counts") for file in files)).total()


def seconds(action: Callable[[], object]) -> float:
    """Return the shortest of three runs."""
    return best(action, 3)


def main() -> None:
    """Measure and print."""
    codes = made_up_codes(ITEMS, 3)
    parts = np.array_split(codes, SHARDS)
    files = encoded([patterns(part) for part in parts])
    # Counts of 64 shards of a million items each: the same patterns, each 64 times as often.
    large = encoded([patterns(made_up_codes(ITEMS, 3, 1))] * SHARDS)
    binned = encoded([scores(seed) for seed in range(SHARDS)])
    counts = merged(files)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "labels.csv"
        write_labels(path, codes)
        for number, file in enumerate(files):
            (folder / f"counts-{number:02}.json").write_bytes(file)
        named = [str(one) for one in sorted(folder.glob("counts-*.json"))]
        (labels,) = counted_labels(counts.ratings, Reading(), "counts").values()
        if agreement_report(labels).fleiss_kappa != agreement_report(read_labels(path)).fleiss_kappa:
            sys.exit("counts and records give different figures")
        taken = {
            "merge 64 files, 1,000,000 items in all": seconds(lambda: merged(files)),
            "merge 64 files, 64,000,000 items in all": seconds(lambda: merged(large)),
            f"merge 64 files of {JUDGES} judges' scores, 12,012 rows each": seconds(lambda: merged(binned)),
            "figures from counts, 10,000 resamples": seconds(lambda: agreement_report(labels, resamples=RESAMPLES)),
            "figures from the records, read before": seconds(
                lambda: agreement_report(read_labels(path), resamples=RESAMPLES)
            ),
            "misstep count counts-*.json, whole process": seconds(lambda: run("-m", "misstep", "count", *named)),
            "misstep agreement labels.csv, whole process": seconds(
                lambda: run("-m", "misstep", "agreement", str(path), "--json")
            ),
        }
        sizes = path.stat().st_size, sum(map(len, files))
    print(
        f"{machine()}\n{ITEMS:,} items x 3 raters: {sizes[0] / 1e6:.1f} MB of labels, {sizes[1] / 1e6:.1f} MB of counts"
    )
    for what, one in taken.items():
        print(f"  {what:55} {1000 * one:8.0f} ms")
    merging = list(taken.values())[1]
    print(
        f"  merging 64 shards of 1,000,000: {'met' if merging < MOST_SECONDS else 'MISSED'} (bound: {MOST_SECONDS:g} s)"
    )
    print(
        f"  from records over from counts, whole processes: {list(taken.values())[-1] / list(taken.values())[-2]:.1f} x"
    )


if __name__ == "__main__":
    main()
