"""How fast agreement is measured, beside the time that pandas takes to read the same file.

Run by hand or by `make bench`. Everything is measured in one process, one after the other, the best of several times;
the whole command is measured from its start as a process, imports included.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pandas as pd

from misstep.analysis.labels import read_labels
from misstep.analysis.measures.agreement import agreement_report
from misstep.analysis.stats.raters import coefficients
from misstep.analysis.stats.raters.patterns import category_counts, distinct_rows
from misstep.analysis.stats.resampling import bootstrap, percentile_interval

ITEMS = 100_000
RESAMPLES = 10_000
LABELS = np.array(["agent", "task", "infrastructure", "pass"])


def made_up_codes(items: int, raters: int, seed: int = 0) -> np.ndarray:
    """Codes of raters who each depart from the truth in a tenth of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(LABELS), items, p=[0.6, 0.2, 0.1, 0.1])
    strays = rng.random((items, raters)) < 0.1
    return np.where(strays, rng.integers(0, len(LABELS), (items, raters)), truth[:, None])


def write_labels(path: Path, codes: np.ndarray) -> None:
    """The codes as a wide CSV of labels."""
    header = ["item", *(f"rater_{place}" for place in range(codes.shape[1]))]
    lines = [",".join([f"run-{item:06d}", *row]) for item, row in enumerate(LABELS[codes].tolist())]
    path.write_text(",".join(header) + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


def best(action: Callable[[], object], times: int = 5) -> float:
    """Return the shortest of several runs, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return min(taken)


def whole_report(path: Path) -> None:
    """What the command does between its imports and its output."""
    report = agreement_report(read_labels(path), resamples=RESAMPLES)
    msgspec.json.format(msgspec.json.encode(report), indent=2)


def run(*command: str) -> None:
    """A process from its start to its end, its output thrown away."""
    subprocess.run([sys.executable, *command], check=True, capture_output=True)


def fleiss_of_a_study() -> None:
    """Fleiss' kappa of 118 items and 3 raters with its interval, from codes."""
    patterns = distinct_rows(np.sort(STUDY, axis=1))
    counts = category_counts(patterns.rows, len(LABELS))
    rng = np.random.default_rng(0)
    percentile_interval(bootstrap(lambda sets: coefficients.fleiss(sets, counts), patterns.items, RESAMPLES, rng))


STUDY = made_up_codes(118, 3)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        write_labels(path, made_up_codes(ITEMS, 3))
        in_pandas = f"import pandas; pandas.read_csv({str(path)!r})"
        taken = {
            "pandas.read_csv": best(lambda: pd.read_csv(path)),
            "read_labels": best(lambda: read_labels(path)),
            "read_labels, agreement_report, JSON": best(lambda: whole_report(path)),
            "misstep agreement, whole process": best(lambda: run("-m", "misstep", "agreement", str(path)), 3),
            "the same with --json": best(lambda: run("-m", "misstep", "agreement", str(path), "--json"), 3),
            "python, import pandas, read_csv": best(lambda: run("-c", in_pandas), 3),
        }
    study = best(fleiss_of_a_study, 20)
    print(f"{ITEMS:,} items x 3 raters, {RESAMPLES:,} resamples, beside pandas.read_csv of the same file")
    for what, seconds in taken.items():
        print(f"  {what:40} {1000 * seconds:6.0f} ms  {seconds / taken['pandas.read_csv']:5.1f} x")
    print("  bound for reading and reporting: 20 x")
    print("Fleiss' kappa of 118 items x 3 raters with its interval")
    print(f"  {RESAMPLES:,} resamples                         {1000 * study:7.1f} ms            (bound: 50 ms)")


if __name__ == "__main__":
    main()
