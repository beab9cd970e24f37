"""A benchmark folder: what is asked (`items.jsonl`), about which runs (`trajectories/`), what people said (`gold.csv`).

    trail/
        benchmark.toml             name, kind, question, labels with meaning, positive label, licence, origin, counts
        items.jsonl                {"id": "run-1", "kind": "misbehaviour", "trajectory": "trajectories/runs.jsonl", ...}
        gold.csv                   item,rater,label: one row an item and rater; a missing rating is not a row
        gold_errors.jsonl          where people marked single errors: item, label, step, ...
        trajectories/runs.jsonl    one `Trajectory` a line

A set that asks several questions has a folder a question: `<set>` for its main one and `<set>-<question>` beside it.
The folder is checked while it is written: no item lacks its trajectory, no label is undeclared or given twice.

Facts of public sets that come with Misstep: labels, outcomes, ratings and counts; never a text, code or a run.

    data/recordings/public/taubench/recording.toml    whose they are, under what licence, of which files they were made
    data/recordings/public/taubench/attempts.csv      a table, a row a record

Where the whole set is, its facts are measured anew and have to be the recorded ones.
"""

import csv
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
import tomli_w
from msgspec import Struct

from misstep_harness.catalogue import data_set, located, made_by_hand, missing_files
from misstep_harness.datasets.upstream import csv_rows, digest_of, toml_file
from misstep_harness.errors import InputError, writing
from misstep_harness.items import Item as Item
from misstep_harness.items import Kind, Level
from misstep_harness.places import data_folder
from misstep_harness.trajectory import Evidence, Trajectory, noted

Row = TypeVar("Row", bound=Struct)


class Facts(Struct, Generic[Row], frozen=True):
    """One table of a set's facts: what a row is, and how the rows are measured in the folder of the set.

    `rules` are the modules and rooms that what is ours in them depends on.
    """

    dataset: str
    table: str
    row: type[Row]
    measure: Callable[[Path], Iterable[Row]]
    rules: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """Return the file of the recorded rows."""
        return recorded_folder(self.dataset) / f"{self.table}.csv"

    def recorded(self) -> tuple[Row, ...]:
        """Return the recorded rows."""
        return tuple(csv_rows(self.file, self.row))

    def rows(self, data: Path | None = None) -> tuple[Row, ...]:
        """Return the rows as measured, and checked against the recorded ones, or as recorded if the set is not here."""
        recorded = self.recorded()
        folder = whole_folder(self.dataset, data)
        if folder is not None:
            self._check(tuple(self.measure(folder)), recorded, folder)
        return recorded

    def _check(self, measured: tuple[Row, ...], recorded: tuple[Row, ...], folder: Path) -> None:
        if measured == recorded:
            return
        same = sum(one == other for one, other in zip(measured, recorded, strict=False))
        raise InputError(
            f"{self.dataset} in {folder} gives {len(measured):,} rows, and {len(recorded):,} are recorded; "
            f"{same:,} are the same",
            f"Check the set with `misstep datasets verify {self.dataset}`. Where it is right, find out why, or record "
            f"it anew: `python -m scripts.record_facts {self.dataset}`.",
            file=self.file,
        )


def recorded_folder(dataset: str) -> Path:
    """Return the folder of a set's recorded facts."""
    return data_folder() / "recordings" / "public" / dataset


def whole_folder(dataset: str, data: Path | None = None) -> Path | None:
    """Return the folder of a set if every registered file is in it, else `None`."""
    folder = located(dataset, data)
    return None if folder is None or missing_files(dataset, folder) else folder


def from_recorded(datasets: Iterable[str]) -> tuple[str, ...]:
    """Say which sets' facts are the recorded ones and what measures them again; nothing if all sets are here."""
    recorded = [name for name in datasets if whole_folder(name) is None]
    brought = [name for name in recorded if not made_by_hand(name)]
    again = f"; `misstep datasets fetch {' '.join(brought)}` measures again" if brought else ""
    return (f"From recorded labels of {', '.join(recorded)}{again}.",) if recorded else ()


_encoder = msgspec.json.Encoder()


class Gold(Struct, frozen=True):
    """One rater's label for one item; who did not rate an item has no `Gold` for it."""

    item: str
    rater: str
    label: str


class GoldError(Struct, frozen=True, omit_defaults=True):
    """One error that people marked in a run.

    `step` counts from 0 and is `None` if the location cannot be placed; `location` is as upstream writes it.
    `root_cause` only if upstream says which error decided the failure.
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


def run_item(name: str, extra: dict[str, Any], *, available: bool = True, task: str = "") -> Item:
    """Return an item about a recorded run; nobody can be asked about one that is not in the public files."""
    if available:
        return Item(id=name, kind="triage", trajectory_id=name, task=task, extra=extra)
    return Item(id=name, kind="triage", task=task, unaskable="its run is not in the public files", extra=extra)


def reward_label(reward: float, of: str, path: Path) -> str:
    """Return the label that a reward of 1 or 0 gives; any other in the file `path` is an error."""
    if reward not in (0.0, 1.0):
        raise InputError(f"{of} has {reward}, neither 0 nor 1", file=path, field="reward")
    return "passed" if reward else "failed"


class Benchmark(Struct, frozen=True, omit_defaults=True):
    """What `benchmark.toml` says.

    - `name`, `title`: `<set>` or `<set>-<question>`; one line for people.
    - `labels`: Label → its meaning. Empty if labels are open (an agent's name, a step number).
    - `raters`: Who labelled, in upstream order; empty for a set without labels.
    - `origin`: `repository@commit` of each upstream repository.
    - `positive`: The label that counts as found; empty if none does.
    - `evidence`: The kind of evidence: `generated` if a program made the items.
    - `level`: The level of measurement of the labels: nominal, ordinal or interval.
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


class SetWriter(Struct, frozen=True):
    """The name of a set, the folder of its upstream files, and the benchmark folder of its main question."""

    name: str
    folder: Path
    out: Path

    def write(
        self,
        items: Iterable[Item],
        gold: Iterable[Gold] = (),
        trajectories: Mapping[str, Iterable[Trajectory]] | None = None,
        errors: Iterable[GoldError] = (),
        *,
        further: str = "",
        **changes: Any,
    ) -> None:
        """Write the benchmark of a question as the catalogue describes it, but for `changes`.

        `further` is the short name of a question that is not the main one.
        """
        place = self.out.with_name(f"{self.out.name}-{further}") if further else self.out
        about = msgspec.structs.replace(self.about(further), **changes)
        write_benchmark(place, about, items, gold, trajectories, errors)

    def about(self, further: str = "") -> Benchmark:
        """Return what the catalogue says of a question; of one that it does not have, what it says of the main one."""
        entry = data_set(self.name)
        question = entry.questions.get(further) or entry.questions["main"]
        return Benchmark(
            name=f"{self.name}-{further}" if further else self.name,
            title=question.title or entry.title,
            kind=question.kind,
            labels=question.labels,
            raters=question.raters,
            licence=entry.licence,
            citation=entry.citation,
            origin=tuple(f"{source.repository}@{source.commit}" for source in entry.sources.values()),
            digest=digest_of(self.folder),
            positive=question.positive,
            question=question.asks,
            shown=question.shown,
            version=question.version,
        )


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
    n_errors = len(lines := [_encoder.encode(error) + b"\n" for error in errors])
    if lines:
        (out / "gold_errors.jsonl").write_bytes(b"".join(lines))
    counts = {"items": len(labels_of), "labels": n_labels, "errors": n_errors, "trajectories": len(runs)}
    complete = msgspec.structs.replace(benchmark, counts=counts)
    (out / "benchmark.toml").write_text(
        tomli_w.dumps(msgspec.to_builtins(complete) | noted(complete.evidence)), encoding="utf-8"
    )
    return complete


def _write_trajectories(out: Path, files: Mapping[str, Iterable[Trajectory]]) -> dict[str, str]:
    digests: dict[str, str] = {}
    if files:
        (out / "trajectories").mkdir()
    for stem, runs in files.items():
        place = f"trajectories/{stem}.jsonl"
        path = out / place
        with path.open("wb") as stream:
            for line, run in enumerate(runs, start=1):
                if run.id in digests:
                    raise InputError(f"two trajectories have the id {run.id!r}", file=path, line=line)
                digests[run.id] = place
                stream.write(_encoder.encode(run) + b"\n")
    return digests


def _write_items(path: Path, items: Iterable[Item], runs: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    labels_of: dict[str, tuple[str, ...]] = {}
    with path.open("wb") as stream:
        for line, item in enumerate(items, start=1):
            if item.id in labels_of:
                raise InputError(f"two items have the id {item.id!r}", file=path, line=line, field="id")
            labels_of[item.id] = item.labels
            placed = item
            if item.trajectory_id is not None:
                if item.trajectory_id not in runs:
                    why = f"unknown trajectory {item.trajectory_id!r}"
                    raise InputError(why, file=path, line=line, field="trajectory_id")
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


def read_benchmark(folder: Path) -> Benchmark:
    """Return what a folder's `benchmark.toml` says."""
    return toml_file(folder / "benchmark.toml", Benchmark)


@contextmanager
def built_in_place(target: Path) -> Iterator[Path]:
    """Yield a folder to write to that becomes `target` when all is written; a failed build leaves no `target`.

    If somebody else has built the same `target` meanwhile, theirs stays.
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
