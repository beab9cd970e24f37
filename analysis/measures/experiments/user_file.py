"""A user's own experiment: a CSV of one session a row.

    session,unit,arm,failed_calls,calls,tokens,seconds,engineer_interventions
    s-1,ana,control,2,31,81230,412.5,1
    s-2,ben,treatment,0,18,40112,198.0,0

`arm` is needed, and one metric at least; `failed_calls` needs `calls`. `unit` is what was assigned to an arm: without
it each session is its own, and without `session` each row is one. An empty cell was not measured: the session is left
out of that metric alone, and counted.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from misstep.analysis.labels.rows import LabelRows, read_rows
from misstep.analysis.measures.experiments.sessions import METRICS, ExperimentSession
from misstep.harness.escaping import one_line

NUMBERS = ("failed_calls", "calls", "tokens", "seconds", "engineer_interventions")
_SHAPE = f"Give the columns session, unit, arm and some of {', '.join(NUMBERS)}."


def read_sessions(file: Path) -> tuple[ExperimentSession, ...]:
    """Return the sessions of a user's CSV."""
    sheet = read_rows(file, "sessions", _SHAPE)
    columns = _columns(sheet)
    rows = range(len(sheet.columns[0]))
    sessions = tuple(_session(sheet, columns, row) for row in rows)
    for row, reason in _contradictions(sheet, sessions):
        raise sheet.error(row, reason, "Each session is on one line, and each unit in one arm.")
    return sessions


def _columns(sheet: LabelRows) -> dict[str, int]:
    places = {name.casefold().replace(" ", "_"): at for at, name in reversed(list(enumerate(sheet.header)))}
    if "arm" not in places:
        raise sheet.error(-1, "no column arm", _SHAPE)
    if not any(metric in places for metric in METRICS):
        raise sheet.error(-1, f"no column of {', '.join(METRICS)}", _SHAPE)
    if "failed_calls" in places and "calls" not in places:
        raise sheet.error(-1, "failed_calls without calls", "Give the column calls: how many tool calls there were.")
    return {name: places[name] for name in ("session", "unit", "arm", *NUMBERS) if name in places}


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
