"""Limits that figures have to keep, such as `tool_call_failure>5%`, for pipelines that stop otherwise.

A gate has two ends where the point estimate decides, or the named end of the interval. It has three where somebody says
what becomes of an undecided one: it is decided only if all of the 95% interval is on one side of the limit.

A limit is a plain number or a percentage that the figure can go beyond; anything else is refused when it is read, since
a gate that cannot fail looks like one that was passed.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import ceil, exp, isfinite
from typing import Literal
from xml.etree import ElementTree

from msgspec import Struct

from misstep_analysis.stats.estimate import Estimate
from misstep_analysis.tables import Unit
from misstep_analysis.tables.text import escaped
from misstep_analysis.tables.wording import number_text, with_interval
from misstep_harness.errors import UsageError
from misstep_harness.escaping import plain

_SIGNS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}

_UNDECIDED = {True: "error", False: "skipped"}
Decision = Literal["passed", "failed", "undecided"]


End = Literal["value", "lower", "upper"]


class Gate(Struct, frozen=True):
    """A limit: the gate fails where the figure, or an end of its 95% interval, is `sign` the limit."""

    figure: str
    end: End
    sign: str
    limit: float
    text: str


class Outcome(Struct, frozen=True):
    """What became of a gate, and the figure behind it; `stops` is whether it stops a pipeline."""

    gate: Gate
    estimate: Estimate
    decision: Decision
    stops: bool


def outcome_sentence(outcome: Outcome) -> str:
    """Return the figure in a sentence, and its relation to its limit."""
    gate, unit = outcome.gate, unit_of(outcome.gate.figure)
    if outcome.estimate.value is None or (outcome.decision == "undecided" and outcome.estimate.low is None):
        return f"{gate.figure} cannot be computed: {outcome.estimate.reason or 'it has no interval'}"
    known = f"{gate.figure} is {with_interval(outcome.estimate, unit)}"
    beware = f"; {outcome.estimate.reason}" if outcome.estimate.reason else ""
    if outcome.decision == "undecided":
        holds = f"the interval holds the limit, {number_text(gate.limit, unit)}"
        return f"{known}; {holds}: {_what_decides(outcome)}{beware}"
    end = {"lower": outcome.estimate.low, "upper": outcome.estimate.high}.get(gate.end)
    subject = "it" if end is None else f"the {gate.end} end of the interval, {number_text(end, unit)},"
    verb = {"failed": "may not be", "passed": "is not"}[outcome.decision]
    limit = f"{_SIGNS[gate.sign]} {number_text(gate.limit, unit)}"
    return f"{known}; {subject} {verb} {limit}{beware}"


def _what_decides(outcome: Outcome) -> str:
    """Return how many further items would decide a gate whose interval holds the limit."""
    if outcome.estimate.value == outcome.gate.limit:
        return "the figure is the limit, so that no number of items would decide"
    further = further_items(outcome)
    if further is None:
        return "too few items to tell"
    # Two digits, rounded up: more would say more than is known.
    step = 10 ** max(0, len(str(further)) - 2)
    return f"too few items to tell; about {-(-further // step) * step:,} more would decide if the figure stays"


def junit_xml(outcomes: Sequence[Outcome], suite: str) -> str:
    """Return a JUnit document with one test case a gate; an undecided gate is an error, or skipped if it may pass."""
    tags = [{"passed": "system-out", "failed": "failure"}.get(one.decision, _UNDECIDED[one.stops]) for one in outcomes]
    totals = {"tests": str(len(outcomes)), "failures": str(tags.count("failure")), "errors": str(tags.count("error"))}
    totals |= {"skipped": str(tags.count("skipped"))} if "skipped" in tags else {}
    root = ElementTree.Element("testsuites", totals)
    element = ElementTree.SubElement(root, "testsuite", {"name": plain(suite), **totals})
    for one, tag in zip(outcomes, tags, strict=True):
        case = ElementTree.SubElement(element, "testcase", {"classname": plain(suite), "name": plain(one.gate.text)})
        sentence = plain(outcome_sentence(one))
        if tag == "system-out":
            ElementTree.SubElement(case, tag).text = sentence
        else:
            ElementTree.SubElement(case, tag, {"message": sentence})
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def markdown_summary(outcomes: Sequence[Outcome], title: str) -> str:
    """Return a Markdown table of the gates, those that were not passed first."""
    ranked = sorted(outcomes, key=lambda one: one.decision == "passed")
    lines = [f"### {escaped(plain(title))}", "", "| gate | outcome | figure |", "|---|---|---|"]
    for one in ranked:
        gate, sentence = (escaped(plain(text)) for text in (one.gate.text, outcome_sentence(one)))
        lines.append(f"| {gate} | {one.decision} | {sentence} |")
    return "\n".join(lines) + "\n"


Undecided = Literal["fail", "pass"]
"""What becomes of a gate whose interval holds the limit."""

_FAILS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_SHARES = ("Wilson", "Clopper-Pearson", "Korn-Graubard")
_SIGN = re.compile(r"[<>]=?|=")
_ENDS: dict[str, End] = {".lower": "lower", ".upper": "upper"}
ANSWERED = ".answered"
"""Behind the name of a figure: over the answered items alone. Without it the unanswered count as wrong."""

_COEFFICIENTS = ("alpha", "kappa", "ac1", "ac2", "kappa_all")
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)


def unit_of(figure: str) -> Unit:
    """Return what a figure is measured in, by its name."""
    name = figure.removesuffix(ANSWERED).rpartition(".")[2]
    return "coefficient" if name in _COEFFICIENTS else "difference" if name == "change" else "share"


def fail_on(text: str) -> Gate:
    """Return the gate of a condition that fails, such as `tool_call_failure>5%` or `any.lower >= 0.1`."""
    return _read(text, ("<", ">", "<=", ">="), "tool_call_failure>5%")


def fail_under(text: str) -> Gate:
    """Return the gate of a least value, such as `accuracy=0.85` or `accuracy.lower=85%`."""
    gate = _read(text, ("=",), "accuracy=0.85")
    return Gate(gate.figure, gate.end, "<", gate.limit, text)


def decide(gates: Iterable[Gate], figures: Mapping[str, Estimate], undecided: Undecided | None = None) -> list[Outcome]:
    """Return the outcome of each gate; with `undecided` the interval of a plain figure decides, not its value."""
    return [_decided(gate, figures, undecided) for gate in gates]


def further_items(outcome: Outcome) -> int | None:
    """Return how many more items would decide a gate if the figure stayed; `None` if no number or an unknown one would.

    It is solved for the interval that the gate goes by: the number of items at which its end is the limit. Wilson's end
    L of a share p is there at z² L(1 - L) / (p - L)² items; those of beta distributions are as many times the items
    that the interval at hand is worth. Of other figures the half-width shrinks with the root of n.
    """
    estimate, limit = outcome.estimate, outcome.gate.limit
    value, n = estimate.value, estimate.n
    if value is None or n is None or value == limit:
        return None
    end = estimate.low if value > limit else estimate.high
    if end is None:
        return None
    if estimate.method.startswith(_SHARES) and not 0 < limit < 1:
        return None
    needed = n * _worth(estimate.method, value, limit) / _worth(estimate.method, value, end)
    return max(1, ceil(needed) - n)


def _worth(method: str, value: float, end: float) -> float:
    """Return how many items an interval of 95% is worth that ends there, or a number that grows alike."""
    if method.startswith("Wilson"):
        return end * (1 - end) / (value - end) ** 2
    if not method.startswith(_SHARES):
        return 1 / (value - end) ** 2
    from scipy.optimize import brentq
    from scipy.special import betainc

    def beyond(log_n: float) -> float:
        items = exp(log_n)
        right, wrong = value * items, (1 - value) * items
        tail = betainc(right, wrong + 1, end) if end < value else betainc(wrong, right + 1, 1 - end)
        return float(tail) - (1 - 0.95) / 2

    return exp(brentq(beyond, -5.0, 40.0))


def check_known(gates: Iterable[Gate], figures: Collection[str]) -> None:
    """Refuse a gate on a figure that will not be there; called before anything is asked or read."""
    for gate in gates:
        if gate.figure not in figures:
            raise UsageError(f"unknown figure {gate.figure!r}", f"Known: {', '.join(figures)}.")


def _read(text: str, signs: tuple[str, ...], example: str) -> Gate:
    matches = list(_SIGN.finditer(text))
    last = matches[-1] if matches else None
    advice = f"Write it like {example!r}; FIGURE.lower means the interval's end."
    figure = text[: last.start()].strip() if last is not None else ""
    if last is None or last[0] not in signs or not figure:
        raise UsageError(f"{text!r} is not a limit", advice)
    suffix = next((suffix for suffix in _ENDS if figure.endswith(suffix)), "")
    figure, written = figure.removesuffix(suffix), text[last.end() :].strip()
    limit, least = _number(written), 0.0 if unit_of(figure) == "share" else -1.0
    if limit is None or not least <= limit <= 1 or (last[0], limit) in {(">", 1), ("<", least)}:
        meant = _meant(written, least)
        asked = f"Did you mean {text[: last.end()]}{meant}? " if meant else ""
        raise UsageError(f"{text!r} is not a limit: {_fault(written, limit, least)}", f"{asked}{advice}")
    return Gate(figure, _ENDS.get(suffix, "value"), last[0], limit, text)


def _number(text: str) -> float | None:
    """Return a number, or the number of a percentage; `None` for anything else."""
    digits = text.removesuffix("%")
    if not _NUMBER.fullmatch(digits) or not isfinite(number := float(digits)):
        return None
    return number / 100 if text.endswith("%") else number


def _fault(written: str, limit: float | None, least: float) -> str:
    if limit is None:
        return f"{written!r} is not a number" if written else "the number is missing"
    if limit in (least, 1):
        return f"the figure is never {'more' if limit == 1 else 'less'} than {written}"
    return f"the figure lies between {least:g} and 1 (100%)"


def _meant(written: str, least: float) -> str:
    """Return the limit that somebody may have meant; empty where nothing is near."""
    tidied = re.sub(r"\s", "", written).replace(",", ".").rstrip("%")
    number = _number(tidied)
    if number is None or not least <= number <= 100:
        return ""
    meant = f"{tidied}%" if "%" in written or number >= 1 else tidied
    return "" if meant == written else meant


def _decided(gate: Gate, figures: Mapping[str, Estimate], undecided: Undecided | None) -> Outcome:
    check_known([gate], figures)
    estimate = figures[gate.figure]
    ends = {"value": estimate.value, "lower": estimate.low, "upper": estimate.high}
    measured = [estimate.low, estimate.high] if undecided and gate.end == "value" else [ends[gate.end]]
    # A figure that cannot be computed never passes: nothing was measured.
    if estimate.value is None or None in measured:
        return Outcome(gate, estimate, "undecided", estimate.value is None or undecided != "pass")
    fails = {_FAILS[gate.sign](end, gate.limit) for end in measured if end is not None}
    if len(fails) > 1:
        return Outcome(gate, estimate, "undecided", undecided != "pass")
    return Outcome(gate, estimate, "failed" if True in fails else "passed", True in fails)
