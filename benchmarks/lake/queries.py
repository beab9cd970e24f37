"""Queries of many packed sessions, whose text stays where it is."""

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.lake.commands import MISSTEP, size_of
from benchmarks.measuring import measure
from misstep.harness.lake.columns import PackedRow, record_batch
from misstep.harness.lake.index import query
from misstep.harness.lake.packing import Chunk, Parts, Sizes

MOST_SECONDS = 1.0
_GROUP_ROWS = 4000
_FILE_BYTES = 1_000_000
_ROUNDS = 5
_CONDITIONS = (
    ("model = 'model-3' and n_steps > 50", ["transcript_id"]),
    ("success = true and (agent = 'agent-1' or total_tokens > 90000)", ["transcript_id", "model", "n_steps"]),
    ("transcript_id = 'run-0500000'", []),
    ("", ["model", "success"]),
)


def measure_queries(folder: Path, number: int) -> None:
    """Print the seconds of some queries.

    The files and row groups are as many as those of sessions of 65 kB, with as many rows; the text is left small.
    """
    lake = folder / "million"
    lake.mkdir()
    parts = list(Parts(lake, Sizes(group=1, file=_FILE_BYTES)).write(_chunks(number)))
    groups = sum(part.row_groups for part in parts)
    print(f"\n{number:,} sessions in {len(parts):,} files with {groups:,} row groups, {size_of(lake) / 1e6:.0f} MB")
    slowest = 0.0
    for where, columns in _CONDITIONS:
        taken = []
        for _ in range(_ROUNDS):
            started = time.perf_counter()
            found = len(query(str(lake), columns, where))
            taken.append(time.perf_counter() - started)
        slowest = max(slowest, median(taken))
        print(f"{median(taken):8.3f} s  {found:>9,} sessions  {where or 'no condition'}")
    met = "met" if slowest <= MOST_SECONDS else "MISSED"
    print(f"{slowest:8.3f} s  the slowest (at most {MOST_SECONDS:g}: {met})")
    command = measure([*MISSTEP, "sessions", str(lake), "--where", _CONDITIONS[0][0]])
    print(f"{command.seconds:8.3f} s  `misstep sessions` with the first, from its start; {command.largest_mib:.0f} MiB")


def _chunks(number: int) -> Iterator[Chunk]:
    """Return one chunk a row group; some five of them fill a file."""
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
