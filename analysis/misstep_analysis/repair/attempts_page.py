"""The page of runs of repairs: scores, comparisons, and every attempt with its patch and its trajectory.

Texts from outside enter the page's script only by `textContent`. Unsolved attempts are the last to be
left out, and the page says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
from misstep_analysis.tables import Table
from misstep_harness.repair.records import FLAKY, NOT_AFFIRMED, RepairAttempt

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
        figures=[markup(figure) for figure in figures],
        first=shown[:1],
        others=shown[1:],
        browser=browser,
    )
