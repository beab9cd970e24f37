"""A benchmark folder: what is asked (`items.jsonl`), about which runs (`trajectories/`), what people said (`gold.csv`).

    trail/
        benchmark.toml             name, kind, question, labels with meaning, positive label, licence, origin, counts
        items.jsonl                {"id": "run-1", "kind": "misbehaviour", "trajectory": "trajectories/runs.jsonl", ...}
        gold.csv                   item,rater,label: one row an item and rater; a missing rating is not a row
        gold_errors.jsonl          where people marked single errors: item, label, step, ...
        trajectories/runs.jsonl    one `Trajectory` a line

A set that asks several questions has a folder a question: `<set>` for its main one and `<set>-<question>` beside it.
Only analysis opens what is named gold. The folder is checked while it is written: a loader cannot leave behind an
item without its trajectory, a label that is not declared, or two labels of one rater for one item.
"""

import csv
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import tomli_w
from msgspec import Struct

from misstep.harness.datasets.catalogue import data_set
from misstep.harness.datasets.upstream import digest_of, toml_file
from misstep.harness.errors import InputError, writing
from misstep.harness.evidence import Evidence
from misstep.harness.items import Item as Item
from misstep.harness.items import Kind, Level
from misstep.harness.trajectory import Trajectory

_encoder = msgspec.json.Encoder()


class Gold(Struct, frozen=True):
    """One rater's label for one item; who did not rate an item has no `Gold` for it."""

    item: str
    rater: str
    label: str


class GoldError(Struct, frozen=True, omit_defaults=True):
    """One error that people marked in a run.

    `trajectory` is the run's id, `label` the upstream category, `step` counts from 0 and is `None` where the
    location cannot be placed (the run is not available, or upstream names none); `location` is the location as upstream
    writes it. `root_cause` only where upstream says which error decided the failure.
    """

    trajectory: str
    label: str
    step: int | None = None
    location: str = ""
    agent: str | None = None
    impact: str | None = None
    root_cause: bool | None = None
    reason: str = ""
    evidence: str = ""


class Benchmark(Struct, frozen=True, omit_defaults=True):
    """What `benchmark.toml` says.

    - `name`, `title`, `kind`: `<set>` or `<set>-<question>`; one line for people; what kind of items.
    - `labels`: Label → its meaning. Empty where labels are open (an agent's name, a step number).
    - `raters`: Who labelled, in upstream order; empty for a set without labels.
    - `licence`, `citation`: As in the catalogue.
    - `origin`: `repository@commit` of each upstream repository.
    - `positive`: The label that counts as found; empty where no label does.
    - `evidence`: The kind of evidence: `generated` where a program made the items.
    - `level`: The level of measurement of the labels: nominal, ordinal or interval.
    - `question`: What is asked about each item, as a sentence.
    - `shown`: What of the items' `extra` a judge may see: nothing that follows from how a run ended.
    - `digest`: sha256 over the upstream files (see `harness.datasets.upstream.digest_of`).
    - `version`: Of the loader; raised when it writes something else from the same files.
    - `counts`: What was written; `write_benchmark` fills it in.
    - `left_out`: Upstream files that could not be read, a line each: which, and why.
    """

    name: str
    title: str
    kind: Kind
    labels: dict[str, str]
    raters: tuple[str, ...]
    licence: str
    citation: str
    origin: tuple[str, ...]
    digest: str
    positive: str = ""
    evidence: Evidence = "real"
    level: Level = "nominal"
    question: str = ""
    shown: tuple[str, ...] = ()
    version: int = 1
    counts: dict[str, int] = {}
    left_out: tuple[str, ...] = ()


def describe(name: str, folder: Path, question: str = "") -> Benchmark:
    """Return what a benchmark folder of the set `name`, whose upstream files lie in `folder`, says of itself.

    `question` is the short name of a further question of the set. All else is in the catalogue.
    """
    entry = data_set(name)
    asked = entry.questions[question or "main"]
    return Benchmark(
        name=f"{name}-{question}" if question else name,
        title=asked.title or entry.title,
        kind=asked.kind,
        labels=asked.labels,
        raters=asked.raters,
        licence=entry.licence,
        citation=entry.citation,
        origin=tuple(f"{source.repository}@{source.commit}" for source in entry.sources.values()),
        digest=digest_of(folder),
        positive=asked.positive,
        question=asked.asks,
        shown=asked.shown,
        version=asked.version,
    )


def question_folder(out: Path, question: str) -> Path:
    """Return the folder of a further question of the set whose main folder is `out`."""
    return out.with_name(f"{out.name}-{question}")


def write_benchmark(
    out: Path,
    benchmark: Benchmark,
    items: Iterable[Item],
    gold: Iterable[Gold] = (),
    trajectories: Mapping[str, Iterable[Trajectory]] | None = None,
    errors: Iterable[GoldError] = (),
) -> Benchmark:
    """Write a benchmark folder and return what its `benchmark.toml` says, counts included."""
    out.mkdir(parents=True)
    runs = _write_trajectories(out, trajectories or {})
    labels_of = _write_items(out / "items.jsonl", items, runs)
    n_labels = _write_gold(out / "gold.csv", gold, labels_of, benchmark)
    n_errors = _write_errors(out / "gold_errors.jsonl", errors)
    counts = {
        "items": len(labels_of),
        "labels": n_labels,
        "errors": n_errors,
        "trajectories": len(runs),
    }
    complete = msgspec.structs.replace(benchmark, counts=counts)
    (out / "benchmark.toml").write_text(tomli_w.dumps(msgspec.to_builtins(complete)), encoding="utf-8")
    return complete


def _write_trajectories(out: Path, files: Mapping[str, Iterable[Trajectory]]) -> dict[str, str]:
    """Trajectory id → path of its file below the folder."""
    written: dict[str, str] = {}
    if files:
        (out / "trajectories").mkdir()
    for stem, runs in files.items():
        place = f"trajectories/{stem}.jsonl"
        path = out / place
        with path.open("wb") as stream:
            for line, run in enumerate(runs, start=1):
                if run.id in written:
                    raise InputError(f"two trajectories have the id {run.id!r}", file=path, line=line)
                written[run.id] = place
                stream.write(_encoder.encode(run) + b"\n")
    return written


def _write_items(path: Path, items: Iterable[Item], runs: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Item id → the labels that it names itself."""
    labels_of: dict[str, tuple[str, ...]] = {}
    with path.open("wb") as stream:
        for line, item in enumerate(items, start=1):
            if item.id in labels_of:
                raise InputError(f"two items have the id {item.id!r}", file=path, line=line, field="id")
            labels_of[item.id] = item.labels
            placed = item
            if item.trajectory_id is not None:
                if item.trajectory_id not in runs:
                    raise InputError(
                        f"there is no trajectory {item.trajectory_id!r}", file=path, line=line, field="trajectory_id"
                    )
                placed = msgspec.structs.replace(item, trajectory=runs[item.trajectory_id])
            stream.write(_encoder.encode(placed) + b"\n")
    return labels_of


def _write_gold(
    path: Path, gold: Iterable[Gold], labels_of: Mapping[str, tuple[str, ...]], benchmark: Benchmark
) -> int:
    rated: set[tuple[str, str]] = set()
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Gold.__struct_fields__)
        for line, row in enumerate(gold, start=2):
            reason = _why_not(row, labels_of, rated, benchmark)
            if reason:
                raise InputError(reason, file=path, line=line)
            rated.add((row.item, row.rater))
            writer.writerow((row.item, row.rater, row.label))
    return len(rated)


def _why_not(
    row: Gold, labels_of: Mapping[str, tuple[str, ...]], rated: set[tuple[str, str]], benchmark: Benchmark
) -> str:
    if row.item not in labels_of:
        return f"a label for {row.item!r}, which is not an item"
    if row.rater not in benchmark.raters:
        return f"a label by {row.rater!r}, who is not among the raters"
    if (row.item, row.rater) in rated:
        return f"{row.rater!r} labels {row.item!r} twice"
    for labels in (benchmark.labels, labels_of[row.item]):
        if not row.label or (labels and row.label not in labels):
            return f"label {row.label!r}, which is not among {', '.join(labels) or 'possible labels'}"
    return ""


def _write_errors(path: Path, errors: Iterable[GoldError]) -> int:
    lines = [_encoder.encode(error) for error in errors]
    if lines:
        path.write_bytes(b"\n".join(lines) + b"\n")
    return len(lines)


def read_benchmark(folder: Path) -> Benchmark:
    """Return what a folder's `benchmark.toml` says."""
    return toml_file(folder / "benchmark.toml", Benchmark)


@contextmanager
def built_in_place(target: Path) -> Iterator[Path]:
    """A folder to write to that becomes `target` when all is written; a killed or failed build leaves no `target`.

    Where somebody else has built the same `target` meanwhile, theirs stays.
    """
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            yield building
            try:
                building.rename(target)
            except OSError:
                if not target.is_dir():
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
