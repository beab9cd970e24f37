"""The files that people write or read, each a page of `misstep help`: topic → type; and further pages: topic → text."""

from importlib import import_module
from typing import Any, NamedTuple

from misstep_analysis.pages.form_text import form_text
from misstep_harness.errors import UsageError
from misstep_harness.forms import nearest


class Topic(NamedTuple):
    """A page of the help: where its type or its text is, `module:name`, and its line in the list of topics."""

    target: str
    line: str


TOPICS = {
    "judge-file": Topic("misstep_harness.judges.judge_file:JudgeFile", "a judge with a prompt (TOML)"),
    "benchmark-file": Topic("misstep_harness.items:BenchmarkFile", "the folder of a benchmark, and its benchmark.toml"),
    "items": Topic("misstep_harness.items:Item", "a line of a benchmark's items.jsonl"),
    "verdicts": Topic("misstep_harness.verdict:Verdict", "a line of a run's verdicts.jsonl"),
    "guidance": Topic(
        "misstep_harness.observer.guidance:CategoryGuidance", "your own words of the observer to an agent (TOML)"
    ),
    "prices": Topic("misstep_harness.usage:PriceFile", "the prices of models (TOML)"),
    "repair-case": Topic("misstep_harness.repair.case:RepairCase", "the folder of a repair case, and its case.toml"),
    "reflect-command": Topic(
        "misstep_harness.reflexive.runs.command_file:CommandFile", "a project and items for the reflexive loop (TOML)"
    ),
    "triage-case": Topic("misstep_harness.triage.records:CaseFile", "the folder of a triage case, and its case.toml"),
}

GUIDES = {
    "config-file": Topic("misstep.options.config_file:guide", "the options of commands in a file (TOML)"),
    "reflect-skill": Topic(
        "misstep_analysis.reproduction.reflexive.guides:skill_guide",
        "how to write a skill of the reflexive loop (Python)",
    ),
    "reflect-mechanisms": Topic(
        "misstep_analysis.reproduction.reflexive.guides:mechanisms_guide", "what each mechanism of the loop is for"
    ),
}
"""The pages that are about no form of a file: each is the text that a function gives."""


def form_of(topic: str) -> type[Any]:
    """Return the type that a topic is about."""
    if topic not in TOPICS:
        known = [*TOPICS, *GUIDES]
        advice = f"{nearest(topic, known)}Topics: {', '.join(known)}. For a command, use `misstep COMMAND --help`."
        raise UsageError(f"unknown topic {topic!r}", advice)
    form: type[Any] = _at(TOPICS[topic].target)
    return form


def topic_text(topic: str) -> str:
    """Return the page of a topic."""
    if topic in GUIDES:
        return str(_at(GUIDES[topic].target)())
    return form_text(form_of(topic))


def _at(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
