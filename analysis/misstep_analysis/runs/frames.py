"""A run as data frames, for people's own notebooks: `misstep.open(RUN)`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from misstep_analysis.gold import BenchmarkItem, GoldLabel
from misstep_analysis.judging.sample import clusters_of, majority
from misstep_analysis.runs.frames_of_records import frame_of
from misstep_analysis.runs.kinds import kind_in
from misstep_analysis.runs.kinds.kind import Choice, Content
from misstep_analysis.sessions.interventions import ObservedIntervention, interventions_of
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.records import Manifest
from misstep_harness.repair.records import RepairAttempt, Signal
from misstep_harness.verdict import Verdict

if TYPE_CHECKING:
    from pandas import DataFrame

_QUESTION = ("item", "step", "status", "answered_at", "flagged", "categories", "error")
_ATTEMPT = ("id", *(name for name in RepairAttempt.__struct_fields__ if name not in ("signals", "trajectory")))


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
        DataFrame([{name: getattr(one, name) for name in _ATTEMPT} for one in attempts], columns=_ATTEMPT),
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
