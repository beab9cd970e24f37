"""Measure adding up the whole counts of 64 machines, beside working from the records themselves."""

import sys
import tempfile
from functools import reduce
from pathlib import Path

import numpy as np

from benchmarks.agreement_speed import LABELS, RESAMPLES, made_up_codes, run, write_labels
from benchmarks.measuring import best, judged, misstep, print_times
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

SHARDS, ITEMS, JUDGES, MOST_SECONDS = 64, 1_000_000, 3, 2.0
RATERS = ("rater_0", "rater_1", "rater_2")


def _patterns(codes: np.ndarray) -> Counts:
    rows, items = np.unique(codes, axis=0, return_counts=True)
    counted = zip(LABELS[rows].tolist(), items.tolist(), strict=True)
    return summed([Counts(ratings=tuple(RatingPattern("", RATERS, tuple(row), n) for row, n in counted))])


def _scores(seed: int) -> Counts:
    rng = np.random.default_rng(seed)
    rows = [
        ScoreBin(f"judge {judge}", gold, label, place, n)
        for judge in range(JUDGES)
        for gold in ("no", "yes")
        for label in ("no", "yes")
        for place, n in enumerate(rng.multinomial(ITEMS // 4, np.full(1_001, 1 / 1_001)).tolist())
        if n
    ]
    return summed([Counts(scores=tuple(rows))])


def _files(counts: list[Counts]) -> list[bytes]:
    return [CountedParts({f"machine {n}": CountedPart(str(n), one)}).encoded() for n, one in enumerate(counts)]


def _merged(files: list[bytes]) -> Counts:
    return reduce(CountedParts.merge, (decoded_parts(file, "counts") for file in files)).total()


def main() -> None:
    """Print the seconds of each way."""
    codes = made_up_codes(ITEMS, 3)
    files = _files([_patterns(part) for part in np.array_split(codes, SHARDS)])
    # Counts of 64 shards of a million items each: the same patterns, each 64 times as often.
    large = _files([_patterns(made_up_codes(ITEMS, 3, 1))] * SHARDS)
    binned = _files([_scores(seed) for seed in range(SHARDS)])
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "labels.csv")
        write_labels(path, codes)
        for number, file in enumerate(files):
            Path(name, f"counts-{number:02}.json").write_bytes(file)
        (labels,) = counted_labels(_merged(files).ratings, Reading(), "counts").values()
        if agreement_report(labels).fleiss_kappa != agreement_report(read_labels(path)).fleiss_kappa:
            sys.exit("counts and records give different figures")
        merging = best(lambda: _merged(large))
        by_counts = best(lambda: run(misstep("count", *sorted(Path(name).glob("counts-*.json")))))
        by_records = best(lambda: run(misstep("agreement", path, "--json")))
        times = {
            "merge 64 files, 1,000,000 items in all": best(lambda: _merged(files)),
            "merge 64 files, 64,000,000 items in all": merging,
            f"merge 64 files of {JUDGES} judges' scores, 12,012 rows each": best(lambda: _merged(binned)),
            "figures from counts, 10,000 resamples": best(lambda: agreement_report(labels, resamples=RESAMPLES)),
            "figures from the records, read before": best(
                lambda: agreement_report(read_labels(path), resamples=RESAMPLES)
            ),
            "misstep count counts-*.json, whole process": by_counts,
            "misstep agreement labels.csv, whole process": by_records,
        }
        sizes = path.stat().st_size / 1e6, sum(map(len, files)) / 1e6
    print(f"{ITEMS:,} items x 3 raters: {sizes[0]:.1f} MB of labels, {sizes[1]:.1f} MB of counts")
    print_times(times)
    print(judged("merging 64 shards of 1,000,000", merging, most=MOST_SECONDS))
    print(f"from records over from counts, whole processes: {by_records / by_counts:.1f} x")
