"""A judge and a benchmark: whether the one can answer what the other asks, and with which labels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from misstep_harness.errors import InputError, UsageError
from misstep_harness.items import Item, Question, not_of_pairs
from misstep_harness.judges.judge_file import JudgeSpec

GENERAL = "benchmark_question"
"""The shipped judge that asks whatever a benchmark asks."""

DEFAULT_QUESTION = "Which of the labels fits?"


def fitted_to(spec: JudgeSpec, question: Question, folder: Path) -> JudgeSpec:
    """Return the judge as it is asked what a benchmark asks: with its labels, its question, what it lets be seen."""
    check_fit(spec, question, folder)
    labels = spec.labels or question.labels
    wrong = [example.label for example in spec.examples if labels and example.label not in labels]
    if wrong:
        message = f"judge {spec.name} has an example with the label {wrong[0]!r}, which is none of {', '.join(labels)}"
        raise UsageError(message, "Give it examples with the labels of the benchmark.")
    return replace(spec, labels=labels, asks=question.asks or DEFAULT_QUESTION, shown=question.shown)


class _Labelled(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str]: ...


def check_fit(judge: _Labelled, question: Question, folder: Path) -> None:
    """Refuse a benchmark that a judge cannot answer."""
    if judge.kind not in ("any", question.kind):
        message = f"judge {judge.name} is for items of kind {judge.kind}, benchmark {question.name} has {question.kind}"
        raise UsageError(message, f"Choose a judge for that kind, or {GENERAL}, which fits any.")
    without_tie = question.kind == "pair" and not not_of_pairs(judge.labels)
    if judge.labels and question.labels and judge.labels.keys() != question.labels.keys() and not without_tie:
        raise UsageError(_other_labels(judge, question), _advice(judge, question, folder))


def _other_labels(judge: _Labelled, question: Question) -> str:
    return (
        f"other labels: judge {judge.name} says {', '.join(judge.labels)}, "
        f"benchmark {question.name} {', '.join(question.labels)}"
    )


def _advice(judge: _Labelled, question: Question, folder: Path) -> str:
    in_lower_case = {label.casefold() for label in judge.labels} == {label.casefold() for label in question.labels}
    if in_lower_case:
        return f"They differ in letter case alone: spell them in the judge's file as {folder / 'benchmark.toml'} does."
    return (
        f"Copy the judge's file with the labels of {folder / 'benchmark.toml'}, leave `labels` out of it, "
        f"or ask the judge {GENERAL}."
    )


def offered(judge: _Labelled, item: Item) -> dict[str, str]:
    """Return the labels that a judge may give one item, with their meaning: the item's own where it names some."""
    if not item.labels:
        if not judge.labels:
            message = f"neither the benchmark nor item {item.id!r} names a label"
            raise InputError(message, "Name labels in benchmark.toml, or for each item.", field="labels")
        return dict(judge.labels)
    unknown = [label for label in item.labels if judge.labels and label not in judge.labels]
    if unknown:
        message = f"item {item.id!r} names the label {unknown[0]!r}, which is none of {', '.join(judge.labels)}"
        advice = f"Name labels of the benchmark, or ask a judge without labels of its own, such as {GENERAL}."
        raise InputError(message, advice, field="labels")
    return {label: judge.labels.get(label, "") for label in item.labels}
