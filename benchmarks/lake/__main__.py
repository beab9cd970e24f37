"""Measure packed sessions: `python -m benchmarks lake --scout-python VENV/bin/python`.

Times are of whole commands with their start, in pairs measured in turn; what counts is the median of the ratios of the
pairs, since the machine's other work takes from both. Made-up sessions of some 30 steps and 65 kB each.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.lake.memory import measure_memory
from benchmarks.lake.queries import measure_queries
from benchmarks.lake.reading import measure_reading
from benchmarks.lake.scout import measure_beside_scout
from benchmarks.measuring import machine


def main() -> None:
    """Measure what was asked for; all of it where nothing was."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks lake", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=["reading", "queries", "memory", "scout"], help="One of the measurements.")
    parser.add_argument("--sessions", type=int, default=5000, help="Sessions to read, and to take the memory of.")
    parser.add_argument("--pairs", type=int, default=5, help="Pairs of each comparison.")
    parser.add_argument("--times", type=int, default=4, help="Times as many sessions for the second look at memory.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="Sessions to query.")
    parser.add_argument("--scout-python", type=Path, help="The Python of an environment with inspect-scout.")
    parser.add_argument("--scout-sessions", type=int, default=500, help="Sessions to scan beside Inspect Scout.")
    asked = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.only in (None, "reading"):
            measure_reading(folder, asked.sessions, asked.pairs)
        if asked.only in (None, "queries"):
            measure_queries(folder, asked.rows)
        if asked.only in (None, "memory"):
            measure_memory(folder, asked.sessions, asked.times)
        if asked.only in (None, "scout"):
            measure_beside_scout(folder, asked.scout_python, asked.scout_sessions, asked.pairs)


if __name__ == "__main__":
    main()
