"""Outcomes of gates as sentences, as JUnit XML and as a Markdown summary, for people and for pipelines."""

from collections.abc import Sequence
from xml.etree import ElementTree

from misstep_analysis.judging.gates import Outcome, further_items, unit_of
from misstep_analysis.tables.text import escaped
from misstep_analysis.tables.wording import number_text, with_interval
from misstep_harness.escaping import plain

_SIGNS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}

_UNDECIDED = {True: "error", False: "skipped"}


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
