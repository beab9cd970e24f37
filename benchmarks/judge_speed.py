"""Measure how fast, how small and how soon again a judge's run is: `python -m benchmarks judge_speed`.

The stub on loopback takes 200 ms a request, with 100 in flight: 500 items a second are the ideal.
"""

import asyncio
import json
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.client_speed import IDEAL, IN_FLIGHT, LATENCY_SECONDS, PROMPT, print_rates
from benchmarks.measuring import Usage, measure, misstep
from benchmarks.stub_server import Stub, stub

ITEMS, FEW, ROUNDS = 20_000, 1_000, 3
RATE_BOUND, CACHED_BOUND, MIB_BOUND, RESUME_BOUND = 0.85, 5_000, 200, 2.0
UNCHANGED_BOUND, ONE_BOUND = 1.0, 1.5


def _made_up(folder: Path, items: int) -> Path:
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


class _Runs:
    """Runs of the judge in a folder, against a server."""

    def __init__(self, folder: Path, server: Stub) -> None:
        self.folder, self._server = folder, server

    def command(self, benchmark: Path, out: str, *options: object) -> list[str]:
        judge = ["judge", "run", self.folder / "judge.toml", "--benchmark", benchmark, "--out", self.folder / out]
        return misstep(*judge, "--base-url", self._server.address, "--concurrency", IN_FLIGHT, *options)

    def came(self) -> dict[str, Any]:
        """Return the server's report since the last one."""
        report: dict[str, Any] = json.loads(self._server.report())
        return report

    def fresh(self, benchmark: Path, cache: Path) -> None:
        """Print what a whole run takes that asks everything."""
        self.came()
        usage = measure(self.command(benchmark, "fresh", "--cache", cache))
        came = self.came()
        rate = (came["requests"] - 1) / (came["last"] - came["first"])
        print(f"judge run, {ITEMS:,} items: {rate:.0f}/s, {rate / IDEAL:.1%} of the ideal (bound {RATE_BOUND:.0%})")
        _print_whole(usage, ITEMS)
        print(f"  at most {came['at_once']} requests with the server at once")

    def cached(self, benchmark: Path, cache: Path, items: int) -> None:
        """Print what the first so many items take again, from the cache."""
        verdicts = self.folder / f"cached-{items}" / "verdicts.jsonl"
        started = time.time()
        usage = measure(self.command(benchmark, f"cached-{items}", "--cache", cache))
        calls = self.came()["requests"]
        each = verdicts.stat().st_mtime - started
        answers = verdicts.read_bytes().count(b"\n")
        print(
            f"cached, {answers:,} verdicts, {calls} asked: the last is written {each:.2f} s after the command's start,"
            f" {answers / each:,.0f}/s (bound {CACHED_BOUND:,}/s)"
        )
        _print_whole(usage, items)

    def resumed(self, benchmark: Path) -> None:
        """Print how soon a run that was killed half-way asks again."""
        line = self.command(benchmark, "killed")
        verdicts = self.folder / "killed" / "verdicts.jsonl"
        with subprocess.Popen(line, stdout=subprocess.DEVNULL) as process:
            while not verdicts.exists() or verdicts.read_bytes().count(b"\n") < ITEMS // 2:
                time.sleep(0.5)
            process.send_signal(signal.SIGKILL)
        answered = verdicts.read_bytes().count(b"\n")
        time.sleep(2 * LATENCY_SECONDS)
        self.came()
        started = time.monotonic()
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        came = self.came()
        print(
            f"resumed after {answered:,} answers: asks {came['first'] - started:.2f} s after its start (bound"
            f" {RESUME_BOUND:g} s), {came['requests']:,} requests for the {ITEMS - answered:,} items left"
        )

    def short(self) -> None:
        """Print what a finished run takes that is asked for again, and a run of one item."""
        line = self.command(_made_up(self.folder, FEW), "few")
        measure(line)
        self.came()
        least = min(measure(line).seconds for _ in range(ROUNDS))
        print(f"{FEW:,} unchanged items: {least:.2f} s, {self.came()['requests']} asked (bound {UNCHANGED_BOUND:g} s)")
        one = _made_up(self.folder, 1)
        least = min(measure(self.command(one, f"one-{turn}")).seconds for turn in range(ROUNDS)) - LATENCY_SECONDS
        print(f"one item: {least:.2f} s beside the server's {LATENCY_SECONDS:g} s (bound {ONE_BOUND:g} s)")


def _print_whole(usage: Usage, items: int) -> None:
    print(
        f"  the whole command, scores and page included: {usage.seconds:.1f} s, {items / usage.seconds:,.0f}/s,"
        f" {usage.largest_mib:.0f} MiB (bound {MIB_BOUND} MiB)"
    )


def main() -> None:
    """Print all of it."""
    with stub(LATENCY_SECONDS) as server, tempfile.TemporaryDirectory() as name:
        asyncio.run(print_rates(server.address))
        runs = _Runs(Path(name), server)
        runs.short()
        benchmark, cache = _made_up(runs.folder, ITEMS), runs.folder / "cache"
        runs.fresh(benchmark, cache)
        for items in (ITEMS // 4, ITEMS // 2):
            runs.cached(_made_up(runs.folder, items), cache, items)
        runs.cached(benchmark, cache, ITEMS)
        runs.resumed(benchmark)
