"""Make a benchmark of changed items of a benchmark.

RUN/benchmark/     benchmark.toml  items.jsonl  gold.csv
"""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from misstep_analysis.gold import BenchmarkItem, GoldLabel, item_ids, read_gold
from misstep_analysis.judging.sample import clusters_of, majority
from misstep_harness.benchmarks.trajectories import BenchmarkRuns
from misstep_harness.datasets.benchmark import Benchmark, Gold, write_benchmark
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.items import Item, Question, category_in, read_items, read_question
from misstep_harness.journal.records import read_manifest
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.judges.changed_items import Plain, Subject
from misstep_harness.judges.probes import Probe, digest, probed
from misstep_harness.judges.prompted_judge import PromptedJudge
from misstep_harness.protocols import Judge
from misstep_harness.runs.judging.item_selection import categories_for

FOLDER = "benchmark"
"""The place of a run's own benchmark in its folder."""

SESSIONS = "sessions"
"""The place of a benchmark made of sessions, before anything is done to them."""


class Source(Struct, frozen=True):
    """Plain items, what is asked about them, what raters said of them, and a title."""

    question: Question
    plain: tuple[Plain, ...]
    gold: tuple[GoldLabel, ...]
    title: str


def write_probes(judge: Judge, out: Path, source: Source, chosen: Sequence[Probe], label: str) -> Path:
    """Return the folder of the benchmark of changed items below a run's folder, written where it is not there yet."""
    fitted = judge.fitted(source.question, out / FOLDER)
    spec = fitted.spec if isinstance(fitted, PromptedJudge) else None
    return _write_benchmark(out, source, probed(fitted, spec, source.plain, chosen, label), digest())


def _write_benchmark(out: Path, source: Source, items: Iterable[Item], digest: str) -> Path:
    """Write items as they are made: each may hold a long run."""
    folder = out / FOLDER
    made_of: dict[str, str] = {}

    def noted() -> Iterator[Item]:
        for item in items:
            made_of[item.id] = item.extra["change"]["twin"]
            yield item

    make_folder(out)
    if read_manifest(out) is not None and not folder.is_dir():
        raise UsageError(f"{out} holds another run", "Name another folder for the run.")
    with writing(folder), TemporaryDirectory(dir=out, prefix=".benchmark.") as building:
        draft = Path(building) / FOLDER
        write_benchmark(draft, _described(source, digest), noted(), _gold(made_of, source.gold))
        with suppress(OSError):  # if it is there already, put there by this command or by another process
            draft.rename(folder)
            return folder
        for file in draft.iterdir():
            there = folder / file.name
            if not there.is_file() or there.read_bytes() != file.read_bytes():
                message = f"{folder} has items of another command: {file.name} differs"
                advice = "Name another folder for the run, or use the options, judge and benchmark of that command."
                raise UsageError(message, advice)
    return folder


def _described(source: Source, digest: str) -> Benchmark:
    question = source.question
    return Benchmark(
        name=question.name,
        title=source.title,
        kind=question.kind,
        labels=question.labels,
        raters=tuple(dict.fromkeys(row.rater for row in source.gold)),
        licence="",
        citation="",
        origin=(),
        digest=digest,
        positive=question.positive,
        evidence="generated",
        question=question.asks,
        shown=question.shown,
    )


def _gold(made_of: Mapping[str, str], gold: Sequence[GoldLabel]) -> Iterator[Gold]:
    rows: dict[str, list[GoldLabel]] = defaultdict(list)
    for row in gold:
        rows[row.item].append(row)
    for item, twin in made_of.items():  # what an item is made of comes before it
        rows[item] = rows[twin]
        yield from (Gold(item, row.rater, row.label) for row in rows[item])


def drawn_source(judge: Judge, folder: Path, count: int, seed: int) -> Source:
    """Return items of a benchmark that a judge can be asked about, drawn by digest of seed and id."""
    question = read_question(folder)
    gold = tuple(read_gold(folder, item_ids(folder)))
    truth = majority(gold).label_of
    others = categories_for(judge, folder).others
    suitable = (
        item for item in read_items(folder) if category_in(item.extra) not in others and not judge.skip_reason(item)
    )
    drawn = heapq.nsmallest(count, suitable, key=lambda item: hashlib.sha256(f"{seed}\0{item.id}".encode()).hexdigest())
    if not drawn:
        raise InputError("no item has content for a judge", "Name another benchmark.", file=folder / "items.jsonl")
    runs = BenchmarkRuns(folder)
    files = {item.id: item.trajectory if isinstance(item.trajectory, str) else None for item in drawn}
    clusters = clusters_of(
        BenchmarkItem(item.id, files[item.id], item.trajectory_id, item.step, item.extra) for item in drawn
    )
    plain = tuple(
        Plain(Subject(item, runs.of(item)), truth.get(item.id), clusters[item.id])
        for item in sorted(drawn, key=lambda item: item.id)
    )
    title = f"{len(plain)} items of {question.name}, changed in ways that say nothing about their label"
    return Source(replace(question, name=f"{question.name}-probed"), plain, gold, title)
