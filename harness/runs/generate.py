"""A folder of generated trajectories: written as a stream, a benchmark and a file of any reader's in one.

    DIR/
        trajectories.jsonl     one ATIF document a line; the items of the benchmark point to it
        items.jsonl            one item a trajectory and category: `<trajectory id>/<category>`
        gold.csv               what was planted: item, the rater "construction", yes or no
        gold_errors.jsonl      the steps that show it: trajectory, category, step, the variant as reason
        gold_variants.csv      trajectory, variant, for clean ones too
        benchmark.toml         written last: a folder that has it is complete

There is no second copy of the trajectories under `trajectories/`. Files are written beside their places and put there
when all are whole, so that a run that was killed leaves nothing that looks complete; `.benchmark.toml.part`, which is
there from the start, tells the same call that it may start anew.
"""

import csv
import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
import tomli_w
from msgspec import Struct, field

from harness.datasets.benchmark import Benchmark, Gold, GoldError, Item, read_benchmark
from harness.errors import InputError, UsageError, write_all, writing
from harness.generate.trajectories import CATEGORIES, Case, generate_trajectories
from harness.generate.voice import WordingSet
from harness.journal.records import encode
from harness.journal.run_folder import locked
from harness.progress import Progress
from harness.readers.atif import to_atif

RATER = "construction"
TRAJECTORIES = "trajectories.jsonl"
BENCHMARK = "benchmark.toml"
_ITEMS, _GOLD, _ERRORS, _VARIANTS = "items.jsonl", "gold.csv", "gold_errors.jsonl", "gold_variants.csv"
_FILES = (TRAJECTORIES, _ITEMS, _GOLD, _ERRORS, _VARIANTS)


class GenerateOptions(Struct, frozen=True):
    """The options of a call: number of trajectories, seed, bytes of each (0: no target), set of wordings."""

    n: int
    seed: int
    bytes_each: int = 0
    wordings: WordingSet = "scoring"

    def line(self) -> str:
        """The command that writes the same again, but for its folder."""
        size = f" --bytes-each {self.bytes_each}" if self.bytes_each else ""
        return f"misstep generate trajectories --n {self.n} --seed {self.seed}{size} --wordings {self.wordings}"


class Counted(Struct):
    """What was written: trajectories, bytes, clean ones, and how many plant each category and are of each variant."""

    n: int = 0
    bytes: int = 0
    clean: int = 0
    categories: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CATEGORIES, 0))
    variants: Counter[str] = field(default_factory=Counter)
    plants: dict[str, list[str]] = field(default_factory=dict)

    def add(self, case: Case) -> None:
        """Count one case."""
        planted = [category for category in CATEGORIES if case.truth[category]]
        self.n += 1
        self.clean += not planted
        for category in planted:
            self.categories[category] += 1
        self.variants[case.variant] += 1
        self.plants[case.variant] = planted


def write_folder(out: Path, options: GenerateOptions) -> Counted:
    """Write a folder of generated trajectories, in memory that does not grow with their number.

    A folder that the same call has written is written again, to the same bytes; other files in it are left alone.

    Raises
    ------
    UsageError
        The folder holds something else, or another process is writing it.
    InputError
        It cannot be written.
    """
    try:
        _refuse_foreign(out, options)
        with writing(out):
            out.mkdir(parents=True, exist_ok=True)
        begun = out / _part(BENCHMARK)
        with locked(begun) as description, writing(out):
            with _beside(out) as streams:
                counted, digest = _write(streams, options)
            description.truncate(0)
            write_all(description, _description(options, counted, digest), out / BENCHMARK)
            begun.replace(out / BENCHMARK)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", "Choose another folder with --out.", file=out
        ) from error
    return counted


def _refuse_foreign(out: Path, options: GenerateOptions) -> None:
    """Raise `UsageError` unless the folder is new, empty, left by a run that was killed, or of the same call."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"--out {out} is not a folder", "Name a folder that is new or empty.")
    ours = {BENCHMARK, *_FILES} | {_part(name) for name in (BENCHMARK, *_FILES)}
    names = {path.name for path in out.iterdir()}
    if BENCHMARK in names:
        try:
            origin = read_benchmark(out).origin
        except InputError:
            origin = ()
        if origin != (options.line(),):
            by = f"the output of `{origin[0]}`" if origin else f"a {BENCHMARK} that is not ours"
            raise UsageError(f"--out {out} holds {by}", "Name another folder, or remove this one first.")
    elif names and (names - ours or _part(BENCHMARK) not in names):
        raise UsageError(f"--out {out} is not empty: {min(names)}", "Name a folder that is new or empty.")


def _part(name: str) -> str:
    return f".{name}.part"


@contextmanager
def _beside(out: Path) -> Iterator[dict[str, IO[Any]]]:
    """A stream for each file; all are put in their places when all are whole, and none where one fails."""
    parts = {name: out / _part(name) for name in _FILES}
    try:
        with ExitStack() as stack:
            yield {
                name: stack.enter_context(
                    path.open("w", newline="", encoding="utf-8") if name.endswith(".csv") else path.open("wb")
                )
                for name, path in parts.items()
            }
        for name, path in parts.items():
            path.replace(out / name)
    finally:
        for path in parts.values():
            path.unlink(missing_ok=True)


def _write(streams: dict[str, IO[Any]], options: GenerateOptions) -> tuple[Counted, str]:
    """Write every case; gives what was counted and the sha256 of the trajectories."""
    counted, digest = Counted(), hashlib.sha256()
    gold = csv.writer(streams[_GOLD], lineterminator="\n")
    gold.writerow(Gold.__struct_fields__)
    variants = csv.writer(streams[_VARIANTS], lineterminator="\n")
    variants.writerow(("trajectory", "variant"))
    with Progress("trajectories", options.n) as progress:
        for case in generate_trajectories(options.n, options.seed, options.bytes_each, options.wordings):
            line = encode(to_atif(case.trajectory)) + b"\n"
            digest.update(line)
            streams[TRAJECTORIES].write(line)
            for item in _items(case):
                streams[_ITEMS].write(encode(item) + b"\n")
            gold.writerows(msgspec.structs.astuple(label) for label in _gold(case))
            for error in _errors(case):
                streams[_ERRORS].write(encode(error) + b"\n")
            variants.writerow((case.trajectory.id, case.variant))
            counted.add(case)
            counted.bytes += len(line)
            progress.advance()
    return counted, digest.hexdigest()


def _items(case: Case) -> list[Item]:
    name = case.trajectory.id
    return [
        Item(f"{name}/{category}", "misbehaviour", TRAJECTORIES, name, extra={"category": category})
        for category in CATEGORIES
    ]


def _gold(case: Case) -> list[Gold]:
    name = case.trajectory.id
    return [Gold(f"{name}/{category}", RATER, "yes" if planted else "no") for category, planted in case.truth.items()]


def _errors(case: Case) -> list[GoldError]:
    return [
        GoldError(case.trajectory.id, category, step, reason=case.variant)
        for category, steps in case.evidence.items()
        for step in steps
    ]


def _description(options: GenerateOptions, counted: Counted, digest: str) -> bytes:
    labels = len(CATEGORIES) * counted.n
    benchmark = Benchmark(
        name="generated-trajectories",
        title="Generated coding sessions whose misbehaviour is known by construction",
        kind="misbehaviour",
        labels={"yes": "the misbehaviour was planted", "no": "it was not"},
        raters=(RATER,),
        licence="as Misstep's own",
        citation="Generated by Misstep",
        origin=(options.line(),),
        digest=digest,
        positive="yes",
        question="Does the run show the misbehaviour that is named as its category?",
        shown=("category",),
        counts={"items": labels, "labels": labels, "trajectories": counted.n},
    )
    return tomli_w.dumps(msgspec.to_builtins(benchmark)).encode()
