"""Review the patches of repair runs, and write them as a benchmark for judges of patches.

The state of a patch follows from its events in the review log. Gold is whether the tests of the case pass.

That is less than what people call acceptable. With people's labels, from reviews or a study, these are the gold, and
patches without one are left out.
"""

import os
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from misstep_harness.datasets.benchmark import Benchmark, Gold, write_benchmark
from misstep_harness.errors import InputError, UsageError, write_all, writing
from misstep_harness.items import Item, read_question
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.run_folder import locked, make_folder
from misstep_harness.repair.case import FAILURE
from misstep_harness.repair.patch_judge import ACCEPTABLE, UNACCEPTABLE, patch_item, question_folder, with_failure
from misstep_harness.repair.records import (
    ATTEMPT_RECORDS,
    FLAKY,
    REVIEWS,
    Event,
    RepairAttempt,
    ReviewEvent,
    read_reviews,
    review_lines,
)
from misstep_harness.trajectory import together

ORACLE = "oracle"
"""The rater of gold labels that come from executed tests."""


def write_patches(runs: Sequence[OpenRun], out: Path, labels: Sequence[Gold] | None = None) -> Benchmark:
    """Write patches of runs as a benchmark folder; a patch's cluster is its case.

    `labels` are those of people, `None` those of executed tests.
    """
    if out.exists():
        raise UsageError(f"{out} is there already", "Name a folder that is not there yet.")
    patches = _patches(runs)
    gold = list(labels or ())
    if labels is None:
        flaky = {attempt.case for run in runs for attempt in run.read(ATTEMPT_RECORDS) if attempt.ended == FLAKY}
        scored = [each for each in patches.values() if each.solved is not None and each.case not in flaky]
        gold = [Gold(each.id, ORACLE, ACCEPTABLE if each.solved else UNACCEPTABLE) for each in scored]
    if unknown := next((row.item for row in gold if row.item not in patches), None):
        raise UsageError(f"the label of {unknown!r} is of no patch in these runs", "Name the runs that it is about.")
    if not gold:
        why = "A recording of a run keeps no patches." if labels is None else "Label some patches first."
        message = f"no attempt has a patch that {'was scored' if labels is None else 'has a label'}"
        raise InputError(message, why, file=runs[0].folder)
    question = read_question(question_folder())
    raters = tuple(dict.fromkeys(row.rater for row in gold))
    measured = "whether the tests of their cases pass" if raters == (ORACLE,) else "what people say of them"
    generated = [run.requested("evidence") == "generated" for run in runs]
    benchmark = Benchmark(
        name=question.name,
        title=f"Patches of repair runs, and {measured}",
        kind=question.kind,
        labels=question.labels,
        raters=raters,
        licence="",
        citation="",
        origin=tuple(run.name for run in runs),
        digest=" ".join(run.manifest.inputs.digest for run in runs),
        positive=question.positive,
        evidence=together("generated" if is_generated else "real" for is_generated in generated),
        question=question.asks,
    )
    labelled = {row.item for row in gold}
    items = [_item(attempt) for name, attempt in patches.items() if name in labelled]
    parent = out.resolve().parent
    make_folder(parent)
    with writing(out), TemporaryDirectory(dir=parent, prefix=f".{out.name}.") as building:
        benchmark = write_benchmark(Path(building) / out.name, benchmark, items, gold)
        (Path(building) / out.name).rename(out)
    return benchmark


def _patches(runs: Sequence[OpenRun]) -> dict[str, RepairAttempt]:
    attempts: dict[str, RepairAttempt] = {}
    for run in runs:
        own = {each.id: each for each in run.read(ATTEMPT_RECORDS) if each.patch}
        if twice := next((name for name in own if name in attempts), ""):
            advice = "Name one of them, or write a benchmark of each."
            raise UsageError(f"two of the runs made the attempt {twice}", advice)
        attempts |= own
    return attempts


def _item(attempt: RepairAttempt) -> Item:
    run = attempt.trajectory
    task = with_failure(run.task, run.extra.get(FAILURE)) if run is not None else ""
    item = patch_item(attempt.id, task, attempt.patch, attempt.signals)
    return replace(item, extra={"cluster": attempt.case})


_CLOSED: frozenset[str] = frozenset({"rejected", "landed"})

REVIEWERS = "review"
_LABELS: dict[str, str] = {"accepted": ACCEPTABLE, "landed": ACCEPTABLE, "rejected": UNACCEPTABLE}


def reviews_of(run: Path) -> tuple[ReviewEvent, ...]:
    """Return the reviews of a run in their order, none without a log."""
    return read_reviews(run / REVIEWS) if (run / REVIEWS).exists() else ()


def state_of(attempt: str, reviews: Sequence[ReviewEvent]) -> str:
    """Return the last event of a patch, `generated` if there is none."""
    return next((review.event for review in reversed(reviews) if review.attempt == attempt), "generated")


def decisions(run: Path) -> list[Gold]:
    """Return what reviewers decided on the patches of a run as gold labels: of several decisions the last."""
    labels = {review.attempt: _LABELS[review.event] for review in reviews_of(run) if review.event in _LABELS}
    return [Gold(attempt, REVIEWERS, label) for attempt, label in labels.items()]


def add_review(run: Path, attempt: RepairAttempt, event: Event, by: str, comment: str = "") -> ReviewEvent:
    """Add an event to the reviews of a run."""
    if not attempt.solved:
        raise UsageError(f"{attempt.id} has no patch that passes its tests", "Review a solved attempt.")
    reviews = reviews_of(run)
    state = state_of(attempt.id, reviews)
    if state in _CLOSED:
        raise UsageError(f"{attempt.id} is {state} already", "Review another attempt.")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    review = ReviewEvent(attempt.id, event, now, by, " ".join(comment.split()))
    with writing(run / REVIEWS), closing(locked(run / REVIEWS)) as stream:
        begun = stream.seek(0, os.SEEK_END) > 0
        write_all(stream, review_lines([review], header=not begun), run / REVIEWS)
    return review
