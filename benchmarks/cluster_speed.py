"""How much faster two workers of a Dask cluster classify than one: the same inputs, in turn, medians of pairs.

The clusters stand before anything is measured: their start (about two seconds a process) is left out, and each has done
a small run, so that what it needs is imported. Plan, shards, and the merge into one run are measured. What two
processes that share nothing gain on the machine is measured in the same turns: two workers cannot gain more.
"""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.classify_speed import gain_of_two_processes
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import machine
from harness.classifiers import CLASSIFIERS, classify_all
from harness.runs.shards.cluster import Cluster, open_cluster
from studies.classified_paths import classified_on_cluster

NUMBER = 5_000
ROUNDS = 5
SHARDS = 8
LEAST_GAIN = 1.7


def main() -> None:
    """Make the file, measure in turn, print the ratios."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        file, small = folder / "runs.jsonl", folder / "small.jsonl"
        write_runs(file, NUMBER)
        write_runs(small, 20)
        clusters = {count: stack.enter_context(open_cluster(f"local:{count}")) for count in (1, 2)}
        for count, cluster in clusters.items():
            _seconds(cluster, small, folder / f"warm-{count}")
        pairs = []
        for turn in range(ROUNDS):
            one, two = (_seconds(clusters[count], file, folder / f"run-{turn}-{count}") for count in (1, 2))
            pairs.append((one, two, one / two, gain_of_two_processes()))
        one, two, gain, most = (median(column) for column in zip(*pairs, strict=True))
        print(
            f"{machine()}\n{NUMBER:,} trajectories, {file.stat().st_size / 1e6:.0f} MB, {SHARDS} shards, {ROUNDS} pairs"
        )
        print(f"one worker   {one:6.2f} s\ntwo workers  {two:6.2f} s")
        verdict = "met" if gain >= LEAST_GAIN else "MISSED"
        print(f"two workers over one, median of pairs  {gain:.2f} ({verdict}: at least {LEAST_GAIN:g})")
        print(f"two processes that share nothing       {most:.2f}")


def _seconds(cluster: Cluster, file: Path, out: Path) -> float:
    started = time.perf_counter()
    categories = tuple(CLASSIFIERS)
    classified_on_cluster(cluster.address, SHARDS, [str(file)], categories, classify_all, str(out))
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
