"""Rule classifiers held against people's labels: precision and recall by category and set, with intervals.

The public sets were labelled for questions of their own. `data/mappings.toml` says which of their labels are taken
for which category, and why; a run is positive when it carries such labels.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from analysis.gold import read_gold, read_items, read_marked_errors
from analysis.stats import diagnostic
from analysis.stats.diagnostic import Confusion, count_confusion
from analysis.stats.estimate import Estimate
from analysis.stats.proportions import wilson
from analysis.tables import Evidence, Row, Table, estimate_row, made_by_this
from analysis.tables.wording import number_text
from harness.places import data_folder
from harness.verdict import Verdict

_LOCATION = "evidence at the decisive step"


class LabelMapping(Struct, frozen=True, forbid_unknown_fields=True, rename={"source": "from"}):
    """Which labels of a benchmark are taken for a category, and why; see `data/mappings.toml`."""

    category: str
    benchmark: str
    source: Literal["gold", "errors"]
    why: str
    labels: tuple[str, ...] = ()
    in_a_row: int = 1
    decisive: bool = False


class JudgedSet(Struct, frozen=True):
    """A benchmark's folder with the verdicts on its runs, and how many steps each run has.

    `source` names the data set with its version; `evidence` is `generated` for runs that this software made.
    """

    benchmark: str
    folder: Path
    source: str
    verdicts: tuple[Verdict, ...]
    n_steps: dict[str, int]
    evidence: Evidence = "real"


def load_mappings() -> tuple[LabelMapping, ...]:
    """The mappings from sets' labels to categories."""
    raw = msgspec.toml.decode((data_folder() / "mappings.toml").read_bytes())
    return msgspec.convert(raw["mapping"], tuple[LabelMapping, ...])


@made_by_this
def validity_table(sets: Sequence[JudgedSet]) -> Table:
    """Precision and recall of the rule classifiers on each set that a mapping names.

    Parameters
    ----------
    sets
        The sets at hand, with the verdicts on their runs.
    """
    at_hand = {judged.benchmark: judged for judged in sets}
    mappings = [mapping for mapping in load_mappings() if mapping.benchmark in at_hand]
    rows: list[Row] = []
    for mapping in mappings:
        judged = at_hand[mapping.benchmark]
        rows += _location_rows(mapping, judged) if mapping.decisive else _category_rows(mapping, judged)
    return Table(
        name="validity",
        paper="your_agents",
        title="The rules against people's labels",
        finding=_finding(rows),
        rows=tuple(rows),
        notes=tuple(f"{mapping.benchmark}, {mapping.category}: {mapping.why}." for mapping in mappings),
        datasets=tuple(dict.fromkeys(mapping.benchmark.partition("-")[0] for mapping in mappings)),
    )


@made_by_this
def generated_table(verdicts: Sequence[Verdict], truth: Mapping[tuple[str, str], bool], *, seed: int, n: int) -> Table:
    """Precision and recall on generated runs, whose truth is known by construction.

    Parameters
    ----------
    verdicts
        On the generated runs.
    truth
        (run, category) → whether the misbehaviour was planted.
    seed, n
        Of the generator, for the source of each row.
    """
    rows: list[Row] = []
    source = f"generated, seed {seed}, n {n}"
    for category in dict.fromkeys(category for _, category in truth):
        answered = [one for one in verdicts if one.judge == category and one.label is not None]
        table = count_confusion(
            [truth[one.item, category] for one in answered], [one.label == "yes" for one in answered]
        )
        rows += [
            structs.replace(_row(name, estimate, category, source), evidence="generated")
            for name, estimate in (("Precision", diagnostic.precision(table)), ("Recall", diagnostic.recall(table)))
        ]
    worst = min((row for row in rows if row.value is not None), key=lambda row: float(row.value or 0), default=None)
    return Table(
        name="generated",
        paper="your_agents",
        title="The rules against planted misbehaviour",
        finding=(
            "Nothing was planted."
            if worst is None
            else f"The lowest figure is the {worst.quantity.lower()} of {worst.group}: {_with_interval(worst)}."
        ),
        rows=tuple(rows),
        notes=(
            "Generated runs show that the instrument finds what was planted, not how it does on real runs.",
            "The rules were revised after looking at generated runs of other seeds, which hold the same kinds of "
            "misbehaviour in the same kinds of words: new kinds would be found less often.",
        ),
        generator="harness.generate.trajectories.generate_trajectories",
    )


def positives(mapping: LabelMapping, folder: Path) -> dict[str, bool]:
    """Run → whether people's labels make it positive; runs that nobody labelled are left out."""
    if mapping.source == "errors":
        return _marked(mapping, folder)
    label_of = {gold.item: gold.label for gold in read_gold(folder)}
    found: dict[str, bool] = {}
    labelled = (item for item in read_items(folder) if item.id in label_of and item.trajectory_id)
    for run, items in groupby(labelled, key=lambda item: item.trajectory_id or ""):
        found[run] = _longest(label_of[item.id] in mapping.labels for item in items) >= mapping.in_a_row
    return found


def _marked(mapping: LabelMapping, folder: Path) -> dict[str, bool]:
    labelled = {item.trajectory_id or "" for item in read_items(folder)} - {""}
    marked = {error.trajectory for error in read_marked_errors(folder) if error.label in mapping.labels}
    return {run: run in marked for run in labelled}


def _longest(hits: Iterable[bool]) -> int:
    """The longest stretch of hits."""
    return max((len(list(stretch)) for hit, stretch in groupby(hits) if hit), default=0)


def confusion(mapping: LabelMapping, judged: JudgedSet) -> Confusion:
    """The classifier's answers against the mapped labels, over runs with both."""
    gold = positives(mapping, judged.folder)
    answers = {
        verdict.item: verdict.label == "yes"
        for verdict in judged.verdicts
        if verdict.judge == mapping.category and verdict.label is not None
    }
    both = sorted(gold.keys() & answers.keys())
    return count_confusion([gold[run] for run in both], [answers[run] for run in both])


def _category_rows(mapping: LabelMapping, judged: JudgedSet) -> list[Row]:
    table = confusion(mapping, judged)
    counts = f"{judged.source}: {table.tp} found, {table.fp} false, {table.fn} missed, {table.tn} left alone"
    figures = [
        ("Precision", diagnostic.precision(table)),
        ("Recall", diagnostic.recall(table)),
        ("F1", diagnostic.f1(table)),
        ("Share of runs that people's labels make positive", _share(table.tp + table.fn, table.n)),
    ]
    return [_row(name, estimate, f"{mapping.category}, {mapping.benchmark}", counts) for name, estimate in figures]


def _location_rows(mapping: LabelMapping, judged: JudgedSet) -> list[Row]:
    """Whether the evidence of flagged runs stands at the step that decided the failure."""
    decisive = {error.trajectory: error.step for error in read_marked_errors(judged.folder) if error.step is not None}
    evidence = _evidence(judged.verdicts, decisive)
    hits = sum(decisive[run] in steps for run, steps in evidence.items())
    by_chance = [len(steps) / judged.n_steps[run] for run, steps in evidence.items() if judged.n_steps.get(run)]
    group = f"{_LOCATION}, {mapping.benchmark}"
    chance = Estimate(
        sum(by_chance) / len(by_chance) if by_chance else None,
        n=len(by_chance),
        reason="" if by_chance else "no run is flagged",
    )
    return [
        _row("Precision", _share(hits, len(evidence)), group, f"{judged.source}: {hits} of {len(evidence)} flagged"),
        _row("Precision of steps drawn at random", chance, group, f"{judged.source}: as many steps a run"),
        _row("Recall", _share(hits, len(decisive)), group, f"{judged.source}: {hits} of {len(decisive)} failures"),
    ]


def _evidence(verdicts: Iterable[Verdict], runs: Mapping[str, int]) -> dict[str, set[int]]:
    """Flagged run → the steps that any of its verdicts names."""
    found: dict[str, set[int]] = {}
    for verdict in verdicts:
        if verdict.label == "yes" and verdict.item in runs:
            found.setdefault(verdict.item, set()).update(verdict.steps)
    return found


def _share(count: int, n: int) -> Estimate:
    return wilson(count, n) if n else Estimate(None, n=0, reason="no such run")


def _row(name: str, estimate: Estimate, group: str, source: str) -> Row:
    return estimate_row(name, estimate, "coefficient" if name == "F1" else "share", group, source)


def _finding(rows: Sequence[Row]) -> str:
    """The best-supported figure first: precision and recall on the set with the most positive runs."""
    recalls = [row for row in rows if row.quantity == "Recall" and row.n and not row.group.startswith(_LOCATION)]
    if not recalls:
        return "No set with people's labels is at hand."
    recall = max(recalls, key=lambda row: row.n or 0)
    precision = next(row for row in rows if row.quantity == "Precision" and row.group == recall.group)
    return (
        f"On the largest set of positives ({recall.group}), the rules find {_with_interval(recall)} of them, and "
        f"{_with_interval(precision)} of what they flag is right."
    )


def _with_interval(row: Row) -> str:
    if row.value is None:
        return "an unknown share"
    low, high = number_text(row.low, "share"), number_text(row.high, "share")
    return f"{number_text(row.value, 'share')} (95% interval {low} to {high})"
