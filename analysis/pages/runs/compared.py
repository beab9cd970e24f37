"""Two runs side by side: where they part first, their totals, then every step beside its counterpart."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from misstep.analysis.measures.run_alignment import AlignedStep, Change, Part, RunAlignment, align_runs
from misstep.analysis.measures.run_totals import RunTotals, run_totals
from misstep.analysis.pages.browser.frame import policy
from misstep.analysis.pages.browser.wanted import gist, shortened
from misstep.analysis.pages.foot import Foot, described
from misstep.analysis.pages.rendering import asset, markup, render
from misstep.analysis.pages.trajectory import Mark, StepView, most_of_each, step_view
from misstep.analysis.tables import Unit
from misstep.analysis.tables.wording import count_text, counted_text, in_words, number_text
from misstep.harness.escaping import one_line
from misstep.harness.trajectory import Step, Trajectory
from misstep.harness.verdict import Verdict

_WORDS: dict[Change, str] = {"same": "same", "changed": "changed", "only_a": "only in A", "only_b": "only in B"}
_SIGNS: dict[Change, str] = {"same": "=", "changed": "≠", "only_a": "◀", "only_b": "▶"}
_DIFFERENCES: dict[Part, str] = {"calls": "other arguments", "words": "other words", "results": "another result"}
_LINES_OPEN = 200
_GIST = 110
_GIST_IN_FINDING = 70
_TASK = 200
_NOT_RECORDED = "not recorded"


class ComparedRun(Struct, frozen=True):
    """A run to compare, its verdicts, and the command that shows all of it."""

    run: Trajectory
    verdicts: tuple[Verdict, ...]
    view: str


class Side(Struct, frozen=True):
    """A step on its side of a line."""

    gist: str
    step: StepView


class _Line(Struct, frozen=True):
    """A line of the page: steps that were paired, or one alone; `is_equal` if `b` repeats all of `a`.

    Its steps are open if the runs differ, as far as a page of many steps stays quick to open.
    """

    change: Change
    sign: str
    word: str
    note: str
    a: Side | None
    b: Side | None
    is_equal: bool
    is_open: bool


class Total(Struct, frozen=True):
    """A line of the table of totals; `difference` is B less A."""

    name: str
    a: str
    b: str
    difference: str = ""


def compared_page(a: ComparedRun, b: ComparedRun, foot: Foot) -> str:
    """Return the page of two runs."""
    alignment = align_runs(a.run, b.run)
    script = asset("runs/compared.js")
    return render(
        "runs/compared.html.jinja",
        title=f"{a.run.id} and {b.run.id} compared",
        finding=compared_finding(alignment, a.run, b.run),
        more=" ".join(_more(alignment, a.run, b.run)),
        warnings=tuple(_warnings(alignment, a.run, b.run)),
        sides=(("A", a.run.id, a.view), ("B", b.run.id, b.view)),
        totals=tuple(_totals(a, b)),
        lines=tuple(_lines(alignment, a, b)),
        divergence=alignment.divergence,
        foot=described(foot),
        policy=policy([asset("sort.js"), script]),
        compared_style=markup(asset("runs/compared.css")),
        compared_script=markup(script),
    )


def compared_finding(alignment: RunAlignment, a: Trajectory, b: Trajectory) -> str:
    """Return where two runs part first, in one sentence."""
    if alignment.divergence is None:
        return _throughout(alignment)
    parting = _parting(alignment.lines[alignment.divergence :], a.steps, b.steps)
    if not alignment.divergence:
        return f"The runs differ from their first step on: {parting}."
    before = "first step" if alignment.divergence == 1 else f"first {alignment.divergence:,} steps"
    return f"Both runs do the same in their {before}; then {parting}."


def _more(alignment: RunAlignment, a: Trajectory, b: Trajectory) -> Iterator[str]:
    yield from filter(None, (_other_result(alignment), _calls_part(alignment, a.steps, b.steps)))
    same, changed = alignment.count("same"), alignment.count("changed")
    yield (
        f"Of {counted_text(len(a.steps), 'step')} of A and {counted_text(len(b.steps), 'step')} of B, "
        f"{same:,} {'is' if same == 1 else 'are'} the same and {changed:,} changed; "
        f"{alignment.count('only_a'):,} {'is' if alignment.count('only_a') == 1 else 'are'} only in A and "
        f"{alignment.count('only_b'):,} only in B."
    )


def _calls_part(alignment: RunAlignment, a: Sequence[Step], b: Sequence[Step]) -> str:
    """Return where the calls part, if the runs part in words before."""
    start = alignment.divergence or 0
    has_calls = [
        bool((line.a is not None and a[line.a].calls) or (line.b is not None and b[line.b].calls))
        for line in alignment.lines
    ]
    place = next(
        (n for n in range(start, len(has_calls)) if alignment.lines[n].change != "same" and has_calls[n]), None
    )
    if place is None:
        return "They make the same calls." if alignment.divergence is not None and any(has_calls) else ""
    if place == start:
        return ""
    return f"In calls they part first: {_parting(alignment.lines[place:], a, b, calls_only=True)}."


def _throughout(alignment: RunAlignment) -> str:
    if not alignment.lines:
        return "Neither run has a step."
    number = len(alignment.lines)
    steps = "their only step" if number == 1 else f"all of their {count_text(number)} steps"
    steps = f"the first {count_text(number)} of their steps" if any(alignment.left_out) else steps
    return f"Both runs do the same in {steps}."


def _other_result(alignment: RunAlignment) -> str:
    """A note that one call had another result before the runs part, which may be why they do."""
    place = alignment.other_result
    if place is None or (alignment.divergence is not None and place > alignment.divergence):
        return ""
    return f"At step {alignment.lines[place].a} the same call got another result."


def _parting(lines: Sequence[AlignedStep], a: Sequence[Step], b: Sequence[Step], *, calls_only: bool = False) -> str:
    """Return what each run does first in the lines up to the next in which both do the same."""
    apart = list(takewhile(lambda line: line.change != "same", lines))
    places_a = (line.a for line in apart if line.a is not None and (a[line.a].calls or not calls_only))
    places_b = (line.b for line in apart if line.b is not None and (b[line.b].calls or not calls_only))
    place_a, place_b = next(places_a, None), next(places_b, None)
    if place_a is None:
        return "" if place_b is None else _does("B", b[place_b], f" alone, at step {place_b},")
    if place_b is None:
        return _does("A", a[place_a], f" alone, at step {place_a},")
    at = f"at step {place_a}" if place_a == place_b else f"at step {place_a} of A and {place_b} of B"
    return f"{at} {_does('A', a[place_a])}, and {_does('B', b[place_b])}"


def _does(name: str, step: Step, where: str = "") -> str:
    who = name if step.role == "agent" else f"the {step.role} of {name}"
    text = gist(step, _GIST_IN_FINDING)
    does = "calls" if step.calls else "says"
    return f"{who}{where} {does} “{text}”" if text else f"{who}{where} says nothing"


def _warnings(alignment: RunAlignment, a: Trajectory, b: Trajectory) -> Iterator[str]:
    if a.task.strip() and b.task.strip():
        tasks, warning = [one_line(run.task) for run in (a, b)], "The runs have different tasks."
    else:
        tasks, warning = (
            [_task_text(run) for run in (a, b)],
            "The runs may have different tasks: they begin with other words.",
        )
    if tasks[0] != tasks[1]:
        quoted = [f"“{shortened(task, _TASK)}”" if task else _NOT_RECORDED for task in tasks]
        yield f"{warning} A: {quoted[0]}. B: {quoted[1]}."
    if any(alignment.left_out):
        left = " and ".join(
            f"{counted_text(number, 'step')} of {name}"
            for number, name in zip(alignment.left_out, "AB", strict=True)
            if number
        )
        yield f"The runs are long: the last {left} are not aligned and not shown here. The commands below show them."


def _task_text(run: Trajectory) -> str:
    texts = (run.task, *(step.text for step in run.steps if step.role == "user"))
    return one_line(next((text for text in texts if text.strip()), ""))


def _totals(a: ComparedRun, b: ComparedRun) -> Iterator[Total]:
    of_a, of_b = run_totals(a.run), run_totals(b.run)

    def figure(name: str, unit: Unit, of: Callable[[RunTotals], float | None]) -> Total:
        one, other = of(of_a), of(of_b)
        text_a, text_b = (_NOT_RECORDED if value is None else number_text(value, unit) for value in (one, other))
        if one is None or other is None:
            return Total(name, text_a, text_b)
        sign = "+" if other > one else ""
        return Total(name, text_a, text_b, "same" if one == other else f"{sign}{number_text(other - one, unit)}")

    yield Total("Outcome", a.run.outcome.status, b.run.outcome.status)
    yield Total("Misbehaviour found", _misbehaviours(a.verdicts), _misbehaviours(b.verdicts))
    yield figure("Steps", "count", lambda of: of.steps)
    yield figure("Tool calls", "count", lambda of: of.calls)
    yield figure("Failed results", "count", lambda of: of.errors)
    yield figure("Time", "seconds", lambda of: of.duration)
    yield figure("Tokens", "count", lambda of: of.tokens)
    yield figure("Cost", "usd", lambda of: of.cost_usd)
    yield Total("Agent", a.run.agent or _NOT_RECORDED, b.run.agent or _NOT_RECORDED)
    yield Total("Model", a.run.model or _NOT_RECORDED, b.run.model or _NOT_RECORDED)


def _misbehaviours(verdicts: Iterable[Verdict]) -> str:
    answers = list(verdicts)
    flagged = [in_words(verdict.judge) for verdict in answers if verdict.label == "yes"]
    return ", ".join(flagged) or ("none" if any(verdict.label for verdict in answers) else "not checked")


def _lines(alignment: RunAlignment, a: ComparedRun, b: ComparedRun) -> Iterator[_Line]:
    shown = [run.run.steps[number] for line in alignment.lines for number, run in _placed(line, a, b)]
    most = most_of_each(shown)
    different = 0
    for line in alignment.lines:
        different += line.change != "same"
        is_equal = line.change == "same" and not line.differs and _marks(a, line.a) == _marks(b, line.b) == ()
        yield _Line(
            change=line.change,
            sign=_SIGNS[line.change],
            word=_WORDS[line.change],
            note=", ".join(_DIFFERENCES[part] for part in line.differs),
            a=_side(a, line.a, most),
            b=_side(b, line.b, most),
            is_equal=is_equal,
            is_open=line.change != "same" and different <= _LINES_OPEN,
        )


def _placed(line: AlignedStep, a: ComparedRun, b: ComparedRun) -> Iterator[tuple[int, ComparedRun]]:
    yield from ((number, run) for number, run in ((line.a, a), (line.b, b)) if number is not None)


def _side(side: ComparedRun, number: int | None, most: int) -> Side | None:
    if number is None:
        return None
    step = side.run.steps[number]
    return Side(gist(step, _GIST), step_view(number, step, _marks(side, number), 0, most))


def _marks(side: ComparedRun, number: int | None) -> tuple[Mark, ...]:
    return tuple(
        Mark(in_words(verdict.judge), verdict.rationale)
        for verdict in side.verdicts
        if verdict.label == "yes" and number in verdict.steps
    )
