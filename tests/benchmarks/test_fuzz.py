"""Mutated recordings through everything: a slice of `benchmarks.fuzz`, and that it finds what it looks for."""

import subprocess
import sys
from pathlib import Path

CASES = 280
SEED = 1_000_003


def test_a_benchmark_is_run_with_its_options_by_the_line_that_the_documents_give() -> None:
    line = [sys.executable, "-m", "benchmarks", "fuzz", "--n", "3", "--seed", "7"]
    done = subprocess.run(line, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert "3 mutated inputs, seed 7" in done.stdout
