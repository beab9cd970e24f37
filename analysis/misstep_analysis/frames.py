"""Data frames for notebooks: a run (`misstep.open(RUN)`), and reported figures, attempts or ratings."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.sample import clusters_of, majority
from misstep_analysis.pages.interventions import ObservedIntervention, interventions_of
from misstep_analysis.published import load_paper
from misstep_analysis.repair.attempts import counted
from misstep_analysis.runs.kind import Choice, Content, kind_in
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.records import Manifest
from misstep_harness.repair.records import RepairAttempt, Signal
from misstep_harness.verdict import Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

    from misstep_analysis.judging.judged import JudgedItems
    from misstep_analysis.judging.people.ratings import JudgedRatings
    from misstep_analysis.observer.paper.generated_prevalence import Study
    from misstep_analysis.passing.solve_rates import SolvedSet
    from misstep_analysis.published import Figure, Paper
    from misstep_analysis.repair.attempts import RepairArm
    from misstep_analysis.sessions.validity import JudgedSet
    from misstep_analysis.stats.estimate import Estimate
    from misstep_analysis.triage.paper.agreement import RatedSet
_FIGURE = ("id", "place", "row", "column", "printed", "number", "unit", "numerator", "denominator")
_SESSION = ("dataset", "session", "category", "label", "first_step", "n_steps")
_ATTEMPT = ("title", "system", "task", "tried", "solved")
_REPAIR = ("policy", "author", "setting", "format", "instructions", "instructions_author", "benchmark", "evidence")
_REPAIRED = ("case", "sample", "solved", "patched", "iterations", "seconds")
_ANSWER = ("judge", "item", "cluster", "gold", "label", "status")
_RATING = ("title", "aspect", "run", "people", "judge")
_ESTIMATE = ("value", "low", "high", "n")


def frame_of(records: Iterable[Any], kind: type[msgspec.Struct]) -> "DataFrame":
    """Records of one kind as a frame: a row a record, a column a field, also without records."""
    return _frame((msgspec.to_builtins(record) for record in records), kind.__struct_fields__)


def printed(paper: str, opening: str = "") -> "DataFrame":
    """Return the figures that a paper prints, one row a figure, by id.

    `number` is missing for a text. `numerator` and `denominator` are the counts of a share, if both are printed.
    """
    known = load_paper(paper)
    rows = (
        (figure.id, figure.place, figure.row, figure.column, figure.printed, _number(figure), figure.unit, *counts)
        for figure in known.figure
        if figure.id.startswith(opening)
        for counts in [_counts(known, figure)]
    )
    return _frame(rows, _FIGURE).set_index("id")


def _number(figure: "Figure") -> float | None:
    return None if figure.unit == "text" else figure.number


def _counts(paper: "Paper", figure: "Figure") -> tuple[float | None, float | None]:
    ids = figure.inputs if figure.check == "percentage" else {}
    numbers = {name: _number(paper[str(ids[name])]) for name in ("count", "n", "repeats") if name in ids}
    count, n, repeats = numbers.get("count"), numbers.get("n"), numbers.get("repeats", 1.0)
    return (None, None) if count is None or n is None or repeats is None else (count, n * repeats)


def sessions(sets: Iterable["JudgedSet"]) -> "DataFrame":
    """Classified runs, a row a run and category; `label` is missing if unknown, `first_step` without evidence."""
    rows = (
        (judged.benchmark, one.item, one.judge, one.label, min(one.steps, default=None), judged.n_steps[one.item])
        for judged in sets
        for one in judged.verdicts
    )
    return _frame(rows, _SESSION)


def study_sessions(study: "Study") -> "DataFrame":
    """Return a generated study, one row a session and category: what was planted, and the rule's label."""
    rows = (
        (session.item, category, category in session.planted, session.found[category])
        for session in study.sessions
        for category in study.categories
    )
    return _frame(rows, ("item", "category", "planted", "label"))


def attempts(sets: Iterable["SolvedSet"]) -> "DataFrame":
    """Systems on tasks, one row a system and task: how often the task was tried, and how often of these solved."""
    rows = (
        (one.title, system, task, *counts)
        for one in sets
        for system, cells in one.systems.items()
        for task, counts in cells.items()
    )
    return _frame(rows, _ATTEMPT)


def repairs(arms: Iterable["RepairArm"]) -> "DataFrame":
    """Attempts at cases that hold, one row an attempt; one that broke before it was scored is not `solved`."""
    rows = (
        {name: getattr(arm, name) for name in _REPAIR}
        | {name: getattr(attempt, name) for name in _REPAIRED}
        | {"solved": attempt.solved is True}
        for arm in arms
        for attempt in counted(arm.attempts)
    )
    return _frame(rows, (*_REPAIR, *_REPAIRED))


def ratings(rated: "RatedSet") -> "DataFrame":
    """Return a set of ratings, a row an item and a column a rater; a label that was not given is missing."""
    names = dict(enumerate(rated.labels.categories))
    rows = ([names.get(code) for code in codes] for codes in rated.labels.codes.tolist())
    return _frame(rows, rated.labels.raters).set_axis(list(rated.labels.items), axis="index")


def answers(judged: Iterable["JudgedItems"]) -> "DataFrame":
    """Judges' answers beside people's label, one row a judge and item.

    `gold` is missing if people tie, `label` if the judge gave none. Items of one `cluster` hang together.
    """
    rows = (
        (one.title, item, one.clusters.get(item, item), gold.get(item), verdict.label, verdict.status)
        for one in judged
        for gold in [majority(one.gold).label_of]
        for verdict in one.verdicts
        for item in [verdict.item]
    )
    return _frame(rows, _ANSWER)


def run_ratings(judged: Iterable["JudgedRatings"]) -> "DataFrame":
    """Ratings of runs by a judge and by people, one row a judge, aspect and run; what was not rated is missing."""
    rows = (
        (one.title, aspect, run, rating, (one.judge.get(run) or {}).get(aspect))
        for one in judged
        for run, ratings in one.people.items()
        for aspect, rating in ratings.items()
    )
    return _frame(rows, _RATING)


def estimates(by_key: Mapping[Any, "Estimate"], *names: str) -> "DataFrame":
    """Estimates as a frame: value, low, high and n of each, by what it is of."""
    rows = [[getattr(estimate, name) for name in _ESTIMATE] for estimate in by_key.values()]
    return _indexed(rows, _ESTIMATE, list(by_key), names)


def values(by_key: Mapping[Any, float], *names: str) -> "DataFrame":
    """Numbers as a frame with one column, `value`."""
    return _indexed([[float(number)] for number in by_key.values()], _ESTIMATE[:1], list(by_key), names)


def _indexed(rows: Sequence[Any], columns: Sequence[str], keys: Sequence[Any], names: Sequence[str]) -> "DataFrame":
    import pandas as pd

    levels = names or ("quantity",)
    parts = list(zip(*keys, strict=True)) if len(levels) > 1 else [keys]
    index = [pd.Index(part, name=name) for part, name in zip(parts or [[] for _ in levels], levels, strict=True)]
    return pd.DataFrame(
        rows, index=index[0] if len(index) == 1 else pd.MultiIndex.from_arrays(index), columns=list(columns)
    )


def _frame(rows: Iterable[Any], columns: Sequence[str]) -> "DataFrame":
    import pandas as pd  # takes a second

    return pd.DataFrame(list(rows), columns=list(columns))


_QUESTION = ("item", "step", "status", "answered_at", "flagged", "categories", "error")
_REPAIR_ATTEMPT = ("id", *(name for name in RepairAttempt.__struct_fields__ if name not in ("signals", "trajectory")))


class RunFrames(Struct, frozen=True):
    """A run as frames.

    - `manifest`: What `run.toml` says.
    - `items`: One row an item: `id` and what the benchmark says of it; of a run of `misstep classify` the ids alone.
    - `verdicts`: One row a verdict: `item judge label status score steps rationale seconds input_tokens output_tokens
      cost_usd model prompt cached error`; a missing label is missing and no label.
    - `gold`: One row a rater's label: `item rater label`; empty where nobody labelled anything.
    - `answers`: The verdicts with two more columns: `gold`, the label that most raters gave, missing where they tie or
      nobody labelled the item; and `cluster`, what items hang together with, such as the run that they are about.
    - `attempts`: Of a run of repairs one row an attempt, by its `id`: `case policy setting format sample solved patched
      error iterations seconds input_tokens output_tokens cost_usd ended patch rules refused`; `solved` is missing where
      the case does not hold or the patch was not scored. Of other runs empty.
    - `signals`: One row a validator's answer about an attempt: `attempt validator passed text score`.
    - `invocations`: Of a run of `misstep observe` and of an experiment one row a question to the detector: `item step
      status answered_at flagged categories error`. Of other runs empty.
    - `interventions`: Of such a run one row an intervention: `item step categories detected_at answered_at delivered_at
      level withheld rationale guidance file line`.
    - `tables`: Of a run of the reflexive loop its `items` and `events`, and of an experiment its `sessions` and the
      planted `episodes`, by name: the tables of `misstep export`. Of other runs empty.
    """

    manifest: Manifest
    items: "DataFrame"
    verdicts: "DataFrame"
    gold: "DataFrame"
    answers: "DataFrame"
    attempts: "DataFrame"
    signals: "DataFrame"
    invocations: "DataFrame"
    interventions: "DataFrame"
    tables: "dict[str, DataFrame]" = {}


def open_frames(
    run: os.PathLike[str] | str, benchmark: str = "", data: os.PathLike[str] | str | None = None
) -> RunFrames:
    """Return a run as pandas frames: `items`, `verdicts`, `gold`; of a run of repairs `attempts` and `signals`.

    Parameters
    ----------
    run
        The folder that `misstep judge run`, `misstep repair run` or `misstep classify --out` wrote.
    benchmark
        The benchmark's folder or name, where it no longer lies where the run found it.
    data
        Where public data sets lie.

    Raises
    ------
    InputError, UsageError, MissingPrerequisite
        The folder is not a run, or its benchmark cannot be read.

    Examples
    --------
    >>> import misstep
    >>> run = misstep.open("run")  # doctest: +SKIP
    >>> run.verdicts.label.value_counts()  # doctest: +SKIP
    """
    kind, opened = kind_in(Path(run))
    choice = Choice(benchmark, None if data is None else Path(data))
    return _frames(opened.manifest, kind.content(kind.open(opened, choice)))


def _frames(manifest: Manifest, content: Content) -> RunFrames:
    from pandas import DataFrame  # takes a second

    items, gold, attempts, observed = content.items, content.gold, content.attempts, content.observed
    verdicts = frame_of(content.verdicts, Verdict)
    gold_of, cluster_of = majority(gold).label_of, clusters_of(items)
    answers = verdicts.assign(gold=verdicts["item"].map(gold_of), cluster=verdicts["item"].map(cluster_of))
    signals = [{"attempt": tried.id} | msgspec.structs.asdict(signal) for tried in attempts for signal in tried.signals]
    tables = {one.name: (list(one.rows()), [column.name for column in one.columns]) for one in content.tables}
    return RunFrames(
        manifest,
        frame_of(items, BenchmarkItem),
        verdicts,
        frame_of(gold, GoldLabel),
        answers,
        DataFrame(
            [{name: getattr(one, name) for name in _REPAIR_ATTEMPT} for one in attempts], columns=_REPAIR_ATTEMPT
        ),
        DataFrame(signals, columns=["attempt", *Signal.__struct_fields__]),
        DataFrame([line for run in observed for line in _questions(run)], columns=_QUESTION),
        frame_of((one for run in observed for one in interventions_of(run)), ObservedIntervention),
        {name: DataFrame(rows, columns=columns) for name, (rows, columns) in tables.items()},
    )


def _questions(run: ObservedRun) -> Iterator[dict[str, Any]]:
    for invocation in run.invocations:
        categories = tuple(dict.fromkeys(misbehaviour.category for misbehaviour in invocation.misbehaviours))
        known = {name: getattr(invocation, name) for name in ("step", "status", "answered_at", "error")}
        yield {"item": run.item, "flagged": bool(categories), "categories": categories} | known
