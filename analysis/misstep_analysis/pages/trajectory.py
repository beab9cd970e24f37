"""One trajectory as a page: its findings first, then every step, the evidence marked at its place.

The text of a trajectory is escaped and its control codes are stripped; long texts are cut, and the cut is marked, so
that a page stays small enough to open.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import unified_diff
from itertools import groupby
from typing import Any

from msgspec import Struct, structs

from misstep_analysis.pages.interventions import guidance_number, observer_view
from misstep_analysis.pages.page import Foot, asset, described, markup, render
from misstep_analysis.tables import Unit
from misstep_analysis.tables.wording import (
    count_text,
    counted_text,
    in_words,
    listed_text,
    number_text,
    problems_text,
)
from misstep_harness.escaping import one_line
from misstep_harness.intervention import ObservedRun
from misstep_harness.session import title_of
from misstep_harness.trajectory import Step, ToolCall, ToolResult, Trajectory
from misstep_harness.values import as_json, known_sum
from misstep_harness.verdict import Verdict

TEXT_SHOWN = 20_000
"""How many characters of one text are shown at most: three quarters from its start, a quarter from its end."""

PAGE_SHOWN = 4_000_000
"""How many characters of all texts are shown at most: in a larger trajectory less is shown of each."""

STEPS_SHOWN = 2_000
"""How many steps are shown at most, half from the start and half from the end, besides the evidence."""

_LEAST_SHOWN = 400
_OPEN_CHARACTERS = 1_500
_OPEN_LINES = 16
_STEPS_NAMED = 24


class Passage(Struct, frozen=True, omit_defaults=True):
    """A text of a step: its shown parts before and after a cut, whether it is open, and whether it is a diff."""

    start: str = ""
    end: str = ""
    cut: int = 0
    is_open: bool = True
    summary: str = ""
    is_diff: bool = False

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to show."""
        return not self.start


class CallView(Struct, frozen=True, omit_defaults=True):
    """A tool call as the page shows it."""

    name: str
    arguments: tuple[tuple[str, Passage], ...] = ()
    problem: str = ""


class ResultView(Struct, frozen=True, omit_defaults=True):
    """A tool's answer as the page shows it; `failed` says so in a word if the format does."""

    of: str = ""
    text: Passage = Passage()
    failed: str = ""


class Mark(Struct, frozen=True):
    """A category whose evidence a step is, and why."""

    category: str
    reason: str


class StepView(Struct, frozen=True, omit_defaults=True):
    """A step as the page shows it; `skipped` steps before it are not shown, `guidance` numbers an intervention."""

    number: int
    role: str
    guidance: int | None = None
    speaker: str = ""
    facts: str = ""
    text: Passage = Passage()
    reasoning: Passage = Passage()
    calls: tuple[CallView, ...] = ()
    results: tuple[ResultView, ...] = ()
    marks: tuple[Mark, ...] = ()
    skipped: int = 0


class _Span(Struct, frozen=True):
    start: int
    length: int
    kind: str


class VerdictView(Struct, frozen=True):
    """One classifier's verdict on the trajectory; steps beyond the named ones are counted."""

    category: str
    label: str
    rationale: str
    steps: tuple[int, ...]
    more: int
    evidence: tuple[int, ...]


def trajectory_page(
    trajectory: Trajectory, verdicts: Sequence[Verdict], foot: Foot, observed: ObservedRun | None = None
) -> str:
    """Return the page of one trajectory with the verdicts on it."""
    values = trajectory_values(trajectory, verdicts, foot, observed)
    return render("trajectory.html.jinja", **values, search=markup(asset("trajectory.js")))


def trajectory_values(
    trajectory: Trajectory, verdicts: Sequence[Verdict], foot: Foot, observed: ObservedRun | None = None
) -> dict[str, Any]:
    """Return the values of the template of such a page."""
    judged = (verdict for verdict in verdicts if verdict.status == "answered")
    evidence = {verdict.judge: verdict.steps if verdict.label == "yes" else () for verdict in judged}
    most = most_of_each(trajectory.steps)
    flagged = [verdict for verdict in verdicts if verdict.label == "yes"]
    spans, start = [], 0
    for kind, same in groupby(map(_kind, trajectory.steps)):
        length = sum(1 for _ in same)
        spans.append(_Span(start, length, kind))
        start += length
    return {
        "title": title_of(trajectory) or trajectory.id,
        "finding": finding(trajectory, verdicts),
        "task": passage(trajectory.task, TEXT_SHOWN),
        "facts": (("Id", trajectory.id), *run_facts(trajectory)),
        "verdicts": [_verdict_view(verdict, len(trajectory.steps)) for verdict in sorted(verdicts, key=_found_first)],
        "spans": spans,
        "steps": list(_step_views(trajectory.steps, flagged, most)),
        "n_steps": len(trajectory.steps),
        "observer": observer_view(observed, trajectory.steps, evidence) if observed else None,
        "foot": described(foot),
    }


def finding(trajectory: Trajectory, verdicts: Sequence[Verdict]) -> str:
    """Return what was found in a trajectory, in one sentence."""
    number = len(trajectory.steps)
    steps = counted_text(number, "step")
    flagged = [verdict for verdict in verdicts if verdict.label == "yes"]
    answered = sum(verdict.status == "answered" for verdict in verdicts)
    failed = sum(verdict.status == "failed" for verdict in verdicts)
    outcome = {"passed": " The task was solved.", "failed": " The task was not solved.", "unknown": ""}
    sentence = f"{steps}, and no rule could check them."
    if flagged:
        sentence = f"{steps}, {listed_text([_shown(one, number) for one in flagged])}."
    elif answered:
        sentence = f"{steps}, nothing went wrong by {counted_text(answered, 'rule')}."
    if failed:
        sentence += f" {counted_text(failed, 'rule')} failed."
    return sentence + outcome[trajectory.outcome.status]


def _shown(verdict: Verdict, n_steps: int) -> str:
    named = len(_evidence(verdict, n_steps))
    problems = problems_text(verdict.judge)
    return f"{count_text(named)} with {problems}" if named else f"{problems} without a step"


def _evidence(verdict: Verdict, n_steps: int) -> tuple[int, ...]:
    return tuple(sorted({step for step in verdict.steps if 0 <= step < n_steps}))


def run_facts(trajectory: Trajectory) -> tuple[tuple[str, str], ...]:
    """Return what is known of a trajectory as a whole, each with its name."""
    source, outcome = trajectory.source, trajectory.outcome
    place = source.file if source.line is None else f"{source.file}, line {source.line:,}"
    reward = "" if outcome.reward is None else f", reward {number_text(outcome.reward)}"
    totals = run_totals(trajectory)
    facts = (
        ("Outcome", f"{outcome.status}{reward}"),
        ("Agent", trajectory.agent or "not recorded"),
        ("Model", trajectory.model or "not recorded"),
        ("Steps", count_text(totals.steps)),
        ("Time", _known(totals.seconds, "seconds")),
        ("From first to last step", _known(totals.elapsed, "seconds") if totals.seconds is None else ""),
        ("Tokens in", _known(totals.prompt_tokens, "count")),
        ("Tokens out", _known(totals.completion_tokens, "count")),
        ("Cost", _known(totals.cost_usd, "usd")),
        ("Part of", trajectory.parent or ""),
        ("Data set", source.dataset or ""),
        ("Source", f"{place} ({source.format})" if place else source.format),
    )
    return tuple((name, value) for name, value in facts if value)


def _known(value: float | None, unit: Unit) -> str:
    return "" if value is None else number_text(value, unit)


def _verdict_view(verdict: Verdict, n_steps: int) -> VerdictView:
    steps = _evidence(verdict, n_steps)
    return VerdictView(
        category=in_words(verdict.judge),
        label=verdict.label or verdict.status,
        rationale=verdict.rationale or verdict.error or "",
        steps=steps[:_STEPS_NAMED],
        more=max(len(steps) - _STEPS_NAMED, 0),
        evidence=steps if verdict.label == "yes" else (),
    )


def _step_views(steps: Sequence[Step], flagged: Sequence[Verdict], most: int) -> Iterable[StepView]:
    evidence = {step for verdict in flagged for step in verdict.steps}
    half = STEPS_SHOWN // 2
    previous = -1
    for number, step in enumerate(steps):
        if half <= number < len(steps) - half and number not in evidence:
            continue
        marks = tuple(
            Mark(in_words(verdict.judge), verdict.rationale) for verdict in flagged if number in verdict.steps
        )
        yield step_view(number, step, marks, number - previous - 1, most)
        previous = number


def step_view(number: int, step: Step, marks: tuple[Mark, ...], skipped: int, most: int) -> StepView:
    """Return a step as a page shows it."""
    names = {call.id: call.name for call in step.calls if call.id}
    tokens = step.tokens.completion if step.tokens else None
    facts = [
        step.timestamp or "",
        "" if step.seconds is None else number_text(step.seconds, "seconds"),
        "" if tokens is None else f"{count_text(tokens)} tokens",
    ]
    return StepView(
        number=number,
        role=step.role,
        guidance=guidance_number(step),
        speaker=step.speaker or "",
        facts=" · ".join(fact for fact in facts if fact),
        text=passage(step.text, most, always_open=step.role == "agent"),
        reasoning=passage(step.reasoning, most),
        calls=tuple(_call_view(call, most) for call in step.calls),
        results=tuple(_result_view(result, names, most) for result in step.results),
        marks=marks,
        skipped=skipped,
    )


def _call_view(call: ToolCall, most: int) -> CallView:
    if not call.recorded:
        return CallView(call.name, (), call.parse_error or "the arguments are not recorded")
    named = {"": call.arguments} if isinstance(call.arguments, str) else call.arguments
    arguments = [(name, passage(_argument(value), most), is_diff) for name, value, is_diff in with_diffs(named)]
    shown = ((name, structs.replace(text, is_diff=True) if is_diff else text) for name, text, is_diff in arguments)
    return CallView(call.name, tuple(shown), call.parse_error or "")


def _argument(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def _result_view(result: ToolResult, names: Mapping[str, str], most: int) -> ResultView:
    failed = ""
    if result.exit_code is not None and result.exit_code != 0:
        failed = f"exit code {result.exit_code}"
    elif result.is_error:
        failed = "error"
    text = result.text if result.recorded else "(not recorded)"
    return ResultView(names.get(result.call_id or "", ""), passage(text, most), failed)


def passage(text: str, most: int, *, always_open: bool = False) -> Passage:
    """Return what is shown of a text: all of it, or its start and its end, `most` characters together."""
    text = text.strip("\n")
    cut = len(text) - most
    start, end = (text, "") if cut <= 0 else (text[: most - most // 4], text[len(text) - most // 4 :])
    lines = text.count("\n") + 1
    size = f"{count_text(lines)} lines" if lines > 1 else f"{count_text(len(text))} characters"
    first = one_line(text[:400])
    summary = f"{first[:90].rstrip()}… ({size})" if len(text) > 90 else first
    short = len(text) <= _OPEN_CHARACTERS and lines <= _OPEN_LINES
    return Passage(start, end, max(cut, 0), short or (always_open and cut <= 0), summary)


def most_of_each(steps: Iterable[Step]) -> int:
    """Return how many characters of each text of some steps fit, so that all together stay within a page."""
    lengths = [length for step in steps for length in text_lengths(step)]
    most = TEXT_SHOWN
    while most > _LEAST_SHOWN and sum(min(length, most) for length in lengths) > PAGE_SHOWN:
        most = max(most // 2, _LEAST_SHOWN)
    return most


def text_lengths(step: Step) -> Iterable[int]:
    """Return how long each of the texts of a step is, in characters."""
    yield len(step.text)
    yield len(step.reasoning)
    for call in step.calls:
        texts = [call.arguments] if isinstance(call.arguments, str) else map(_argument, call.arguments.values())
        yield from map(len, texts)
    yield from (len(result.text) for result in step.results)


def _kind(step: Step) -> str:
    failed = any(map(has_failed, step.results))
    return "failure" if failed else "guidance" if guidance_number(step) is not None else step.role


def _found_first(verdict: Verdict) -> bool:
    return verdict.label != "yes"


_REPLACED = (("old_string", "new_string"), ("old_str", "new_str"), ("old_text", "new_text"))
_PATCH = re.compile(r"(?:\*\*\* Begin Patch|diff --git |--- [^\n]{1,400}\n\+\+\+ )")
_LINES_COMPARED = 400
_HEADER = 2


def with_diffs(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Return the arguments of a call, each with its name and whether it is a diff.

    Two arguments that are a text and what replaces it become one, `edit`.
    """
    for old, new in _REPLACED:
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str):
            yield from ((name, value, False) for name, value in arguments.items() if name not in (old, new))
            yield "edit", replacement(before, after), True
            return
    for name, value in arguments.items():
        yield name, value, isinstance(value, str) and _PATCH.match(value.lstrip()) is not None


def replacement(before: str, after: str) -> str:
    """Return a replacement as a unified diff without its header; long texts are not compared, which takes too long."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > _LINES_COMPARED:
        return "\n".join([*(f"-{line}" for line in old), *(f"+{line}" for line in new)])
    return "\n".join(list(unified_diff(old, new, lineterm=""))[_HEADER:])


class RunTotals(Struct, frozen=True):
    """The totals of a run; `None` where the format does not say."""

    steps: int
    calls: int
    errors: int
    seconds: float | None = None
    elapsed: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def duration(self) -> float | None:
        """Return how long the run took in seconds: its steps together, else from the first to the last."""
        return self.elapsed if self.seconds is None else self.seconds

    @property
    def tokens(self) -> int | None:
        """Return the tokens in and out together."""
        return known_sum((self.prompt_tokens, self.completion_tokens))


def run_totals(run: Trajectory) -> RunTotals:
    """Return the totals of a run."""
    steps = run.steps
    tokens = [step.tokens for step in steps if step.tokens]
    return RunTotals(
        steps=len(steps),
        calls=sum(len(step.calls) for step in steps),
        errors=sum(has_failed(result) for step in steps for result in step.results),
        seconds=known_sum(step.seconds for step in steps),
        elapsed=_elapsed(steps),
        prompt_tokens=known_sum(token.prompt for token in tokens),
        completion_tokens=known_sum(token.completion for token in tokens),
        cost_usd=known_sum(token.cost_usd for token in tokens),
    )


def has_failed(result: ToolResult) -> bool:
    """Return whether a result says that its tool failed."""
    return bool(result.is_error) or (result.exit_code or 0) != 0


def _elapsed(steps: Iterable[Step]) -> float | None:
    times = [step.timestamp for step in steps if step.timestamp]
    try:
        return (datetime.fromisoformat(times[-1]) - datetime.fromisoformat(times[0])).total_seconds() or None
    except (IndexError, ValueError, TypeError):  # none, or none that can be read, or one with a zone and one without
        return None
