"""What a session of an experiment counts for: its arm, whose it is, and its measured quantities."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from misstep_analysis.labels.rows import LabelRows, read_rows
from misstep_analysis.stats.raters.patterns import FloatArray
from misstep_analysis.tables import Unit
from misstep_harness.escaping import one_line
from misstep_harness.live_session import LiveSession

Metric = Literal["failed_calls", "tokens", "engineer_interventions", "seconds", "steps"]
METRICS: tuple[Metric, ...] = get_args(Metric)
"""In the order of Wink's table 5, which has no steps."""

NUMBERS = ("failed_calls", "calls", "tokens", "seconds", "engineer_interventions", "steps")
_SHAPE = f"Give the columns session, unit, arm and some of {', '.join(NUMBERS)}."


class ExperimentSession(Struct, frozen=True, omit_defaults=True):
    """One session; what was not measured is `None`, never 0."""

    session: str
    unit: str
    arm: str
    failed_calls: float | None = None
    calls: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    engineer_interventions: float | None = None
    steps: float | None = None


class MetricKind(Struct, frozen=True):
    """How a metric is called and shown: what is summed, per what, and whether a few sessions dominate the sum."""

    title: str
    unit: Unit
    skewed: bool


KINDS: Mapping[Metric, MetricKind] = {
    "failed_calls": MetricKind("Tool call failure rate", "share", skewed=False),
    "tokens": MetricKind("Tokens per session", "number", skewed=True),
    "engineer_interventions": MetricKind("Engineer interventions per session", "number", skewed=True),
    "seconds": MetricKind("Agent execution time per session", "seconds", skewed=True),
    "steps": MetricKind("Steps of the agent per session", "number", skewed=True),
}


def of_live(sessions: Iterable[LiveSession]) -> list[ExperimentSession]:
    """Return what each live session counts for; tokens are those read and those written."""
    return [
        ExperimentSession(
            one.item,
            one.unit,
            one.arm,
            failed_calls=one.failed_calls,
            calls=one.calls,
            tokens=one.input_tokens + one.output_tokens,
            seconds=one.seconds,
            engineer_interventions=one.engineer_interventions,
        )
        for one in sessions
    ]


def of_session(session: ExperimentSession, metric: Metric) -> tuple[float, float] | None:
    """What a session adds to the numerator and to the denominator of a metric; `None` where it was not measured."""
    value: float | None = getattr(session, metric)
    per = session.calls if metric == "failed_calls" else 1.0
    return None if value is None or per is None else (value, per)


def unit_sums(sessions: Sequence[ExperimentSession], metric: Metric) -> FloatArray:
    """Units x (numerator, denominator) of a metric, summed over each unit's sessions in which it was measured."""
    sums: dict[str, list[float]] = {}
    for session in sessions:
        added = of_session(session, metric)
        if added is not None:
            total = sums.setdefault(session.unit, [0.0, 0.0])
            total[0] += added[0]
            total[1] += added[1]
    return np.array(list(sums.values()), dtype=np.float64).reshape(-1, 2)


def read_sessions(file: Path) -> tuple[ExperimentSession, ...]:
    """Return the sessions of a user's CSV."""
    sheet = read_rows(file, "sessions", _SHAPE)
    places = {name.casefold().replace(" ", "_"): at for at, name in reversed(list(enumerate(sheet.header)))}
    if "arm" not in places:
        raise sheet.error(-1, "no column arm", _SHAPE)
    if not any(metric in places for metric in METRICS):
        raise sheet.error(-1, f"no column of {', '.join(METRICS)}", _SHAPE)
    if "failed_calls" in places and "calls" not in places:
        raise sheet.error(-1, "failed_calls without calls", "Give the column calls: how many tool calls there were.")
    columns = {name: places[name] for name in ("session", "unit", "arm", *NUMBERS) if name in places}
    rows = range(len(sheet.columns[0]))
    sessions = tuple(_session(sheet, columns, row) for row in rows)
    for row, reason in _contradictions(sheet, sessions):
        raise sheet.error(row, reason, "Each session is on one line, and each unit in one arm.")
    return sessions


def _session(sheet: LabelRows, columns: dict[str, int], row: int) -> ExperimentSession:
    texts = {name: one_line(sheet.columns[at][row]) for name, at in columns.items()}
    session = texts.get("session", f"row {row + 1}")
    for name in ("session", "unit", "arm"):
        if texts.get(name) == "":
            raise sheet.error(row, f"no {name}", "Fill in the cell.", name)
    numbers = {name: _number(sheet, row, name, texts[name]) for name in NUMBERS if name in texts}
    failed, calls = numbers.get("failed_calls"), numbers.get("calls")
    if failed is not None and calls is not None and failed > calls:
        raise sheet.error(
            row, f"{failed:g} of {calls:g} calls failed", "No more can fail than there are.", "failed_calls"
        )
    return ExperimentSession(session, texts.get("unit", session), texts["arm"], **numbers)


def _number(sheet: LabelRows, row: int, name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        advice = "Give a number of 0 or more, without separators of thousands, or leave the cell empty."
        raise sheet.error(row, f"{text!r} is not such a number", advice, name)
    return value


def _contradictions(sheet: LabelRows, sessions: tuple[ExperimentSession, ...]) -> Iterator[tuple[int, str]]:
    lines: dict[str, int] = {}
    arms: dict[str, tuple[str, int]] = {}
    for row, one in enumerate(sessions):
        if one.session in lines:
            yield row, f"session {one.session!r} is {sheet.where(lines[one.session])} already"
        arm, first = arms.setdefault(one.unit, (one.arm, row))
        if arm != one.arm:
            yield row, f"unit {one.unit!r} is in the arm {one.arm!r} here and {arm!r} {sheet.where(first)}"
        lines[one.session] = row
