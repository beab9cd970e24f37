"""Labels of people, from a file of any known form or an annotation study, as the gold labels of a benchmark."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from misstep.options.agreement import LabelOptions
from misstep.options.common import say_remarks
from misstep_analysis.annotation.export import gold_labels
from misstep_analysis.annotation.study import read_study
from misstep_analysis.gold import GoldLabel, item_ids, read_gold, write_gold
from misstep_analysis.judging.checked_table import labelled_texts
from misstep_analysis.judging.judged_runs import open_run
from misstep_analysis.judging.pair_benchmark import write_pairs
from misstep_analysis.labels import Reading, read_questions
from misstep_analysis.labels.pair_table import PairColumns, read_pair_table
from misstep_analysis.stats.raters.patterns import MISSING
from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Question, read_question
from misstep_harness.places import path_text
from misstep_harness.runs.judging.judge_import import label_read

_SHOWN = 5


def gold_from(file: Path, reading: Reading) -> tuple[list[GoldLabel], list[str]]:
    """Return the labels in a file or a study, one row an item and rater, and remarks on how they were read."""
    if file.is_dir():
        return gold_labels(read_study(file)[0].study), []
    by_question = read_questions(file, reading)
    if len(by_question.labels) > 1:
        questions = ", ".join(by_question.labels)
        raise UsageError(f"{path_text(file)} answers several questions: {questions}", "Name one with --label.")
    (labels,) = by_question.labels.values()
    rows = [
        GoldLabel(item, rater, labels.categories[code])
        for item, codes in zip(labels.items, labels.codes.tolist(), strict=True)
        for rater, code in zip(labels.raters, codes, strict=True)
        if code != MISSING
    ]
    return rows, [*by_question.remarks, *labels.remarks]


def add_gold(folder: Path, rows: list[GoldLabel], file: Path) -> int:
    """Put labels into a benchmark beside those of other raters; those of the same rater and item take their place."""
    ids = item_ids(folder)
    known = [row for row in rows if row.item in ids]
    if not known:
        shown = ", ".join(dict.fromkeys(row.item for row in rows[:_SHOWN]))
        advice = f"Name the column of the items with --item; items are called like {', '.join(sorted(ids)[:_SHOWN])}."
        raise InputError(
            f"none of its items, such as {shown}, is among the {len(ids):,} of {folder}", advice, file=file
        )
    new = [_spelled(row, read_question(folder), file) for row in known]
    pairs = {(row.item, row.rater) for row in new}
    old = [row for row in read_gold(folder) if (row.item, row.rater) not in pairs]
    write_gold(folder, [*old, *new])
    return len(new)


def label_run(run: Path, source: Path, reading: Reading, benchmark: str = "") -> tuple[Path, list[str]]:
    """Put people's labels into the benchmark of a judge's run, and return its folder and remarks."""
    folder = open_run(run, benchmark).benchmark
    rows, remarks = gold_from(source, reading)
    if lost := len(rows) - add_gold(folder, rows, source):
        remarks.append(f"{lost:,} of {len(rows):,} labels are of no item of the run; they are left out")
    if source.is_file():
        remarks.append("the corrected share takes these items for a random sample")
    return folder, remarks


def _spelled(row: GoldLabel, question: Question, file: Path) -> GoldLabel:
    if not question.labels or row.label in question.labels:
        return row
    same = label_read(row.label, {label: label for label in question.labels})
    if same is None:
        message = f"{row.label!r}, the label of {row.item!r}, is none of {', '.join(question.labels)}"
        advice = f"Rename it, leave it out with --missing {shlex.quote(row.label)}, or name the column of the labels"
        raise InputError(message, f"{advice} with --label.", file=file)
    return GoldLabel(row.item, row.rater, same)


def texts_benchmark(table: Path, out: Path, reading: LabelOptions) -> str:
    """Write a table of labelled texts as a benchmark, and return what it holds."""
    checked = labelled_texts(table, reading.label, reading.item)
    say_remarks(checked.remarks, path_text(table))
    checked.write_benchmark(out)
    return f"{len(checked.items):,} texts, {len(checked.gold):,} labels"


def pairs_benchmark(
    tables: Sequence[Path],
    choices: Path | None,
    out: Path,
    reading: LabelOptions,
    evidence: Literal["generated", "real"],
) -> str:
    """Write a table of pairs as a benchmark, and return what it holds."""
    if len(tables) > 1:
        raise UsageError(f"{len(tables)} tables of pairs", "Name one table.")
    table = read_pair_table(tables[0], choices, PairColumns(reading.item, reading.label))
    say_remarks(table.remarks, path_text(tables[0]))
    write_pairs(table, out, evidence)
    tasks = len({pair.key for pair in table.pairs})
    return f"{len(table.pairs):,} pairs of {tasks:,} tasks, {len(table.gold):,} labels"
