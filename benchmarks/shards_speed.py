"""How long `misstep merge` takes for 64 shards with 1,000,000 verdicts, as a multiple of copying the same bytes.

    python -m benchmarks shards_speed

Generated sessions are judged by the rules, without the texts that the page shows of flagged ones, and repeated under
other ids until there are enough verdicts. What a merge does is timed in steps: the shards read, checked and joined into
the records of the run; with the scores; and with the page, which reads all records again. Seconds are those of the
processor, since the machine has other work. The fastest of several rounds counts.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

from msgspec import structs

from benchmarks.measuring import machine
from misstep.analysis.pages.findings import findings
from misstep.harness.classifiers import CLASSIFIERS, classify_all
from misstep.harness.journal.classified import Judged, Summary
from misstep.harness.journal.inputs import FileState
from misstep.harness.journal.records import SCORES
from misstep.harness.lake.store import FolderStore, Store
from misstep.harness.runs.classify import judge_of, manifest_of
from misstep.harness.runs.file_batches import batches, found_files
from misstep.harness.runs.generate import GenerateOptions, write_folder
from misstep.harness.runs.shards.layout import shards_of
from misstep.harness.runs.shards.merge import merge_shards
from misstep.harness.runs.shards.parts import PART_BYTES, Marker, write_marker, write_parts
from misstep.harness.runs.shards.plan import Plan, frozen_plan
from misstep.studies.classified_paths import as_json, merge_classified

CATEGORIES = tuple(CLASSIFIERS)
SHARDS, VERDICTS, GENERATED, ROUNDS = 64, 1_000_000, 500, 3
MOST_SECONDS = 2.0


def main() -> None:
    """Write the shards, merge them, print the seconds and the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = FolderStore(folder / "run")
        plan, digest = _write_shards(store, folder / "generated")
        steps: dict[str, Callable[[], object]] = {
            "copying the bytes of the parts": lambda: shutil.copytree(folder / "run" / "shards", folder / "copy"),
            "records": lambda: merge_shards(store, plan, digest, lambda _summary, _folder: {}),
            "records and scores": lambda: merge_shards(store, plan, digest, _scores),
            "records, scores and page": lambda: merge_classified(store, plan, digest),
        }
        taken: dict[str, list[float]] = {step: [] for step in steps}
        for _ in range(ROUNDS):
            for step, work in steps.items():
                started = time.process_time()
                work()
                taken[step].append(time.process_time() - started)
                _forget(folder)
    _report({step: min(seconds) for step, seconds in taken.items()})


def _write_shards(store: Store, generated: Path) -> tuple[Plan, str]:
    write_folder(generated, GenerateOptions(GENERATED, 0))
    judge = judge_of(CATEGORIES, classify_all, keep_lines=True)
    judged = [judge(batch) for batch in batches(found_files([generated]))]
    asked = Plan(SHARDS, manifest_of(CATEGORIES, ["runs", "--out", "run"]), ("runs",))
    plan, digest = frozen_plan(store, asked)
    repeats = VERDICTS // len(CATEGORIES) // sum(len(one.items) for one in judged) // SHARDS + 1
    copies = (_renamed(one, f"{number:08}") for number, one in enumerate(cycle(judged)))
    sessions = size = 0
    for shard in shards_of(SHARDS):
        parts, counts = write_parts(store, shard, islice(copies, repeats * len(judged)), PART_BYTES)
        file = FileState(f"runs/{shard.number}.jsonl", 1, 1, 1)
        write_marker(store, shard, Marker(digest, tuple(parts), (file,), counts))
        sessions += counts.sessions
        size += sum(part.bytes for part in parts)
    print(machine())
    print(f"{SHARDS} shards, {sessions * len(CATEGORIES):,} verdicts on {sessions:,} sessions, {size / 1e6:.0f} MB")
    return plan, digest


def _renamed(judged: Judged, number: str) -> Judged:
    """Return the same stretch with a number behind each id, so that no session has the id of another."""
    items = [(f"{item}-{number}", *lengths) for item, *lengths in judged.items]
    lines, sessions = (
        [_with_id(piece, item, f"{item}-{number}") for item, piece in _pieces(judged, content, place)]
        for place, content in ((1, judged.lines), (2, judged.sessions))
    )
    lengths = zip(items, map(len, lines), map(len, sessions), strict=True)
    return structs.replace(
        judged,
        lines=b"".join(lines),
        sessions=b"".join(sessions),
        items=[(item[0], verdicts, session) for item, verdicts, session in lengths],
    )


def _pieces(judged: Judged, content: bytes, place: int) -> Iterator[tuple[str, bytes]]:
    start = 0
    for one in judged.items:
        length = one[1] if place == 1 else one[2]
        yield one[0], content[start : start + length]
        start += length


def _with_id(lines: bytes, item: str, named: str) -> bytes:
    return lines.replace(f'"item":"{item}"'.encode(), f'"item":"{named}"'.encode())


def _scores(summary: Summary, _folder: Path) -> dict[str, bytes]:
    return {SCORES: as_json(findings(CATEGORIES, summary))}


def _forget(folder: Path) -> None:
    """Take the merged run away, and keep its shards."""
    shutil.rmtree(folder / "copy", ignore_errors=True)
    for file in (folder / "run").iterdir():
        if file.is_file():
            file.unlink()


def _report(taken: dict[str, float]) -> None:
    copying = next(iter(taken.values()))
    print(f"\n{'':32}{'seconds':>8}{'x copying':>11}")
    for step, seconds in taken.items():
        print(f"{step:32}{seconds:8.2f}{seconds / copying:11.1f}")
    met = "met" if taken["records and scores"] <= MOST_SECONDS else "MISSED"
    print(f"\nrecords and scores, seconds (at most {MOST_SECONDS:g}: {met})")


if __name__ == "__main__":
    main()
