"""Measure `misstep merge` of 64 shards with 1,000,000 verdicts, as a multiple of copying the same bytes.

    python -m benchmarks shards_speed

The verdicts are those of the rules on generated sessions, repeated under other ids. Seconds are those of the processor,
since the machine has other work.
"""

import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from msgspec import structs

from benchmarks.measuring import in_turn, judged, seconds
from misstep.analysis.pages.findings import findings
from misstep.harness.classifiers import CLASSIFIERS, classify_all
from misstep.harness.journal.classified import Judged
from misstep.harness.journal.inputs import FileState
from misstep.harness.journal.records import SCORES
from misstep.harness.runs.classify import ClassifyPlan
from misstep.harness.runs.file_batches import batches, found_files
from misstep.harness.runs.generate import GenerateOptions, write_folder
from misstep.harness.runs.shards.layout import shards_of
from misstep.harness.runs.shards.merge import merge_shards
from misstep.harness.runs.shards.parts import PART_BYTES, Marker, write_marker, write_parts
from misstep.harness.runs.shards.plan import Plan, frozen_plan
from misstep.harness.runs.shards.store import FolderStore
from misstep.studies.classified_paths import as_json
from misstep.studies.merged_runs import merge_run

CATEGORIES = tuple(CLASSIFIERS)
SHARDS, VERDICTS, GENERATED, ROUNDS = 64, 1_000_000, 500, 3
MOST_SECONDS, COPYING = 2.0, "copying the bytes of the parts"


def main() -> None:
    """Print the seconds of each step and the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = FolderStore(folder / "run")
        plan, digest = write_shards(store, folder / "generated")
        steps: dict[str, Callable[[], object]] = {
            COPYING: lambda: shutil.copytree(folder / "run" / "shards", folder / "copy"),
            "records": lambda: merge_shards(store, plan, digest, lambda _summary, _folder: {}),
            "records and scores": lambda: merge_shards(
                store, plan, digest, lambda summary, _: {SCORES: as_json(findings(CATEGORIES, summary))}
            ),
            "records, scores and page": lambda: merge_run(store.place),
        }
        times = in_turn({step: partial(_timed, folder, work) for step, work in steps.items()}, ROUNDS)
    least = {step: min(each) for step, each in times.items()}
    print(f"\n{'':36}{'seconds':>8}{'x copying':>11}")
    for step, each in least.items():
        print(f"{step:36}{each:8.2f}{each / least[COPYING]:11.1f}")
    print("\n" + judged("records and scores, seconds", least["records and scores"], MOST_SECONDS))


def write_shards(store: FolderStore, generated: Path, verdicts: int = VERDICTS) -> tuple[Plan, str]:
    """Write the shards of a run of `classify` with about so many verdicts; `merge` makes the run of them."""
    write_folder(generated, GenerateOptions(GENERATED, 0))
    classify_plan = ClassifyPlan(CATEGORIES, classify_all, ["runs", "--out", "run"])
    judge = classify_plan.judge(keep_lines=True)
    judged = [judge(batch) for batch in batches(found_files([generated]))]
    draft = Plan(SHARDS, classify_plan.manifest(), ("runs",))
    plan, digest = frozen_plan(store, draft)
    repeats = verdicts // len(CATEGORIES) // sum(len(one.items) for one in judged) // SHARDS + 1
    copies = (_renamed(one, f"{number:08}") for number, one in enumerate(cycle(judged)))
    sessions = size = 0
    for shard in shards_of(SHARDS):
        parts, counts = write_parts(store, shard, islice(copies, repeats * len(judged)), PART_BYTES)
        file = FileState(f"runs/{shard.number}.jsonl", 1, 1, 1)
        write_marker(store, shard, Marker(digest, tuple(parts), (file,), counts))
        sessions += counts.sessions
        size += sum(part.bytes for part in parts)
    print(f"{SHARDS} shards, {sessions * len(CATEGORIES):,} verdicts on {sessions:,} sessions, {size / 1e6:.0f} MB")
    return plan, digest


def _renamed(judged: Judged, number: str) -> Judged:
    """Return the same batch with a number behind each id, so that no session has the id of another."""
    lines: list[bytes] = []
    sessions: list[bytes] = []
    items: list[tuple[str, int, int]] = []
    line = session = 0
    for item, of_lines, of_sessions in judged.items:
        for pieces, piece in (
            (lines, judged.lines[line : line + of_lines]),
            (sessions, judged.sessions[session : session + of_sessions]),
        ):
            pieces.append(piece.replace(f'"item":"{item}"'.encode(), f'"item":"{item}-{number}"'.encode()))
        line, session = line + of_lines, session + of_sessions
        items.append((f"{item}-{number}", len(lines[-1]), len(sessions[-1])))
    return structs.replace(judged, lines=b"".join(lines), sessions=b"".join(sessions), items=items)


def _timed(folder: Path, work: Callable[[], object]) -> float:
    """Return the processor seconds of a step, and take the merged run away."""
    elapsed = seconds(work, time.process_time)
    shutil.rmtree(folder / "copy", ignore_errors=True)
    for file in (folder / "run").iterdir():
        if file.is_file():
            file.unlink()
    return elapsed
