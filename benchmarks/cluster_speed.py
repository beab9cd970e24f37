"""How much faster two workers of a Dask cluster classify than one: the same inputs, in turn, medians of pairs.

The clusters stand before anything is measured: their start (about two seconds a process) is left out, and each has done
a small run, so that what it needs is imported. Plan, shards, and the merge into one run are measured. What two
processes that share nothing gain on the machine is measured in the same turns: two workers cannot gain more. Beside
the clock stands the processor time of what cannot overlap: of the busiest worker, and of the main process, which plans
and merges while the workers wait.
"""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from distributed import Client

from benchmarks.classify_speed import gain_of_two_processes
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import machine
from misstep.harness.classifiers import CLASSIFIERS, classify_all
from misstep.harness.runs.shards.cluster import Cluster, open_cluster
from misstep.studies.classified_paths import classified_on_cluster

NUMBER = 5_000
ROUNDS = 3
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
            _taken(cluster, small, folder / f"warm-{count}")
        pairs = []
        for turn in range(ROUNDS):
            one, two = (_taken(clusters[count], file, folder / f"run-{turn}-{count}") for count in (1, 2))
            pairs.append((*one, *two, one[0] / two[0], one[1] / two[1], gain_of_two_processes()))
        one, one_busy, two, two_busy, gain, busy, most = (median(column) for column in zip(*pairs, strict=True))
        print(
            f"{machine()}\n{NUMBER:,} trajectories, {file.stat().st_size / 1e6:.0f} MB, {SHARDS} shards, {ROUNDS} pairs"
        )
        print(f"one worker   {one:6.2f} s, {one_busy:6.2f} s of the processor one after the other")
        print(f"two workers  {two:6.2f} s, {two_busy:6.2f} s")
        for what, value in (("by the clock", gain), ("by the processor", busy)):
            verdict = "met" if value >= LEAST_GAIN else "MISSED"
            print(f"two workers over one {what:17} {value:.2f} ({verdict}: at least {LEAST_GAIN:g})")
        print(f"two processes that share nothing       {most:.2f}")


def _taken(cluster: Cluster, file: Path, out: Path) -> tuple[float, float]:
    """Seconds by the clock, and those of the processor that follow each other: the busiest worker's and ours."""
    started, before, ours = time.perf_counter(), _worked(cluster), time.process_time()
    classified_on_cluster(cluster.address, SHARDS, [str(file)], tuple(CLASSIFIERS), classify_all, str(out))
    seconds, mine = time.perf_counter() - started, time.process_time() - ours
    return seconds, mine + max(now - before[worker] for worker, now in _worked(cluster).items())


def _worked(cluster: Cluster) -> dict[str, float]:
    """Return the processor time that each worker has taken."""
    with Client(cluster.address, set_as_default=False) as client:
        return dict(client.run(time.process_time))


if __name__ == "__main__":
    main()
