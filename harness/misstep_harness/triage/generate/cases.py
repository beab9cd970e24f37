"""A folder of generated triage cases: a benchmark, and the truth about each case with its proof.

    DIR/
        <case id>/                 the folder of a case, as `misstep_harness.triage.records` says
        items.jsonl                one item a case
        gold.csv                   item, the rater "construction", task, agent, infrastructure or pass
        gold_subcategories.csv     item, rater, subcategory; sound passes have none
        gold_construction.csv      item, family, set, variant, partner: the case of nearly the same run
        proofs.jsonl               how each label was proved: what was run, and what came out
        benchmark.toml

All is written into a folder beside DIR and put in its place when it is whole; what an interrupted call left is
removed by the next.
"""

import shutil
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec
import tomli_w
from msgspec import Struct

from misstep_harness.datasets.benchmark import Benchmark
from misstep_harness.datasets.upstream import digest_of
from misstep_harness.errors import InputError, UsageError, writing
from misstep_harness.fault_mappings import FAULTS, taxonomy
from misstep_harness.journal.run_folder import locked
from misstep_harness.progress import Progress
from misstep_harness.runs.generate import refuse_other_call
from misstep_harness.runs.spread import Spread, available, in_order
from misstep_harness.triage.generate.plans import FamilySet, families, units
from misstep_harness.triage.runs.case_folders import Row, make_unit
from misstep_harness.values import csv_lines

RATER = "construction"
BENCHMARK = "benchmark.toml"
FamilyChoice = Literal["development", "scoring", "all"]


class TriageOptions(Struct, frozen=True):
    """The options of a call: number of cases, seed, set of families."""

    n: int
    seed: int
    families: FamilyChoice = "scoring"

    def line(self) -> str:
        """Return the command that writes the same again, but for its folder."""
        return f"misstep generate triage-cases --n {self.n} --seed {self.seed} --families {self.families}"


class TriageCounts(Struct, frozen=True):
    """What was written: cases, those that failed, families, cases of each label, and of each label's subcategories."""

    n: int
    failed: int
    families: int
    labels: dict[str, int]
    subcategories: dict[str, dict[str, int]]


def write_triage_cases(out: Path, options: TriageOptions, workers: int | None = None) -> TriageCounts:
    """Write a folder of triage cases, each label proved by running."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out {out} is not a folder", "Name a folder that is new or empty.")
    if out.exists() and any(out.iterdir()):
        refuse_other_call(out, options.line(), "something else")
    beside = out.parent / f".{out.name}.part"
    try:
        with writing(out):
            out.parent.mkdir(parents=True, exist_ok=True)
        lock = out.parent / f".{out.name}.lock"
        with locked(lock):
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir()
            try:
                rows = _make(beside, options, workers or available())
                _write_tables(beside, options, rows)
                shutil.rmtree(out, ignore_errors=True)
                beside.replace(out)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
                lock.unlink(missing_ok=True)
    except OSError as error:
        message, advice = f"cannot be written: {error.strerror}", "Choose another folder with --out."
        raise InputError(message, advice, file=out) from error
    return _counts(rows)


def _make(out: Path, options: TriageOptions, workers: int) -> list[Row]:
    sets: tuple[FamilySet, ...] = ("development", "scoring")
    which: dict[str, str] = {name: one for one in sets for name in families(one)}
    pieces = list(units(options.n, options.seed, families(options.families)))
    rows: list[Row] = []
    with Progress("cases", options.n) as progress:
        for unit_cases in in_order(
            partial(make_unit, out=out, which=which),
            pieces,
            Spread(workers),
            lambda unit: f"{unit.kind} of {unit.family}",
        ):
            rows += unit_cases
            progress.advance(len(unit_cases))
    return sorted(rows, key=lambda row: row.proof.item)


def _write_tables(out: Path, options: TriageOptions, rows: Sequence[Row]) -> None:
    encoder = msgspec.json.Encoder()
    (out / "items.jsonl").write_bytes(b"".join(encoder.encode(row.item) + b"\n" for row in rows))
    (out / "proofs.jsonl").write_bytes(b"".join(encoder.encode(row.proof) + b"\n" for row in rows))
    rated = ("item", "rater", "label")
    (out / "gold.csv").write_bytes(csv_lines([rated, *((row.proof.item, RATER, row.label) for row in rows)]))
    below = [(row.proof.item, RATER, row.subcategory) for row in rows if row.subcategory]
    (out / "gold_subcategories.csv").write_bytes(csv_lines([rated, *below]))
    construction = [(row.proof.item, row.family, row.set, row.variant, row.partner) for row in rows]
    head = ("item", "family", "set", "variant", "partner")
    (out / "gold_construction.csv").write_bytes(csv_lines([head, *construction]))
    (out / BENCHMARK).write_text(tomli_w.dumps(msgspec.to_builtins(_description(out, options, rows))), encoding="utf-8")


def _description(out: Path, options: TriageOptions, rows: Sequence[Row]) -> Benchmark:
    return Benchmark(
        name="generated-triage-cases",
        title="Generated runs of agents on tasks whose defects, errors and events were planted and proved by running",
        kind="triage",
        labels={label: taxonomy()[label].name for label in FAULTS},
        raters=(RATER,),
        licence="as Misstep's own",
        citation="Generated by Misstep",
        origin=(options.line(),),
        digest=digest_of(out),
        evidence="generated",
        question="Whose fault is it that the run failed, or is its pass a sound one?",
        counts={"items": len(rows), "labels": len(rows), "trajectories": len(rows)},
    )


def _counts(rows: Sequence[Row]) -> TriageCounts:
    of_label: dict[str, list[str]] = {
        label: [row.subcategory for row in rows if row.label == label] for label in FAULTS
    }
    labels = {label: len(names) for label, names in of_label.items()}
    below = {label: dict(sorted(Counter(filter(None, names)).items())) for label, names in of_label.items()}
    failed = sum(not row.passed for row in rows)
    return TriageCounts(len(rows), failed, len({row.family for row in rows}), labels, below)
