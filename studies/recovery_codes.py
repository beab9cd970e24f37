"""A sample of interventions for people to code: a blind sheet each, a page an item, and a log of what they settle."""

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from misstep.analysis.measures.recovery_codes import (
    DECISION_COLUMNS,
    DECISIONS,
    OUTCOMES,
    SHEET,
    SHEET_COLUMNS,
    Outcome,
    code_book,
    read_coded,
)
from misstep.analysis.pages import Foot
from misstep.analysis.pages.trajectory import trajectory_page
from misstep.harness.errors import InputError, UsageError
from misstep.harness.journal.records import replace_file
from misstep.harness.records.live_session import LiveSession
from misstep.studies.recovery_benchmark import judgements_of, recovery_items, rule_verdicts, shown_run

ITEMS = "items"
"""The folder of the pages."""


def draw_sample(
    sessions: Sequence[LiveSession], n: int, coders: Sequence[str], seed: int, out: Path
) -> dict[Outcome, int]:
    """Write sheets and pages for a random sample of either outcome; gives how many items of each were drawn.

    The outcome is what the judge `recovery@rule` says, as the paper's coders were given those of its judge. Nothing
    that was planted is in the sheets.
    """
    if any(out.glob(SHEET.format("*"))):
        raise UsageError(f"{out} has sheets", "Name another folder with --out.")
    if len(set(coders)) < max(2, len(coders)) or not all(name.replace("-", "").isalnum() for name in coders):
        found = f"the coders {', '.join(coders)}"
        raise UsageError(found, "Name two or more, each once, in letters, digits and hyphens.")
    told = judgements_of(rule_verdicts(sessions))
    of_item = {item.id: (session, number) for session in sessions for item, number in recovery_items(session)}
    drawn: dict[str, Outcome] = {}
    for outcome in OUTCOMES:
        pool = [
            name
            for name, (session, number) in of_item.items()
            if told[session.item, number] == (outcome == "recovered")
        ]
        random = Random(f"{seed}:{outcome}")  # noqa: S311 (a sample)
        drawn |= dict.fromkeys(random.sample(pool, min(n, len(pool))), outcome)
    if not drawn:
        raise UsageError("no intervention to draw from", "Name a run with an arm that guides.")
    (out / ITEMS).mkdir(parents=True, exist_ok=True)
    for name in drawn:
        replace_file(out / ITEMS / page_name(name), _page(of_item[name][0], out).encode())
    for coder in coders:
        order = list(drawn)
        Random(f"{seed}:{coder}").shuffle(order)  # noqa: S311
        replace_file(out / SHEET.format(coder), _sheet(order, drawn))
    return {outcome: sum(known == outcome for known in drawn.values()) for outcome in OUTCOMES}


def settle(folder: Path, item: str, code: str, by: str, note: str = "") -> None:
    """Add a decision to the log of a folder; earlier ones stay."""
    coded = read_coded(folder)
    if item not in coded.outcomes:
        raise UsageError(f"no sheet has the item {item!r}", f"Name one of them, such as {next(iter(coded.outcomes))}.")
    known = code_book()[coded.outcomes[item]]
    if code not in known:
        raise UsageError(f"unknown code {code!r} of the outcome {coded.outcomes[item]}", f"Codes: {', '.join(known)}.")
    if not by.strip():
        raise UsageError("nobody is named", "Name who settled it with --by.")
    file = folder / DECISIONS
    at = datetime.now(UTC).isoformat(timespec="seconds")
    new = _lines([(item, code, by, note, at)])
    try:
        earlier = file.read_bytes() if file.is_file() else _lines([DECISION_COLUMNS])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", "Check its permissions.", file=file) from error
    replace_file(file, earlier + new)


def page_name(item: str) -> str:
    """Return the file of an item's page."""
    return f"{item.replace('#', '-')}.html"


def _page(session: LiveSession, out: Path) -> str:
    foot = Foot(shlex.join(["misstep", "experiment", "codes", "sample", "RUN", "--out", str(out)]))
    return trajectory_page(shown_run(session), (), foot, session.observed)


def _sheet(order: Sequence[str], outcomes: Mapping[str, Outcome]) -> bytes:
    return _lines([SHEET_COLUMNS, *((item, outcomes[item], "", "") for item in order)])


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
