"""How long `misstep classify` takes, as a multiple of the time that decoding the same JSON alone takes.

Decoding is timed inside its process, without the start of Python; `misstep` is timed from outside, with it. All are
measured in turn, several times, and the fastest of each counts: the machine's other work only ever adds. What two
processes that share nothing gain on the machine is measured as well: two workers cannot gain more.
"""

import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path

from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Taken, machine, measure

NUMBER = 5000
ROUNDS = 3
MOST_TIMES_DECODING = 4.0
LEAST_GAIN_OF_TWO = 1.6
MOST_MIB = 300

_DECODE = """
import sys, time, msgspec
decode = msgspec.json.Decoder().decode
started = time.perf_counter()
with open(sys.argv[1], "rb") as stream:
    for line in stream:
        decode(line)
print(time.perf_counter() - started)
"""

_SPIN = """
import time
started = time.perf_counter()
for number in range(10_000_000):
    number & 3
print(time.perf_counter() - started)
"""


def main() -> None:
    """Make the file, measure, print the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "runs.jsonl"
        write_runs(file, NUMBER)
        half = folder / "half.jsonl"
        write_runs(half, NUMBER // 2)
        print(f"{machine()}")
        print(f"{NUMBER:,} trajectories, {file.stat().st_size / 1e6:.0f} MB, best of {ROUNDS} rounds in turn")
        decoding: list[float] = []
        gains: list[float] = []
        taken: dict[str, list[Taken]] = {"1 worker": [], "2 workers": [], "1 worker, half the trajectories": []}
        for turn in range(ROUNDS):
            decoding.append(float(measure([sys.executable, "-c", _DECODE, str(file)]).output))
            gains.append(gain_of_two_processes())
            taken["1 worker"].append(measure(_classify(file, 1, folder / f"one-{turn}")))
            taken["2 workers"].append(measure(_classify(file, 2, folder / f"two-{turn}")))
            taken["1 worker, half the trajectories"].append(measure(_classify(half, 1, folder / f"half-{turn}")))
        _report(min(decoding), max(gains), taken)


def gain_of_two_processes() -> float:
    """Return how much more two processes of nothing but Python do at once than one does alone."""
    command = [sys.executable, "-c", _SPIN]
    alone = float(measure(command).output)
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    return 2 * alone / max(float(process.communicate()[0]) for process in both)


def _classify(file: Path, workers: int, run: Path) -> list[str]:
    return [sys.executable, "-m", "misstep", "classify", str(file), "--workers", str(workers), "--out", str(run)]


def _report(decoding: float, gain: float, taken: dict[str, list[Taken]]) -> None:
    print(f"\n{'':33}{'seconds':>8}{'x decoding':>12}{'MiB, all':>10}{'MiB, one':>10}")
    print(f"{'decoding alone':33}{decoding:8.2f}{1:12.2f}")
    for name, rounds in taken.items():
        seconds = min(one.seconds for one in rounds)
        together, largest = max(one.together_mib for one in rounds), max(one.largest_mib for one in rounds)
        print(f"{name:33}{seconds:8.2f}{seconds / decoding:12.2f}{together:10.0f}{largest:10.0f}")
    one, two = (min(round_.seconds for round_ in taken[name]) for name in ("1 worker", "2 workers"))
    memory = max(one.together_mib for rounds in taken.values() for one in rounds)
    print()
    print(_judged("one worker, times decoding", one / decoding, most=MOST_TIMES_DECODING))
    print(_judged("two workers, times as fast as one", one / two, least=LEAST_GAIN_OF_TWO))
    print(f"{'two processes that share nothing':36}{gain:8.2f}")
    print(_judged("memory, MiB", memory, most=MOST_MIB))


def _judged(what: str, value: float, most: float = inf, least: float = -inf) -> str:
    aim = f"at least {least:g}" if most == inf else f"at most {most:g}"
    return f"{what:36}{value:8.2f}  ({aim}: {'met' if least <= value <= most else 'MISSED'})"


if __name__ == "__main__":
    main()
