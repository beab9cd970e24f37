"""Measure packed sessions: `python -m benchmarks lake --scout-python VENV/bin/python`.

Times are of whole commands, in pairs measured in turn; the median of the ratios counts, since the machine's other work
takes from both. Made-up sessions of some 30 steps and 65 kB each.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from benchmarks.lake.scout import measure_beside_scout
from benchmarks.made_up_runs import write_runs
from benchmarks.measuring import Usage, judged, machine, measure, misstep, seconds, verdict
from misstep.harness.lake.columns import PackedRow, record_batch
from misstep.harness.lake.index import query
from misstep.harness.lake.packing import Chunk, Parts, Sizes

MOST_TIMES_JSON, MOST_SECONDS, MOST_TIMES_MEMORY = 1.0, 1.0, 1.1
_GROUP_ROWS, _FILE_BYTES, _ROUNDS = 4000, 1_000_000, 5
_CONDITIONS = (
    ("model = 'model-3' and n_steps > 50", ["transcript_id"]),
    ("success = true and (agent = 'agent-1' or total_tokens > 90000)", ["transcript_id", "model", "n_steps"]),
    ("transcript_id = 'run-0500000'", []),
    ("", ["model", "success"]),
)


def _pack(path: Path, lake: Path) -> Usage:
    return measure(misstep("pack", path, "--workers", 1, "--out", lake))


def _classify(path: Path, run: str, workers: int) -> Usage:
    return measure(misstep("classify", path, "--workers", workers, "--out", path.parent / run))


def _bytes_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def _measure_reading(folder: Path, number: int, pairs: int) -> None:
    lines, lake = folder / "runs.jsonl", folder / "lake"
    write_runs(lines, number)
    packing = _pack(lines, lake)
    before, after = lines.stat().st_size, _bytes_of(lake)
    print(f"\n{number:,} sessions, {before / 1e6:.0f} MB as JSON Lines, {after / 1e6:.0f} MB packed:", end=" ")
    print(f"{before / after:.1f} times smaller, packed in {packing.seconds:.1f} s by one worker")
    head = f"{'classify --out':12}{'JSON Lines':>16}{'Parquet':>12}{'Parquet / JSON Lines':>24}"
    print(f"\n{head}{'lowest':>9}{'highest':>9}")
    for workers in (1, 2):
        usages: dict[Path, list[Usage]] = {lines: [], lake: []}
        for pair in range(pairs):
            for path in (lake, lines) if pair % 2 else (lines, lake):
                usages[path].append(_classify(path, f"{path.stem}-{workers}-{pair}", workers))
        for what, name in (("s", "seconds"), ("processor s", "processor_seconds")):
            json, parquet = ([getattr(one, name) for one in usages[path]] for path in (lines, lake))
            ratios = sorted(new / old for old, new in zip(json, parquet, strict=True))
            print(
                f"{f'{workers} workers, {what}':20}{median(json):8.2f}{median(parquet):12.2f}{median(ratios):24.3f}"
                f"{ratios[0]:9.3f}{ratios[-1]:9.3f}  {verdict(median(ratios), MOST_TIMES_JSON)}"
            )
    is_same = _without_place(folder / "runs-1-0") == _without_place(folder / "lake-1-0")
    print(f"the same verdicts: {'yes' if is_same else 'NO'}")


def _without_place(run: Path) -> list[dict[str, object]]:
    lines = (run / "verdicts.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line) | {"file": "", "line": None} for line in lines]


def _measure_queries(folder: Path, number: int) -> None:
    """Print the seconds of some queries on as many files, row groups and rows as sessions of 65 kB have."""
    lake = folder / "million"
    lake.mkdir()
    parts = list(Parts(lake, Sizes(group=1, file=_FILE_BYTES)).write(_chunks(number)))
    groups = sum(part.row_groups for part in parts)
    print(f"\n{number:,} sessions in {len(parts):,} files with {groups:,} row groups, {_bytes_of(lake) / 1e6:.0f} MB")
    slowest = 0.0
    for where, columns in _CONDITIONS:
        middle = median(seconds(lambda w=where, c=columns: query(str(lake), c, w)) for _ in range(_ROUNDS))
        slowest = max(slowest, middle)
        matches = len(query(str(lake), columns, where))
        print(f"{middle:8.3f} s  {matches:>9,} sessions  {where or 'no condition'}")
    print(judged("the slowest, seconds", slowest, MOST_SECONDS))
    command = measure(misstep("sessions", lake, "--where", _CONDITIONS[0][0]))
    print(f"{command.seconds:8.3f} s  `misstep sessions` with the first, from its start; {command.largest_mib:.0f} MiB")


def _chunks(number: int) -> Iterator[Chunk]:
    for first in range(0, number, _GROUP_ROWS):
        rows = [_row(place) for place in range(first, min(first + _GROUP_ROWS, number))]
        yield Chunk(record_batch(rows), sum(row.n_bytes for row in rows), 1.0)


def _row(place: int) -> PackedRow:
    return PackedRow(
        transcript_id=f"run-{place:07}",
        source_type="claude_code",
        source_uri=f"logs/{place // 50}.jsonl",
        date=f"2026-01-{1 + place % 28:02}T10:00:00Z",
        task_set=None,
        agent=f"agent-{place % 5}",
        model=f"model-{place // 97 % 8}",
        score=None,
        success=(True, False, None)[place % 3],
        message_count=place % 130,
        total_time=float(place % 977),
        total_tokens=place % 100_003,
        n_steps=place % 65,
        n_bytes=3,
        sha256=f"{place * 0x9E3779B97F4A7C15 % (1 << 64):064x}",
        cluster=f"run-{place:07}",
        reader="claude_code",
        reader_version="1",
        messages=None,
        atif=b'"x"',
    )


def _measure_memory(folder: Path, number: int, times: int) -> None:
    peaks: dict[str, list[float]] = {}
    for size in (number, number * times):
        lines, lake = folder / f"{size}.jsonl", folder / f"{size}-lake"
        write_runs(lines, size)
        peaks.setdefault("pack, 1 worker", []).append(_pack(lines, lake).together_mib)
        for workers in (1, 2):
            usage = _classify(lake, f"{size}-{workers}", workers)
            peaks.setdefault(f"classify, {workers} workers", []).append(usage.together_mib)
    print(f"\n{'peak of all processes, MiB':28}{number:>12,}{number * times:>12,}{'ratio':>12}")
    for name, (few, many) in peaks.items():
        print(f"{name:28}{few:12.0f}{many:12.0f}{many / few:12.2f} {verdict(many / few, MOST_TIMES_MEMORY)}")


def main() -> None:
    """Measure what was asked for; all of it by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks lake", description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=["reading", "queries", "memory", "scout"], help="One of the measurements.")
    parser.add_argument("--sessions", type=int, default=5000, help="Sessions to read, and to take the memory of.")
    parser.add_argument("--pairs", type=int, default=5, help="Pairs of each comparison.")
    parser.add_argument("--times", type=int, default=4, help="Times as many sessions for the second look at memory.")
    parser.add_argument("--rows", type=int, default=1_000_000, help="Sessions to query.")
    parser.add_argument("--scout-python", type=Path, help="The Python of an environment with inspect-scout.")
    parser.add_argument("--scout-sessions", type=int, default=500, help="Sessions to scan beside Inspect Scout.")
    options = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measurements = {
            "reading": lambda: _measure_reading(folder, options.sessions, options.pairs),
            "queries": lambda: _measure_queries(folder, options.rows),
            "memory": lambda: _measure_memory(folder, options.sessions, options.times),
            "scout": lambda: measure_beside_scout(folder, options.scout_python, options.scout_sessions, options.pairs),
        }
        for name in [options.only] if options.only else measurements:
            measurements[name]()


if __name__ == "__main__":
    main()
