"""Outcomes of gates as sentences, as JUnit XML and as a Markdown summary, for people and for pipelines."""

from collections.abc import Sequence
from xml.etree import ElementTree

from misstep.analysis.measures.gates import Outcome
from misstep.analysis.tables import Unit
from misstep.analysis.tables.markdown import escaped
from misstep.analysis.tables.wording import number_text, with_interval
from misstep.harness.escaping import plain

_COEFFICIENTS = ("alpha", "kappa", "ac1", "ac2", "kappa_all")
_SIGNS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}


def outcome_sentence(outcome: Outcome) -> str:
    """Return the figure in a sentence, and its relation to its limit."""
    gate = outcome.gate
    named = gate.figure.rpartition(".")[2]
    unit: Unit = "coefficient" if named in _COEFFICIENTS else "difference" if named == "change" else "share"
    if outcome.decision == "undecided":
        return f"{gate.figure} cannot be computed: {outcome.estimate.reason or 'it has no interval'}"
    end = {"lower": outcome.estimate.low, "upper": outcome.estimate.high}.get(gate.end)
    subject = "it" if end is None else f"the {gate.end} end of the interval, {number_text(end, unit)},"
    verb = {"failed": "may not be", "passed": "is not"}[outcome.decision]
    limit = f"{_SIGNS[gate.sign]} {number_text(gate.limit, unit)}"
    return f"{gate.figure} is {with_interval(outcome.estimate, unit)}; {subject} {verb} {limit}"


def junit_xml(outcomes: Sequence[Outcome], suite: str) -> str:
    """Return a JUnit document with one test case a gate; a gate that cannot be decided is an error."""
    counts = {kind: sum(one.decision == kind for one in outcomes) for kind in ("failed", "undecided")}
    totals = {"tests": str(len(outcomes)), "failures": str(counts["failed"]), "errors": str(counts["undecided"])}
    root = ElementTree.Element("testsuites", totals)
    element = ElementTree.SubElement(root, "testsuite", {"name": plain(suite), **totals})
    for one in outcomes:
        case = ElementTree.SubElement(element, "testcase", {"classname": plain(suite), "name": plain(one.gate.text)})
        sentence = plain(outcome_sentence(one))
        if one.decision == "passed":
            ElementTree.SubElement(case, "system-out").text = sentence
        else:
            ElementTree.SubElement(case, "failure" if one.decision == "failed" else "error", {"message": sentence})
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
