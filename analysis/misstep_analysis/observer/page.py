"""What an observer of recorded runs saw and would have said, as text for a terminal and as a page."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from misstep_analysis.observer.observed import ObservedSummary, observed_finding, observed_table
from misstep_analysis.pages.interventions import WITHHELD, ObservedIntervention
from misstep_analysis.runs.finished import named_inputs, read_scores, require_finished
from misstep_analysis.tables.text import aligned
from misstep_analysis.tables.wording import count_text, counted_text, interval_words, place_text
from misstep_harness.escaping import plain
from misstep_harness.intervention import ObservedRun
from misstep_harness.journal.classified import LabelledSession, PlacedVerdict
from misstep_harness.journal.opened import OpenRun
from misstep_harness.journal.records import OBSERVED_RECORDS, SESSION_RECORDS, read_records
from misstep_harness.session import Session

_EXAMPLES = 5
RECORDED = (
    "The agents of recorded runs cannot hear guidance: what they did afterwards says nothing about whether it helps."
)


def observed_json(summary: ObservedSummary) -> bytes:
    """Return the document as indented JSON, with a line end."""
    return msgspec.json.format(msgspec.json.encode(summary), indent=2) + b"\n"


def observed_text(summary: ObservedSummary, page: Path | None = None) -> str:
    """Return the document for a terminal: tables, examples, what was left out and the page of the run."""
    rate, naive = summary.misbehaviour_rate, summary.naive_rate
    origin = "generated " if summary.evidence == "generated" else ""
    read = counted_text(summary.n, f"{origin}session")
    head = f"{read} read; the detector {summary.detector} was asked every {summary.every} steps"
    lines = [head, "", observed_finding(summary)]
    if rate.value is not None:
        independent = interval_words(naive.low, naive.high, "share").removeprefix("95% interval ")
        lines.append(f"Were invocations independent of each other, the interval would be {independent}.")
    if summary.categories:
        rows = [("category", "flagged invocations", "interventions")]
        rows += [
            (plain(name), count_text(number), count_text(sum(name in one.categories for one in summary.interventions)))
            for name, number in summary.categories.items()
        ]
        lines += ["", *aligned(rows)]
    if summary.interventions:
        parts = [f"{count_text(summary.delivered)} delivered"] if summary.delivered else []
        parts += [
            f"{count_text(summary.withheld[why])} {words}" for why, words in WITHHELD.items() if why in summary.withheld
        ]
        lines += ["", f"{counted_text(len(summary.interventions), 'intervention')}: {'; '.join(parts)}."]
        lines += [f"  {intervention_line(one)}" for one in summary.interventions[:_EXAMPLES]]
        more = len(summary.interventions) - _EXAMPLES
        lines += [f"  and {more:,} more; --json lists them all."] if more > 0 else []
        lines += [RECORDED] if summary.delivered else []
    remarks = [*_left_out(summary), *([f"open {page}"] if page else [])]
    return "\n".join(lines + ([""] if remarks else []) + remarks)


def intervention_line(one: ObservedIntervention) -> str:
    """Return an intervention in one line: its session, its steps and the reason."""
    where = place_text(one.file, one.line)
    ending = "" if one.delivered_at is None else f", told behind step {one.delivered_at}"
    named = ", ".join(one.categories)
    return plain(
        f"{named}  {one.item} ({where}), from step {one.step}, seen at step {one.detected_at}{ending}: {one.rationale}"
    )


def _left_out(summary: ObservedSummary) -> Iterator[str]:
    missing = summary.invocations - summary.answered
    if missing:
        why = "; ".join(f"{count_text(n)} of them: {plain(error)}" for error, n in summary.failed.items())
        reasons = f" ({why})" if why else ""
        yield f"{counted_text(missing, 'invocation')} got no answer{reasons}; the rate leaves them out."
    if summary.unreadable:
        yield f"{counted_text(len(summary.unreadable), 'session')} could not be read."
    if summary.skipped:
        yield f"{counted_text(len(summary.skipped), 'file')} of no known format skipped."


def observed_page(
    summary: ObservedSummary,
    runs: Iterable[tuple[Session, ObservedRun]],
    inputs: Sequence[str],
    arguments: Sequence[str],
) -> str:
    """Return the page of a run of `observe`: the rate, and every session with an intervention."""
    from misstep_analysis.pages.browser import browser_page
    from misstep_analysis.pages.page import Foot, markup, table_html
    from misstep_analysis.sessions.page import FlaggedSessions, Fold

    sessions = FlaggedSessions()
    for session, run in runs:
        sessions.add(LabelledSession(session, tuple(_verdicts(run))))
    browser = sessions.browser()
    finding = observed_finding(summary)
    table = observed_table(summary, source=counted_text(summary.n, "session"), evidence=summary.evidence)
    unreadable = (
        [f"{counted_text(len(summary.unreadable), 'session')} could not be read."] if summary.unreadable else []
    )
    return browser_page(
        "sessions/page.html.jinja",
        title=f"What the observer saw in {counted_text(summary.n, 'session')}",
        finding=finding,
        warnings=unreadable,
        foot=Foot(shlex.join(["misstep", "observe", *arguments]), inputs=tuple(inputs)),
        heading="Flagged sessions",
        checked="",
        folds=(Fold("figures", table.title, [markup(table_html(table, with_finding=False))]),),
        browser=browser,
        notes=(RECORDED, *_left_out(summary)),
    )


def page_of_observed(run: OpenRun) -> str:
    """Return the page of a finished run, made again."""
    require_finished(run)
    scores, manifest = read_scores(run.folder, ObservedSummary), run.manifest
    return observed_page(scores, observed_sessions(run.folder), named_inputs(manifest), manifest.arguments)


def observed_sessions(run: Path) -> Iterator[tuple[Session, ObservedRun]]:
    """Return the sessions of a run, each with what the observer saw of it."""
    return zip(read_records(run, SESSION_RECORDS), read_records(run, OBSERVED_RECORDS), strict=True)


def _verdicts(run: ObservedRun) -> Iterator[PlacedVerdict]:
    places: dict[str, list[tuple[tuple[int, ...], str]]] = {}
    for one in run.interventions:
        end = f"told behind step {one.delivered_at}" if one.delivered_at is not None else WITHHELD[one.withheld]
        for misbehaviour in one.misbehaviours:
            text = f"Seen at step {one.detected_at}, {end}. {misbehaviour.rationale}"
            places.setdefault(misbehaviour.category, []).append((misbehaviour.steps, text))
    for category, parts in places.items():
        steps = tuple(sorted({step for own, _ in parts for step in own}))
        rationale = " ".join(text for _, text in parts)
        yield PlacedVerdict(run.item, category, "yes", steps=steps, rationale=rationale, file=run.file, line=run.line)
