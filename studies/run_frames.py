"""A run as data frames, for people's own notebooks: `misstep.open(RUN)`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from analysis.gold import BenchmarkItem, GoldLabel
from analysis.measures.judging.reference import clusters_of, majority
from harness.errors import InputError
from harness.journal.records import MANIFEST, Manifest, read_manifest, read_verdicts
from harness.repair_attempt import RepairAttempt, Signal
from harness.verdict import Verdict
from studies.frames import frame_of
from studies.judged_runs import JUDGED, open_run
from studies.repair_runs import REPAIRED, attempts_in

if TYPE_CHECKING:
    from pandas import DataFrame

_ATTEMPT = tuple(name for name in RepairAttempt.__struct_fields__ if name not in ("signals", "trajectory"))


class RunFrames(Struct, frozen=True):
    """A run as frames.

    Parameters
    ----------
    manifest
        What `run.toml` says.
    items
        One row an item: `id` and what the benchmark says of it; of a run of `misstep classify` the ids alone.
    verdicts
        One row a verdict: `item judge label status score steps rationale seconds input_tokens output_tokens cost_usd
        model prompt cached error`; a missing label is missing and no label.
    gold
        One row a rater's label: `item rater label`; empty where nobody labelled anything.
    answers
        The verdicts with two more columns: `gold`, the label that most raters gave, missing where they tie or nobody
        labelled the item; and `cluster`, what items hang together with, such as the run that they are about.
    attempts
        Of a run of repairs one row an attempt, by its `id`: `case policy setting format sample solved patched error
        iterations seconds input_tokens output_tokens cost_usd ended patch rules refused`; `solved` is missing where the
        case does not hold or the patch was not scored. Of other runs empty.
    signals
        One row a validator's answer about an attempt: `attempt validator passed text score`.
    """

    manifest: Manifest
    items: "DataFrame"
    verdicts: "DataFrame"
    gold: "DataFrame"
    answers: "DataFrame"
    attempts: "DataFrame"
    signals: "DataFrame"


def open_frames(run: Path | str, benchmark: str = "", data: Path | None = None) -> RunFrames:
    """The run in a folder as frames; arguments as of `misstep.open`.

    Raises
    ------
    InputError
        The folder holds no run, or a file of it cannot be read.
    UsageError, MissingPrerequisite
        The benchmark of a judge's run is not found.
    """
    folder = Path(run)
    manifest = read_manifest(folder)
    if manifest is None:
        raise InputError(f"there is no {MANIFEST}", "Name the folder of a run.", file=folder)
    if manifest.command == JUDGED:
        opened = open_run(folder, benchmark, data)
        return _frames(manifest, opened.items, opened.verdicts, opened.gold)
    if manifest.command == REPAIRED:
        last = {attempt.id: attempt for attempt in attempts_in(folder)}
        return _frames(manifest, (), (), (), list(last.values()))
    verdicts = list(read_verdicts(folder, unfinished=True))
    items = [BenchmarkItem(name) for name in dict.fromkeys(verdict.item for verdict in verdicts)]
    return _frames(manifest, items, verdicts, ())


def _frames(
    manifest: Manifest,
    items: Sequence[BenchmarkItem],
    verdicts: Sequence[Verdict],
    gold: Sequence[GoldLabel],
    attempts: Sequence[RepairAttempt] = (),
) -> RunFrames:
    from pandas import DataFrame  # takes a second

    verdict_frame = frame_of(verdicts, Verdict)
    gold_of, cluster_of = majority(gold).label_of, clusters_of(items)
    answers = verdict_frame.assign(
        gold=verdict_frame["item"].map(gold_of), cluster=verdict_frame["item"].map(cluster_of)
    )
    signals = [{"attempt": tried.id} | msgspec.structs.asdict(signal) for tried in attempts for signal in tried.signals]
    return RunFrames(
        manifest,
        frame_of(items, BenchmarkItem),
        verdict_frame,
        frame_of(gold, GoldLabel),
        answers,
        DataFrame([_line(attempt) for attempt in attempts], columns=["id", *_ATTEMPT]),
        DataFrame(signals, columns=["attempt", *Signal.__struct_fields__]),
    )


def _line(attempt: RepairAttempt) -> dict[str, Any]:
    return {"id": attempt.id} | {name: getattr(attempt, name) for name in _ATTEMPT}
