"""How fast, how small and how soon again a judge's run is: `python -m benchmarks judge_speed`.

`misstep judge run` asks a stub on loopback that takes 200 ms a request, with 100 in flight: 500 items a second are
the ideal. Beside it stand a bare aiohttp session and the openai client with its own aiohttp transport, in one run. Then
the same items from the cache, at three sizes; a run that is killed half-way and gone on with; a finished run asked for
again; and a run of one item.
"""

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.client_speed import IN_FLIGHT, LATENCY_SECONDS, PROMPT, compare
from benchmarks.measuring import Taken, machine, measure

ITEMS, FEW, ROUNDS = 20_000, 1_000, 3
RATE_BOUND, CACHED_BOUND, MIB_BOUND, RESUME_BOUND = 0.85, 5_000, 200, 2.0
UNCHANGED_BOUND, ONE_BOUND = 1.0, 1.5
IDEAL = IN_FLIGHT / LATENCY_SECONDS


class Stub:
    """The stub server in its own process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._line()

    def report(self) -> dict[str, Any]:
        """Return what came since the last report."""
        if self._process.stdin is None:
            sys.exit("the stub has no pipes")
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        told: dict[str, Any] = json.loads(self._line())
        return told

    def _line(self) -> str:
        if self._process.stdout is None:
            sys.exit("the stub has no pipes")
        return self._process.stdout.readline().strip()


@contextmanager
def stub() -> Iterator[Stub]:
    """Return a stub that is there for a while."""
    command = [sys.executable, "-m", "benchmarks.stub_server", str(LATENCY_SECONDS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Stub(process)
        if process.stdin is not None:
            process.stdin.close()


def made_up(folder: Path, items: int) -> Path:
    """Return a benchmark of so many texts of 4 kB, and a judge beside it."""
    benchmark = folder / f"{items}-items"
    benchmark.mkdir()
    (benchmark / "benchmark.toml").write_text('name = "made_up"\nkind = "text"\nlabels = ["yes", "no"]\n')
    with (benchmark / "items.jsonl").open("w") as stream, (benchmark / "gold.csv").open("w") as gold:
        gold.write("item,rater,label\n")
        for number in range(items):
            item = {"id": f"item-{number}", "kind": "text", "text": f"{number} {PROMPT}"}
            stream.write(json.dumps(item) + "\n")
            gold.write(f"item-{number},made up,{'no' if number % 3 else 'yes'}\n")
    (folder / "prompt.md").write_text(
        "---\nname: goes_on\nversion: 1\nplaceholders: labels, text\n---\nDoes it go on?\n{labels}\n\n"
        "<!-- item -->\n\n{text}\n"
    )
    (folder / "judge.toml").write_text(
        'name = "goes_on"\nkind = "text"\nlabels = ["yes", "no"]\nprompt = "prompt.md"\n[model]\nname = "stub-model"\n'
    )
    return benchmark


def command(folder: Path, benchmark: Path, out: str, address: str, cache: Path | None = None) -> list[str]:
    """Return the command line of a run."""
    asked = [sys.executable, "-m", "misstep", "judge", "run", str(folder / "judge.toml"), "--benchmark", str(benchmark)]
    kept = [] if cache is None else ["--cache", str(cache)]
    return [*asked, "--out", str(folder / out), "--base-url", address, "--concurrency", str(IN_FLIGHT), *kept]


def fresh(server: Stub, folder: Path, benchmark: Path, cache: Path) -> None:
    """A whole run that asks everything."""
    server.report()
    taken = measure(command(folder, benchmark, "fresh", server.address, cache))
    came = server.report()
    rate = (came["requests"] - 1) / (came["last"] - came["first"])
    print(f"judge run, {ITEMS:,} items: {rate:.0f}/s, {rate / IDEAL:.1%} of the ideal (bound {RATE_BOUND:.0%})")
    _told("  the whole command, scores and page included", taken, ITEMS)
    print(f"  at most {came['at_once']} requests with the server at once")


def cached(server: Stub, folder: Path, benchmark: Path, cache: Path, items: int) -> None:
    """The first so many items again, from the cache."""
    verdicts = folder / f"cached-{items}" / "verdicts.jsonl"
    started = time.time()
    taken = measure(command(folder, benchmark, f"cached-{items}", server.address, cache))
    asked = server.report()["requests"]
    seconds = verdicts.stat().st_mtime - started
    given = verdicts.read_bytes().count(b"\n")
    print(
        f"cached, {given:,} verdicts, {asked} asked: the last is written {seconds:.2f} s after the command's start,"
        f" {given / seconds:,.0f}/s (bound {CACHED_BOUND:,}/s)"
    )
    _told("  the whole command, scores and page included", taken, items)


def resumed(server: Stub, folder: Path, benchmark: Path) -> None:
    """A run killed half-way, and how soon the same command asks again."""
    line = command(folder, benchmark, "killed", server.address)
    verdicts = folder / "killed" / "verdicts.jsonl"
    with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
        while not verdicts.exists() or verdicts.read_bytes().count(b"\n") < ITEMS // 2:
            time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
    answered = verdicts.read_bytes().count(b"\n")
    time.sleep(2 * LATENCY_SECONDS)
    server.report()
    started = time.monotonic()
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    came = server.report()
    print(
        f"resumed after {answered:,} answers: asks {came['first'] - started:.2f} s after its start (bound"
        f" {RESUME_BOUND:g} s), {came['requests']:,} requests for the {ITEMS - answered:,} items left"
    )


def short(server: Stub, folder: Path) -> None:
    """A finished run asked for again, and one item; the fastest of several rounds, as other work only ever adds."""
    line = command(folder, made_up(folder, FEW), "few", server.address)
    measure(line)
    server.report()
    seconds = min(measure(line).seconds for _ in range(ROUNDS))
    asked = server.report()["requests"]
    print(f"{FEW:,} unchanged items: {seconds:.2f} s, {asked} asked (bound {UNCHANGED_BOUND:g} s)")
    one = made_up(folder, 1)
    lines = [command(folder, one, f"one-{turn}", server.address) for turn in range(ROUNDS)]
    seconds = min(measure(line).seconds for line in lines)
    print(
        f"one item: {seconds - LATENCY_SECONDS:.2f} s beside the server's {LATENCY_SECONDS:g} s (bound {ONE_BOUND:g} s)"
    )


def _told(what: str, taken: Taken, items: int) -> None:
    print(
        f"{what}: {taken.seconds:.1f} s, {items / taken.seconds:,.0f}/s, {taken.largest_mib:.0f} MiB"
        f" (bound {MIB_BOUND} MiB)"
    )


def main() -> None:
    """Print all of it."""
    print(machine())
    with stub() as server, tempfile.TemporaryDirectory() as made:
        for name, measured in asyncio.run(compare(server.address)).items():
            print(f"{name:36}{measured.a_second:6.0f}/s {measured.a_second / IDEAL:6.1%} of the ideal")
        folder = Path(made)
        short(server, folder)
        benchmark = made_up(folder, ITEMS)
        cache = folder / "cache"
        fresh(server, folder, benchmark, cache)
        for items in (ITEMS // 4, ITEMS // 2):
            cached(server, folder, made_up(folder, items), cache, items)
        cached(server, folder, benchmark, cache, ITEMS)
        resumed(server, folder, benchmark)


if __name__ == "__main__":
    main()
