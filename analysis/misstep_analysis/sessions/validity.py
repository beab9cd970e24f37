"""Rule classifiers held against people's labels: precision and recall by category and set, with intervals."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from misstep_analysis.gold import BenchmarkItem, read_gold, read_marked_errors
from misstep_analysis.sessions.prevalence import YES, share
from misstep_analysis.stats import diagnostic
from misstep_analysis.stats.diagnostic import Confusion, count_confusion
from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import (
    Evidence,
    Row,
    Table,
    TableHead,
    estimate_row,
    made_by_this,
    measured_on,
    rows_in,
)
from misstep_analysis.tables.wording import with_interval
from misstep_harness.items import read_items
from misstep_harness.places import data_folder
from misstep_harness.verdict import Verdict

_NO_RUN = "no such run"
_VALIDITY = TableHead("validity", "your_agents", "The rules against people's labels")
_GENERATED = TableHead(
    "generated",
    "your_agents",
    "The rules against planted misbehaviour",
    (
        "Generated runs show that the instrument finds what was planted, not how it does on real runs.",
        "The texts of these runs are drawn from wordings kept for scoring, which share no three words in a row "
        "with the rules: a limit that is set in words alone is mostly out of their reach.",
    ),
)


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
    """The runs of a benchmark, how many steps each has, and what the rules and people say of them.

    - `source`: The data set with its version.
    - `evidence`: `generated` for runs that this software made.
    - `people`: Category → run → whether people's labels make it positive, as a mapping takes them.
    - `decisive`: Run → the step at which people hold that its failure was decided.
    """

    benchmark: str
    source: str
    verdicts: tuple[Verdict, ...]
    n_steps: dict[str, int]
    evidence: Evidence = "real"
    people: Mapping[str, Mapping[str, bool]] = {}
    decisive: Mapping[str, int] = {}


def load_mappings() -> tuple[LabelMapping, ...]:
    """Return the mappings from sets' labels to categories."""
    raw = msgspec.toml.decode((data_folder() / "mappings.toml").read_bytes())
    return msgspec.convert(raw["mapping"], tuple[LabelMapping, ...])


@made_by_this
def validity_table(sets: Sequence[JudgedSet]) -> Table:
    """Precision and recall of the rule classifiers on each set that a mapping names."""
    available = {judged.benchmark: judged for judged in sets}
    mappings = [mapping for mapping in load_mappings() if mapping.benchmark in available]
    rows: list[Row] = []
    drawn: list[Row] = []
    measured = []
    for mapping in mappings:
        judged = available[mapping.benchmark]
        if mapping.decisive:
            of_set = _location_rows(judged)
        else:
            measured.append(validity(mapping, judged))
            of_set = _category_rows(measured[-1], judged.source)
        rows += measured_on(mapping.benchmark, of_set)
        drawn += [of_set[0], of_set[2 if mapping.decisive else 1]]  # precision and recall
    notes = (f"{mapping.benchmark}, {mapping.category}: {mapping.why}." for mapping in mappings)
    datasets = (mapping.benchmark for mapping in mappings)
    return _VALIDITY.table(_finding(measured), rows, notes, datasets=datasets, drawn=drawn)


@made_by_this
def generated_table(verdicts: Sequence[Verdict], truth: Mapping[tuple[str, str], bool], *, seed: int, n: int) -> Table:
    """Precision and recall on generated runs, whose truth is known by construction."""
    rows: list[Row] = []
    figures: list[tuple[str, str, Estimate]] = []
    for category in dict.fromkeys(category for _, category in truth):
        of_category = [one for one in verdicts if one.judge == category]
        held = [truth[one.item, category] for one in of_category]
        table = count_confusion(held, [one.label == YES for one in of_category])
        both = {"Precision": diagnostic.precision(table), "Recall": diagnostic.recall(table)}
        figures += [(category, *figure) for figure in both.items()]
        rows += rows_in("share", both, category, f"generated, seed {seed}, n {n}", "generated")
    generator = "misstep_harness.generate.sessions.generate_sessions"
    return structs.replace(_GENERATED.table(_lowest(figures), rows), generator=generator)


def _lowest(shares: Sequence[tuple[str, str, Estimate]]) -> str:
    known = [one for one in shares if one[2].value is not None]
    if not known:
        return "Nothing was planted."
    category, name, worst = min(known, key=lambda one: one[2].value or 0.0)
    return f"The lowest figure is the {name.lower()} of {category}: {with_interval(worst, 'share')}."


def positives(mapping: LabelMapping, folder: Path) -> dict[str, bool]:
    """Run → whether people's labels make it positive; runs that nobody labelled are left out."""
    if mapping.source == "errors":
        marked = {error.trajectory for error in read_marked_errors(folder) if error.label in mapping.labels}
        runs = {item.trajectory_id or "" for item in read_items(folder, BenchmarkItem)} - {""}
        return {run: run in marked for run in sorted(runs)}
    label_of = {gold.item: gold.label for gold in read_gold(folder)}
    labels: dict[str, bool] = {}
    labelled = (item for item in read_items(folder, BenchmarkItem) if item.id in label_of and item.trajectory_id)
    for run, items in groupby(labelled, key=lambda item: item.trajectory_id or ""):
        hits = groupby(label_of[item.id] in mapping.labels for item in items)
        labels[run] = any(hit and len(list(run_of_hits)) >= mapping.in_a_row for hit, run_of_hits in hits)
    return labels


class Validity(Struct, frozen=True):
    """A classifier's answers against the labels that a mapping takes for its category; no answer finds nothing."""

    mapping: LabelMapping
    table: Confusion
    precision: Estimate
    recall: Estimate
    unanswered: int

    @property
    def name(self) -> str:
        """Return the category and the benchmark."""
        return f"{self.mapping.category}, {self.mapping.benchmark}"


def validity(mapping: LabelMapping, judged: JudgedSet) -> Validity:
    """Return the classifier's answers against the mapped labels."""
    gold = judged.people[mapping.category]
    answers = {verdict.item: verdict.label for verdict in judged.verdicts if verdict.judge == mapping.category}
    both = sorted(gold.keys() & answers.keys())
    table = count_confusion([gold[run] for run in both], [answers[run] == YES for run in both])
    unanswered = sum(answers[run] is None for run in both)
    return Validity(mapping, table, diagnostic.precision(table), diagnostic.recall(table), unanswered)


def _category_rows(validity: Validity, source: str) -> list[Row]:
    table = validity.table
    counts = f"{source}: {table.tp} found, {table.fp} false, {table.fn} missed, {table.tn} left alone"
    if validity.unanswered:
        counts += f"; {validity.unanswered} of the last two without an answer"
    positive = {"Share of runs that people's labels make positive": share(table.tp + table.fn, table.n, _NO_RUN)}
    return [
        *rows_in("share", {"Precision": validity.precision, "Recall": validity.recall}, validity.name, counts),
        *rows_in("coefficient", {"F1": diagnostic.f1(table)}, validity.name, counts),
        *rows_in("share", positive, validity.name, counts),
    ]


def _location_rows(judged: JudgedSet) -> list[Row]:
    decisive = judged.decisive
    evidence = _evidence(judged.verdicts, decisive)
    hits = sum(decisive[run] in steps for run, steps in evidence.items())
    by_chance = [len(steps) / judged.n_steps[run] for run, steps in evidence.items() if judged.n_steps.get(run)]
    chance = Estimate(None, n=0, reason="no run is flagged")
    if by_chance:
        chance = Estimate(sum(by_chance) / len(by_chance), n=len(by_chance))
    figures = (
        ("Precision", share(hits, len(evidence), _NO_RUN), f"{hits} of {len(evidence)} flagged"),
        ("Precision of steps drawn at random", chance, "as many steps a run"),
        ("Recall", share(hits, len(decisive), _NO_RUN), f"{hits} of {len(decisive)} failures"),
    )
    group = f"evidence at the decisive step, {judged.benchmark}"
    return [
        estimate_row(name, figure, "share", group, f"{judged.source}: {counts}") for name, figure, counts in figures
    ]


def _evidence(verdicts: Iterable[Verdict], runs: Mapping[str, int]) -> dict[str, set[int]]:
    steps: dict[str, set[int]] = {}
    for verdict in verdicts:
        if verdict.label == YES and verdict.item in runs:
            steps.setdefault(verdict.item, set()).update(verdict.steps)
    return steps


def _finding(validities: Sequence[Validity]) -> str:
    most = max(validities, key=lambda one: one.recall.n or 0, default=None)
    if most is None or not most.recall.n:
        return "No set with people's labels is available."
    precision = "an unknown share" if most.precision.value is None else with_interval(most.precision, "share")
    return (
        f"On the largest set of positives ({most.name}), the rules find {with_interval(most.recall, 'share')} of them, "
        f"and {precision} of what they flag is right."
    )
