"""Measure `misstep classify`, its process included, as a multiple of decoding the same JSON, without its process."""

import tempfile
from itertools import count
from pathlib import Path

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Usage, gain_of_two_processes, in_turn, judged, measure, misstep, python

NUMBER, ROUNDS = 5000, 3
MOST_TIMES_DECODING, LEAST_GAIN_OF_TWO, MOST_MIB = 4.0, 1.6, 300

_DECODE = """
import sys, time, msgspec
decode = msgspec.json.Decoder().decode
started = time.perf_counter()
with open(sys.argv[1], "rb") as stream:
    for line in stream:
        decode(line)
print(time.perf_counter() - started)
"""


def main() -> None:
    """Print the ratios."""
    numbers = count()
    with tempfile.TemporaryDirectory() as name:
        file, half = Path(name, "runs.jsonl"), Path(name, "half.jsonl")
        write_runs(file, NUMBER)
        write_runs(half, NUMBER // 2)
        print(f"{NUMBER:,} trajectories, {file.stat().st_size / 1e6:.0f} MB, best of {ROUNDS} rounds")

        def classified(runs: Path, workers: int) -> Usage:
            return measure(misstep("classify", runs, "--workers", workers, "--out", f"{name}/{next(numbers)}"))

        usage = in_turn(
            {
                "1 worker": lambda: classified(file, 1),
                "2 workers": lambda: classified(file, 2),
                "1 worker, half the trajectories": lambda: classified(half, 1),
            },
            ROUNDS,
        )
        decoding = min(float(measure(python("-c", _DECODE, file)).output) for _ in range(ROUNDS))
    print(f"\n{'':33}{'seconds':>8}{'x decoding':>12}{'MiB, all':>10}{'MiB, one':>10}")
    print(f"{'decoding alone':33}{decoding:8.2f}{1:12.2f}")
    least = {what: min(one.seconds for one in rounds) for what, rounds in usage.items()}
    memory = {what: max(one.together_mib for one in rounds) for what, rounds in usage.items()}
    for what, rounds in usage.items():
        largest = max(one.largest_mib for one in rounds)
        print(f"{what:33}{least[what]:8.2f}{least[what] / decoding:12.2f}{memory[what]:10.0f}{largest:10.0f}")
    print()
    print(judged("one worker, times decoding", least["1 worker"] / decoding, most=MOST_TIMES_DECODING))
    print(judged("two workers, times as fast as one", least["1 worker"] / least["2 workers"], least=LEAST_GAIN_OF_TWO))
    print(f"{'two processes that share nothing':36}{gain_of_two_processes():8.3f}")
    print(judged("memory, MiB", max(memory.values()), most=MOST_MIB))
