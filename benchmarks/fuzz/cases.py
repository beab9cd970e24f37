"""Put one mutated recording through readers, ATIF, classifiers, pages, and what a judge is shown."""

import io
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzz.mutations import mutated
from misstep_analysis.pages import Foot
from misstep_analysis.pages.trajectory import trajectory_page
from misstep_analysis.sessions.listed import ListedRuns, listed_run, runs_page
from misstep_harness.benchmarks.trajectories import BenchmarkRuns, runs_by_id
from misstep_harness.classifiers import classify_all
from misstep_harness.errors import MisstepError
from misstep_harness.items import Item, numbered_items
from misstep_harness.judges import read_known
from misstep_harness.judges.fencing import fence, fenced_parts
from misstep_harness.judges.fit import GENERAL
from misstep_harness.judges.prompted import whole_item
from misstep_harness.observer.replay import ReplayOptions, replay
from misstep_harness.readers import READERS, reader_for
from misstep_harness.readers.checking import read_value
from misstep_harness.readers.interchange.atif import from_atif, read, to_atif
from misstep_harness.runs.inputs import trajectories
from misstep_harness.trajectory import Source, Trajectory, Unreadable
from misstep_harness.verdict import Verdict
from tests.families.recordings import recording_of

SECONDS = 10.0
"""Limit of the processor's time for a case: a busy machine is not a failure."""

ROOM = 40_000
_known = cache(read_known)
FORMS = (*sorted(READERS), "items", "parquet")
"""What is mutated: a recording of each format, the items of a benchmark, a Parquet file of chats and transcripts."""

_READER_OF = {"items": "misstep", "parquet": "inspect_scout"}


class TooSlow(Exception):
    """A case took longer than it may."""


def case_of(seed: int, number: int) -> tuple[str, bytes]:
    """Return the form and the bytes of a case, which follow from seed and number alone."""
    rng = Random(f"{seed}:{number}")  # noqa: S311 (the same cases again and again)
    form = FORMS[number % len(FORMS)]
    return form, mutated(rng, sample_of(form))


@cache
def sample_of(form: str) -> bytes:
    """Return the made-up recording that is mutated."""
    if form == "items":
        recorded = read_value(sample_of("claude_code"), reader_for("claude_code"), Source("claude_code", "recording"))
        runs = [msgspec.to_builtins(run) for run in recorded]
        items = [
            Item(f"i{n}", "misbehaviour", trajectory=run, step=1, extra={"note": [n]}) for n, run in enumerate(runs)
        ]
        items += [
            Item("path", "misbehaviour", trajectory="runs.jsonl", trajectory_id="x"),
            Item("t", "text", text="A."),
        ]
        return b"".join(msgspec.json.encode(item) + b"\n" for item in items)
    return _parquet() if form == "parquet" else recording_of(form)


def _parquet() -> bytes:
    rows = [msgspec.json.decode(recording_of("inspect_scout")) | {"transcript_id": name} for name in "abc"]
    texts = {name: msgspec.json.encode(rows[0][name]).decode() for name in ("messages", "events")}
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row | texts for row in rows]), stream, row_group_size=2, compression="zstd")
    return stream.getvalue()


def run(form: str, data: bytes, folder: Path) -> int:
    """Put one case through everything; returns the number of trajectories that came of it."""
    count = 0
    with _within(SECONDS):
        for trajectory in _read(form, data, folder):
            count += 1
            _work_through(trajectory)
    return count


def _read(form: str, data: bytes, folder: Path) -> Iterator[Trajectory]:
    reader = reader_for(_READER_OF.get(form, form))
    file = folder / ("items.jsonl" if form == "items" else "recording")
    file.write_bytes(data)
    readings: list[Any] = [
        lambda: trajectories([file]),
        lambda: trajectories([folder]),
        lambda: runs_by_id(file).values(),
        lambda: read_value(data, reader, Source(reader.FORMAT, "recording", 3)),
    ]
    if form == "items":
        readings.append(lambda: _runs_of_items(folder))
    for reading in readings:
        try:
            for trajectory in reading():
                if isinstance(trajectory, Trajectory):
                    yield trajectory
                elif isinstance(trajectory, Unreadable):
                    trajectory.error.encode()
        except MisstepError as error:
            error.line()


def _runs_of_items(folder: Path) -> Iterator[Trajectory]:
    runs = BenchmarkRuns(folder)
    try:
        for _, item in numbered_items(folder):
            try:
                runs_of_item = runs.of(item)
            except MisstepError as error:
                error.line()
                continue
            _show(item, runs_of_item)
            if runs_of_item is not None:
                yield runs_of_item
    except MisstepError as error:
        error.line()


def _work_through(trajectory: Trajectory) -> None:
    document = to_atif(trajectory)
    again = list(read(msgspec.json.encode(document), Source("atif")))
    if again != [trajectory] or from_atif(document) != trajectory:
        raise AssertionError("read back from ATIF it is another run")
    verdicts = classify_all(trajectory)
    for verdict in verdicts:
        if verdict.status == "failed":
            raise AssertionError(f"{verdict.judge}: {verdict.error}")
    for invocation in replay(trajectory, ReplayOptions(arm="guide")).invocations:
        if invocation.status == "failed":
            raise AssertionError(f"the observer: {invocation.error}")
    _pages(trajectory, tuple(verdicts))
    _show(Item("i", "misbehaviour", step=min(1, len(trajectory.steps))), trajectory)


def _pages(trajectory: Trajectory, verdicts: tuple[Verdict, ...]) -> None:
    foot = Foot("misstep view recording")
    trajectory_page(trajectory, verdicts, foot).encode()
    runs = ListedRuns()
    runs.add(listed_run(trajectory, "recording", None, verdicts))
    runs_page("recording", [verdict.judge for verdict in verdicts], runs, (), foot).encode()


def _show(item: Item, trajectory: Trajectory | None) -> None:
    shown = whole_item(_known(GENERAL), item, trajectory, ROOM).text
    shown.encode()
    if len(fenced_parts(fence(shown))) != 1:
        raise AssertionError("a text leaves its fence")
    fenced_parts(shown)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise `TooSlow` in what takes longer."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"over {seconds:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
