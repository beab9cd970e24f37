"""Runs of repairs as text, as JSON, and as a page with every attempt, its patch and its trajectory.

Texts from outside enter the page's script only by `textContent`. Unsolved attempts are the last to be
left out, and the page says so.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from misstep_analysis.pages.browser import (
    LINES_SHOWN,
    Listed,
    Pieces,
    ShownRun,
    browser_page,
    embedded,
    shortened,
    shown_run,
)
from misstep_analysis.pages.page import Foot, markup, table_html
from misstep_analysis.pages.trajectory import Passage, passage
from misstep_analysis.repair.attempts import (
    ReviewedPatches,
    ReviewFunnel,
    review_document,
    review_funnel,
    review_table,
    reviewed_document,
    reviewed_patches,
    reviewed_table,
)
from misstep_analysis.repair.one_repair import RepairStory, repair_story, stories_of
from misstep_analysis.repair.recorded_runs import RepairRun, arms_of, warn_of
from misstep_analysis.repair.scores import (
    RepairScores,
    repair_document,
    repair_rates_table,
    repairs_finding,
    repairs_table,
    score_repairs,
    signals_table,
)
from misstep_analysis.tables import Table
from misstep_analysis.tables.text import table_text
from misstep_analysis.tables.wording import counted_text
from misstep_harness.errors import InputError
from misstep_harness.escaping import printable
from misstep_harness.journal.opened import distinct_names
from misstep_harness.journal.records import REPORT, SCORES, replace_file
from misstep_harness.repair.records import (
    ATTEMPT_RECORDS,
    FLAKY,
    NOT_AFFIRMED,
    REVIEWS,
    RepairAttempt,
    case_notes,
    read_reviews,
)

PAGE_CHARACTERS = 18_000_000
"""How many characters all patches and trajectories in a page may have together, compressed."""

ATTEMPTS_LISTED = 20_000
_COLUMNS = ("id", "run", "outcome", "setting", "ended", "error", "iterations", "seconds", "signals", "piece")
OUTCOMES = ("solved", "unsolved", "not scored", "not affirmed", "flaky oracle")

_COMPRESSED = 4
_RUN_SHOWN = (3_000, 60_000)
_PATCH_SHOWN = (2_000, 40_000)
_SIGNAL_SHOWN = 2_000


class SignalView(Struct, frozen=True, omit_defaults=True):
    """The answer of one validator, as the browser shows it."""

    validator: str
    answer: str
    score: float | None = None
    text: Passage = Passage()


class AttemptView(Struct, frozen=True, omit_defaults=True):
    """An attempt as the browser opens it."""

    facts: tuple[tuple[str, str], ...]
    patch: Passage = Passage()
    signals: tuple[SignalView, ...] = ()
    run: ShownRun | None = None


class AttemptLine(Struct, frozen=True):
    """An attempt as a line for readers without scripts."""

    run: str
    attempt: str
    outcome: str
    ended: str
    iterations: int
    seconds: float
    error: str


def outcome_of(attempt: RepairAttempt) -> str:
    """Return the outcome of an attempt in a word or two."""
    if attempt.ended in (NOT_AFFIRMED, FLAKY):
        return OUTCOMES[3 + (attempt.ended == FLAKY)]
    return OUTCOMES[2] if attempt.solved is None else OUTCOMES[not attempt.solved]


def attempt_browser(
    runs: Mapping[str, Iterable[RepairAttempt]], count: int, room: int = PAGE_CHARACTERS
) -> Listed[AttemptLine]:
    """Return the browser of the attempts of some runs."""
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    pieces = Pieces(room)
    lines: list[AttemptLine] = []
    total = 0
    for number, (name, attempts) in enumerate(runs.items()):
        for attempt in attempts:
            total += 1
            if total > ATTEMPTS_LISTED:
                continue
            outcome = outcome_of(attempt)
            rank = 1 if outcome == OUTCOMES[1] else 0
            has_something = bool(attempt.patch or attempt.signals or attempt.trajectory)
            piece = f"attempt-{total - 1}" if has_something and pieces.wants(rank) else ""
            if piece:
                pieces.add(piece, rank, _view(attempt, room // max(count, 1) * _COMPRESSED))
            for column, value in _row(number, attempt, outcome, piece).items():
                columns[column].append(value)
            if len(lines) < LINES_SHOWN:
                lines.append(_line(name, attempt, outcome))
    stored = pieces.contents()
    left_out = sum(name != "" and name not in stored for name in columns["piece"])
    columns["piece"] = [name if name in stored else "" for name in columns["piece"]]
    listed = min(total, ATTEMPTS_LISTED)
    notes = [f"{listed:,} of {total:,} attempts are listed."] if total > listed else []
    if left_out:
        notes.append(f"The texts of {left_out:,} attempts did not fit into the page: the run's folder has them all.")
    shown = f", the first {LINES_SHOWN} of them" if total > LINES_SHOWN else ""
    title = f"{total:,} attempt{'' if total == 1 else 's'}{shown}"
    index = embedded({"runs": list(runs), "outcomes": OUTCOMES, **columns})
    return Listed({"index": index, **stored}, tuple(lines), title, tuple(notes))


def _row(run: int, attempt: RepairAttempt, outcome: str, piece: str) -> dict[str, Any]:
    return {
        "id": f"{attempt.case} #{attempt.sample}",
        "run": run,
        "outcome": OUTCOMES.index(outcome),
        "setting": attempt.setting,
        "ended": attempt.ended,
        "error": shortened(attempt.error),
        "iterations": attempt.iterations,
        "seconds": attempt.seconds,
        "signals": tuple(f"{signal.validator}: {signal.answer}" for signal in attempt.signals),
        "piece": piece,
    }


def _line(run: str, attempt: RepairAttempt, outcome: str) -> AttemptLine:
    name = f"{attempt.case} #{attempt.sample}"
    error = shortened(attempt.error)
    return AttemptLine(run, name, outcome, attempt.ended, attempt.iterations, attempt.seconds, error)


def _view(attempt: RepairAttempt, room: int) -> AttemptView:
    run = attempt.trajectory
    tokens = (attempt.input_tokens, attempt.output_tokens)
    facts = (
        ("Policy", attempt.policy),
        ("Setting", attempt.setting),
        ("Edit format", attempt.format),
        ("Ended", attempt.ended),
        ("Tokens", "" if tokens == (None, None) else f"{tokens[0] or 0:,} in, {tokens[1] or 0:,} out"),
        ("Edits applied", ", ".join(attempt.rules)),
        ("Edits refused", str(attempt.refused) if attempt.refused else ""),
    )
    return AttemptView(
        facts=tuple((name, value) for name, value in facts if value),
        patch=passage(attempt.patch, _within(room // 4, _PATCH_SHOWN), always_open=True),
        signals=tuple(
            SignalView(signal.validator, signal.answer, signal.score, passage(signal.text, _SIGNAL_SHOWN))
            for signal in attempt.signals
        ),
        run=shown_run(run, (), _within(room, _RUN_SHOWN)) if run is not None and run.steps else None,
    )


def _within(wanted: int, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(wanted, bounds[1]))


def repairs_page(
    title: str,
    finding: str,
    tables: Sequence[Table],
    browser: Listed[AttemptLine],
    warnings: Iterable[str] = (),
    *,
    stories: Sequence[RepairStory] = (),
    figures: Iterable[str] = (),
    foot: Foot,
) -> str:
    """Return the page."""
    shown: list[Any] = [markup(table_html(table, with_finding=table.finding != finding)) for table in tables]
    return browser_page(
        "repairs/page.html.jinja",
        title=title,
        finding=finding,
        warnings=warnings,
        foot=foot,
        stories=stories,
        figures=[markup(figure) for figure in figures],
        first=shown[:1],
        others=shown[1:],
        browser=browser,
    )


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
        from misstep_analysis.repair.comparison import compare_repairs, repair_comparison_table

        pairs = compare_repairs([score.arm for score in scores])
        tables = [repair_rates_table(scores), repair_comparison_table(pairs), *tables]
    if any(score.signals for score in scores):
        tables.append(signals_table(scores))
    return tables if reviews is None else [*tables, review_table(reviews), reviewed_table(_reviewed(scores, reviews))]


def _reviewed(scores: Sequence[RepairScores], reviews: ReviewFunnel) -> ReviewedPatches:
    return reviewed_patches((attempt for score in scores for attempt in score.arm.attempts), reviews)


def repairs_text(runs: Sequence[RepairRun], scores: Sequence[RepairScores], reviews: ReviewFunnel | None = None) -> str:
    """Return the repairs for a terminal: of one run of few cases a sentence each, otherwise tables."""
    stories = stories_of(runs[0]) if len(runs) == 1 else []
    lines = [repairs_finding(scores), *(story.sentence for story in stories)] if len(stories) > 1 else []
    lines = lines or [story.sentence for story in stories]
    return "".join(f"{printable(line)}\n" for line in lines) + "\n".join(
        map(table_text, _tables_beside(stories, scores, reviews))
    )


def _tables_beside(
    stories: Sequence[RepairStory], scores: Sequence[RepairScores], reviews: ReviewFunnel | None
) -> list[Table]:
    """Return the tables; beside stories only those of reviews."""
    tables = repair_tables(scores, reviews)
    return [table for table in tables if "review" in table.name] if stories else tables


def repairs_json(runs: Sequence[RepairRun], scores: Sequence[RepairScores], reviews: ReviewFunnel | None = None) -> str:
    """Scores and comparisons of some runs as one JSON document; of one run as `misstep repair run --json` prints it."""
    documents = [{"run": run.name, **repair_document(one)} for run, one in zip(runs, scores, strict=True)]
    reviewed: dict[str, Any] = {}
    if reviews is not None:
        both = {"reviews": review_document(reviews), "passing_reviewed": reviewed_document(_reviewed(scores, reviews))}
        reviewed = msgspec.to_builtins(both)
    if len(scores) == 1:
        return _json(documents[0] | reviewed)
    from misstep_analysis.repair.comparison import compare_repairs

    pairs = msgspec.to_builtins(compare_repairs([score.arm for score in scores]))
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
    stories = stories_of(runs[0]) if len(runs) == 1 else []
    names = distinct_names([run.folder for run in runs])
    shown = [score.arm.name for score in scores]
    tables = _tables_beside(stories, scores, reviews)
    count = sum(len(run.attempts) for run in runs)
    attempts = {name: run.read(ATTEMPT_RECORDS) for name, run in zip(shown, runs, strict=True)}
    return repairs_page(
        f"Repairs by {shown[0]}" if len(runs) == 1 else f"{len(runs)} runs of repairs",
        stories[0].sentence if len(stories) == 1 else repairs_finding(scores),
        tables,
        attempt_browser(attempts, count),
        warn_of(runs),
        stories=stories,
        figures=_figures(tables[0]) if tables else (),
        foot=Foot(
            command or " ".join(["misstep", "report", *names]),
            inputs=tuple(_input(name, run) for name, run in zip(names, runs, strict=True)),
            seed=SEED,
        ),
    )


def attempt_html(run: RepairRun, attempt: RepairAttempt, command: str) -> str:
    """Return one attempt of a run as a self-contained page: its trajectory, its diff and what the checks say."""
    accept = shlex.join(["misstep", "repair", "review", "accept", str(run.folder), attempt.id])
    notes = case_notes(run.folder, run.manifest.folder, attempt.case)
    story = repair_story(attempt, notes, ("git apply patch.diff", accept))
    return repairs_page(
        f"A patch for {attempt.case}",
        story.sentence,
        (),
        attempt_browser({run.name: iter([attempt])}, 1),
        stories=[story],
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
    from misstep_analysis.pages.page import figure_html
    from misstep_analysis.plots.rows import forest

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
