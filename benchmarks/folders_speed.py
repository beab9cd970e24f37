"""Measure how run folders of 1,000,000 verdicts open: `python -m benchmarks folders_speed`, with `--n 20000` fewer.

One is of a judge, by `judge import`, with a score and a reason an item; one is of `classify`, by `merge`, with four
categories a session. Each command is a process of its own.
"""

import csv
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measuring import measure, misstep, python, seconds
from benchmarks.sessions_speed import chromium
from benchmarks.shards_speed import write_shards
from misstep.harness.runs.shards.store import FolderStore

VERDICTS, MOST_MIB, MOST_SECONDS = 1_000_000, 2_048, 120
_OPEN = "import sys, misstep; print(len(misstep.open(sys.argv[1]).answers))"


def main() -> None:
    """Print what each command takes."""
    n = int(sys.argv[sys.argv.index("--n") + 1]) if "--n" in sys.argv else VERDICTS
    with tempfile.TemporaryDirectory() as name, chromium() as driver:
        folder = Path(name)
        judged_run(folder, n)
        open_all(folder / "judged", folder, driver)
        write_shards(FolderStore(folder / "classified"), folder / "generated", n)
        show("merge", misstep("merge", folder / "classified"))
        open_all(folder / "classified", folder, driver)


def judged_run(folder: Path, n: int) -> None:
    """Print what it takes to check a table of verdicts and to import it as a run."""
    benchmark, table = _made_up(folder, n)
    print(f"{n:,} verdicts\n{'':16}{'wall, s':>10}{'processor, s':>14}{'MiB':>8}")
    columns = ("--judge", "label", "--human", "human", "--score", "score")
    show("judge check", misstep("judge", "check", table, *columns))
    show("judge import", misstep("judge", "import", table, "--benchmark", benchmark, "--out", folder / "judged"))


def open_all(run: Path, folder: Path, driver: Any) -> None:
    """Print what each command takes that opens a run, and how a browser opens its page."""
    page = folder / f"{run.name}.html"
    show("show", misstep("show", run))
    show("report", misstep("report", run, "--out", page))
    opened = seconds(lambda: driver.get(page.as_uri()))
    print(f"  a page of {page.stat().st_size / 1e6:.1f} MB, which Chromium opens in {opened:.1f} s")
    show("misstep.open", python("-c", _OPEN, run))
    show("export", misstep("export", run, "--to", "csv", "--out", folder / f"{run.name}-exported"))
    show("count", misstep("count", run))


def show(what: str, command: list[str]) -> None:
    """Print what a command takes, and whether that is more than it may."""
    taken = measure(command)
    missed = taken.largest_mib > MOST_MIB or taken.processor_seconds > MOST_SECONDS
    figures = f"{taken.seconds:10.1f}{taken.processor_seconds:14.1f}{taken.largest_mib:8.0f}"
    print(f"{what:16}{figures}{'  MISSED' if missed else ''}", flush=True)


def _made_up(folder: Path, n: int) -> tuple[Path, Path]:
    """Write a benchmark, and a table of a judge's labels beside people's: it is wrong on one item in ten."""
    benchmark, table = folder / "benchmark", folder / "verdicts.csv"
    benchmark.mkdir()
    (benchmark / "benchmark.toml").write_text('name = "made_up"\nkind = "text"\nlabels = ["yes", "no"]\n')
    gold, items = benchmark / "gold.csv", benchmark / "items.jsonl"
    with gold.open("w") as of_people, items.open("w") as texts, table.open("w") as of_judge:
        rate, judge = csv.writer(of_people).writerow, csv.writer(of_judge).writerow
        rate(["item", "rater", "label"])
        judge(["item", "label", "human", "score", "reason"])
        for number in range(n):
            item, human = f"item-{number}", "no" if number % 3 else "yes"
            label = human if number * 7919 % 10 else {"no": "yes", "yes": "no"}[human]
            text = f"The agent runs the tests a {number}th time and reads the same error."
            texts.write(json.dumps({"id": item, "kind": "text", "text": text}) + "\n")
            rate([item, "made up", human])
            score = 0.5 + number * 104729 % 50 / 100
            judge([item, label, human, score, f"It goes on as before in step {number % 40}."])
    return benchmark, table
