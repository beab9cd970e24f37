"""Runs of repairs shown: scores as text and JSON, comparisons, a page with every attempt, and a reviewer's package."""

import json
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from misstep_analysis.judging.judged_runs import distinct_names
from misstep_analysis.pages import Foot, table_text
from misstep_analysis.pages.page import figure_html
from misstep_analysis.plots import forest
from misstep_analysis.repair.attempts import ReviewFunnel, review_document, review_funnel, review_table
from misstep_analysis.repair.attempts_page import attempt_browser, repairs_page
from misstep_analysis.repair.patch_judge import (
    ReviewedPatches,
    reviewed_document,
    reviewed_patches,
    reviewed_table,
)
from misstep_analysis.repair.recorded_runs import RepairRun, arms_of, open_repair_run, warn_of
from misstep_analysis.repair.scores import (
    RepairScores,
    compare_repairs,
    repair_comparison_table,
    repair_document,
    repair_rates_table,
    repairs_finding,
    repairs_table,
    score_repairs,
    signals_table,
)
from misstep_analysis.tables import Table
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import InputError, writing
from misstep_harness.journal.records import REPORT, SCORES, replace_file
from misstep_harness.journal.run_folder import make_folder
from misstep_harness.repair.case import CaseFolder
from misstep_harness.repair.records import ATTEMPT_RECORDS, REVIEWS, RepairAttempt, read_reviews, signal_line

SEED = 0


def scores_of(runs: Sequence[RepairRun], seed: int = SEED) -> list[RepairScores]:
    """Return the scores of some runs, in their order."""
    return [score_repairs(arm, seed) for arm in arms_of(runs)]


def reviews_of(runs: Sequence[RepairRun], log: Path | None = None) -> ReviewFunnel | None:
    """Return the funnel of the reviews of some runs, whose patches were generated whether a log says so or not."""
    logs = [log] if log else [file for run in runs if (file := run.folder / REVIEWS).is_file()]
    if not logs:
        return None
    ids = {attempt.id for run in runs for attempt in run.attempts}
    events = [(file, event) for file in logs for event in read_reviews(file)]
    unknown = next(((file, event.attempt) for file, event in events if event.attempt not in ids), None)
    if unknown is not None:
        file, name = unknown
        advice = "Name the runs that the log is about."
        raise InputError(f"unknown attempt {name!r} in these runs", advice, file=file)
    patched = (attempt.id for run in runs for attempt in run.attempts if attempt.patched)
    return review_funnel((event for _, event in events), patched)


def repair_tables(scores: Sequence[RepairScores], reviews: ReviewFunnel | None = None) -> list[Table]:
    """The tables of scored runs: scores, if there are several comparisons, and what validators and reviewers say."""
    tables = [repairs_table(scores)]
    if len(scores) > 1:
        pairs = compare_repairs([one.arm for one in scores])
        tables = [repair_rates_table(scores), repair_comparison_table(pairs), *tables]
    if any(one.signals for one in scores):
        tables.append(signals_table(scores))
    return tables if reviews is None else [*tables, review_table(reviews), reviewed_table(_reviewed(scores, reviews))]


def _reviewed(scores: Sequence[RepairScores], reviews: ReviewFunnel) -> ReviewedPatches:
    return reviewed_patches((attempt for one in scores for attempt in one.arm.attempts), reviews)


def repairs_text(scores: Sequence[RepairScores], reviews: ReviewFunnel | None = None) -> str:
    """Return the tables for a terminal."""
    return "\n".join(table_text(table) for table in repair_tables(scores, reviews))


def repairs_json(runs: Sequence[RepairRun], scores: Sequence[RepairScores], reviews: ReviewFunnel | None = None) -> str:
    """Scores and comparisons of some runs as one JSON document; of one run as `misstep repair run --json` prints it."""
    documents = [{"run": run.name, **repair_document(one)} for run, one in zip(runs, scores, strict=True)]
    reviewed: dict[str, Any] = {}
    if reviews is not None:
        both = {"reviews": review_document(reviews), "passing_reviewed": reviewed_document(_reviewed(scores, reviews))}
        reviewed = msgspec.to_builtins(both)
    if len(scores) == 1:
        return _json(documents[0] | reviewed)
    pairs = msgspec.to_builtins(compare_repairs([one.arm for one in scores]))
    return _json({"runs": documents, "pairs": pairs} | reviewed)


def write_repair_scores(run: RepairRun, command: str) -> RepairScores:
    """Write `scores.json` and `report.html` into a run's folder."""
    scores = scores_of([run])
    replace_file(run.folder / SCORES, repairs_json([run], scores).encode())
    replace_file(run.folder / REPORT, repairs_html([run], scores, command).encode())
    return scores[0]


def repairs_html(
    runs: Sequence[RepairRun],
    scores: Sequence[RepairScores] = (),
    command: str = "",
    reviews: ReviewFunnel | None = None,
) -> str:
    """Return some runs as one self-contained page, with every attempt."""
    scores = scores or scores_of(runs)
    reviews = reviews or reviews_of(runs)
    names = distinct_names([run.folder for run in runs])
    shown = [one.arm.name for one in scores]
    tables = repair_tables(scores, reviews)
    count = sum(len(run.attempts) for run in runs)
    attempts = {name: run.read(ATTEMPT_RECORDS) for name, run in zip(shown, runs, strict=True)}
    return repairs_page(
        f"Repairs by {shown[0]}" if len(runs) == 1 else f"{len(runs)} runs of repairs",
        repairs_finding(scores),
        tables,
        attempt_browser(attempts, count),
        warn_of(runs),
        figures=_figures(tables[0]),
        foot=Foot(
            command or " ".join(["misstep", "report", *names]),
            inputs=tuple(_input(name, run) for name, run in zip(names, runs, strict=True)),
            seed=SEED,
        ),
    )


def _attempt_html(run: RepairRun, attempt: RepairAttempt, command: str) -> str:
    """Return one attempt of a run as a self-contained page: its trajectory, its diff and what the checks say."""
    alone = structs.replace(run, attempts=tuple(each for each in run.attempts if each.id == attempt.id))
    scores = scores_of([alone])
    return repairs_page(
        f"A patch for {attempt.case}",
        f"{attempt.policy} {'solves' if attempt.solved else 'does not solve'} {attempt.case}.",
        [table for table in repair_tables(scores) if table.name.endswith("signals")],
        attempt_browser({scores[0].arm.name: iter([attempt])}, 1),
        foot=Foot(command, inputs=(_input(run.name, run),), seed=SEED),
    )


class ObservedAttempts(Struct, frozen=True):
    """The work of observers beside the agents of a run: questions, and the words that agents heard or did not hear."""

    detector: str
    attempts: int
    invocations: int
    answered: int
    failed: int
    delivered: int
    withheld: int

    @property
    def sentence(self) -> str:
        """Return it as a sentence."""
        invoked = f"was asked {counted_text(self.invocations, 'time')} in {counted_text(self.attempts, 'attempt')}"
        words = f"{counted_text(self.delivered, 'word')} to the agents, {self.withheld:,} withheld"
        open_ones = self.invocations - self.answered - self.failed
        return (
            f"The observer {self.detector} {invoked}: {self.answered:,} answered, {self.failed:,} failed, "
            f"{open_ones:,} open at the end. {words}."
        )


def observed_attempts(run: RepairRun) -> ObservedAttempts | None:
    """Return the work of observers in a run's attempts; `None` without an observer."""
    runs = [one.observed for one in run.read(ATTEMPT_RECORDS) if one.observed is not None]
    if not runs:
        return None
    statuses = [each.status for one in runs for each in one.invocations]
    delivered = [each.delivered_at is not None for one in runs for each in one.interventions]
    counts = len(statuses), statuses.count("answered"), statuses.count("failed")
    return ObservedAttempts(runs[0].detector, len(runs), *counts, delivered.count(True), delivered.count(False))


def _figures(table: Table) -> tuple[str, ...]:
    if len(table.drawn) < 2 or find_spec("matplotlib") is None:
        return ()
    drawing = forest(table.drawn, "Solve rate of each run")
    return (figure_html(drawing, "The share of cases solved by one attempt, with its 95% interval."),)


def _input(name: str, run: RepairRun) -> str:
    model = run.requested("model")
    by = f"{run.requested('policy')}{f' with {model}' if model else ''}, {run.requested('setting')}"
    if patcher := run.requested("patcher_model"):
        by += f", edits by {patcher}"
    if instructions := run.requested("instructions"):
        by += f", {instructions} instructions by {run.arm('').instructions_author}"
    unfinished = "" if run.manifest.finished else ", not finished"
    judge = run.manifest.settings.get("patch_judge") or {}
    if judge:
        with_model = f" with {judge['model']}" if judge.get("model") else ""
        by += f", patches judged by {judge.get('judge', '')}{with_model}"
    return (
        f"{name}: {by} ({run.manifest.inputs.digest[:12]}), {counted_text(len(run.attempts), 'attempt')}, "
        f"begun {run.manifest.started}{unfinished}"
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


PATCH, TASK, PAGE = "patch.diff", "task.md", "index.html"


def write_package(run: Path, attempt: RepairAttempt, case: CaseFolder, out: Path) -> None:
    """Write a review package into a folder."""
    if not attempt.patch:
        raise InputError(f"{attempt.id} has no patch", "Review a solved attempt.", file=run)
    make_folder(out)
    command = shlex.join(["misstep", "repair", "review", "package", str(run), attempt.id, "--out", str(out)])
    with writing(out):
        replace_file(out / PATCH, attempt.patch.encode("utf-8", "surrogateescape"))
        replace_file(out / TASK, _task(case, attempt).encode("utf-8", "surrogateescape"))
        replace_file(out / PAGE, _attempt_html(open_repair_run(run), attempt, command).encode())


def _task(case: CaseFolder, attempt: RepairAttempt) -> str:
    lines = [f"# {case.case.id}", "", _fenced(case.case.task), "", "Tests: " + ", ".join(case.case.oracle), ""]
    lines += [f"- {signal_line(signal)}" for signal in attempt.signals]
    for number, diff in case.case.diffs.items():
        lines += ["", f"The change {number} that broke it:", "", _fenced(diff, "diff")]
    return "\n".join(lines) + "\n"


def _fenced(text: str, language: str = "") -> str:
    """Return a text in a fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
