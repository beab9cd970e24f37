"""Measure how much faster two workers of a Dask cluster classify than one: medians of pairs, by clock and processor.

Plan, shards and merge are measured, on clusters that have done a small run before. The processor's time is of what
cannot overlap: of the busiest worker, and of the main process, which plans and merges while the workers wait.
"""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from distributed import Client

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import gain_of_two_processes, judged
from misstep.harness.classifiers import CLASSIFIERS, classify_all
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.shards.cluster import Cluster, open_cluster
from misstep.studies.merged_runs import classified_on_cluster

NUMBER, ROUNDS, SHARDS, LEAST_GAIN = 5_000, 3, 8, 1.7


def main() -> None:
    """Print the ratios."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        file, small = folder / "runs.jsonl", folder / "small.jsonl"
        write_runs(file, NUMBER)
        write_runs(small, 20)
        clusters = {count: stack.enter_context(open_cluster(f"local:{count}")) for count in (1, 2)}
        for count, cluster in clusters.items():
            _times(cluster, small, folder / f"warm-{count}")
        pairs = []
        for turn in range(ROUNDS):
            one, two = (_times(clusters[count], file, folder / f"run-{turn}-{count}") for count in (1, 2))
            pairs.append((*one, *two, one[0] / two[0], one[1] / two[1], gain_of_two_processes()))
        one, one_busy, two, two_busy, gain, busy, most = (median(column) for column in zip(*pairs, strict=True))
        size = file.stat().st_size / 1e6
    print(f"{NUMBER:,} trajectories, {size:.0f} MB, {SHARDS} shards, {ROUNDS} pairs")
    print(f"one worker   {one:6.2f} s, {one_busy:6.2f} s of the processor one after the other")
    print(f"two workers  {two:6.2f} s, {two_busy:6.2f} s")
    print(judged("two workers over one by the clock", gain, least=LEAST_GAIN))
    print(judged("two workers over one by the processor", busy, least=LEAST_GAIN))
    print(f"{'two processes that share nothing':36}{most:8.3f}")


def _times(cluster: Cluster, file: Path, out: Path) -> tuple[float, float]:
    """Return seconds by the clock, and those of the processor that follow each other: the busiest worker's and ours."""
    started, before, ours = time.perf_counter(), _worked(cluster), time.process_time()
    plan = ClassifyPlan(tuple(CLASSIFIERS), classify_all)
    classified_on_cluster((cluster.address, SHARDS), [str(file)], plan, str(out))
    elapsed, mine = time.perf_counter() - started, time.process_time() - ours
    return elapsed, mine + max(now - before[worker] for worker, now in _worked(cluster).items())


def _worked(cluster: Cluster) -> dict[str, float]:
    with Client(cluster.address, set_as_default=False) as client:
        return dict(client.run(time.process_time))
