"""Measure agreement, and the whole command, beside the time that pandas takes to read the same file."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import best, misstep, print_times, python
from misstep.options.common import json_text
from misstep_analysis.agreement import agreement_report
from misstep_analysis.labels import read_labels
from misstep_analysis.stats.raters import coefficients
from misstep_analysis.stats.raters.patterns import category_counts, distinct_rows
from misstep_analysis.stats.resampling import bootstrap, percentile_interval

ITEMS, RESAMPLES = 100_000, 10_000
LABELS = np.array(["agent", "task", "infrastructure", "pass"])


def made_up_codes(items: int, raters: int, seed: int = 0) -> np.ndarray:
    """Codes of raters who each depart from the truth in a tenth of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(LABELS), items, p=[0.6, 0.2, 0.1, 0.1])
    strays = rng.random((items, raters)) < 0.1
    return np.where(strays, rng.integers(0, len(LABELS), (items, raters)), truth[:, None])


def write_labels(path: Path, codes: np.ndarray) -> None:
    """Write a wide CSV of labels."""
    raters = [f"rater_{number}" for number in range(codes.shape[1])]
    pd.DataFrame(LABELS[codes], [f"run-{item:06d}" for item in range(len(codes))], raters).to_csv(
        path, index_label="item"
    )


def run(command: list[str]) -> None:
    """Run a process to its end, its output thrown away."""
    subprocess.run(command, check=True, capture_output=True)


def fleiss_of_a_study(codes: np.ndarray) -> None:
    """Compute Fleiss' kappa with its interval."""
    patterns = distinct_rows(np.sort(codes, axis=1))
    counts = category_counts(patterns.rows, len(LABELS))
    rng = np.random.default_rng(0)
    percentile_interval(bootstrap(lambda sets: coefficients.fleiss(sets, counts), patterns.items, RESAMPLES, rng))


def main() -> None:
    """Print the seconds of each way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        write_labels(path, made_up_codes(ITEMS, 3))
        in_pandas = python("-c", f"import pandas; pandas.read_csv({str(path)!r})")
        times = {
            "pandas.read_csv": best(lambda: pd.read_csv(path), 5),
            "read_labels": best(lambda: read_labels(path), 5),
            "read_labels, agreement_report, JSON": best(
                lambda: json_text(agreement_report(read_labels(path), resamples=RESAMPLES)), 5
            ),
            "misstep agreement, whole process": best(lambda: run(misstep("agreement", path))),
            "the same with --json": best(lambda: run(misstep("agreement", path, "--json"))),
            "python, import pandas, read_csv": best(lambda: run(in_pandas)),
        }
    study = made_up_codes(118, 3)
    kappa = best(lambda: fleiss_of_a_study(study), 20)
    print(f"{ITEMS:,} items x 3 raters, {RESAMPLES:,} resamples, beside pandas.read_csv of the same file")
    print_times(times, "pandas.read_csv")
    print("  bound for reading and reporting: 20 x")
    print(f"Fleiss' kappa of 118 items x 3 raters, {RESAMPLES:,} resamples: {1000 * kappa:.1f} ms (bound: 50 ms)")
