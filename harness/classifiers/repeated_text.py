"""The same words over and over: the fourth rule of `infinite_loop`.

Turn after turn: nearly the same text three times, while no new call is made and the user says nothing new. Within a
turn: one sentence three times or more, filling at least half of what is said.
"""

import re
from collections import Counter
from collections.abc import Hashable
from difflib import SequenceMatcher

from harness.classifiers.history import History
from harness.classifiers.identity import arguments_key
from harness.classifiers.verdicts import counted, quoted
from harness.trajectory import Step

REPEATS = 3
"""As for calls: Wink's three or more."""

LIKENESS = 0.9
"""Share of equal characters from which two texts are nearly the same: one word in ten may differ."""

SHORTEST = 20
"""Characters of a text that says something: `Done.` may be said often."""

LONG = 200
"""Characters from which a single turn is looked at for repetition within it."""

_COMPARED = 2000
_REMEMBERED = 8
_PROBE = 32
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DIGITS = re.compile(r"\d+")


def repeated_text(history: History) -> tuple[list[int], str] | None:
    """The steps that repeat each other and a sentence on them; `None` where there are none."""
    return _within_turns(history) or _over_turns(history)


def _over_turns(history: History) -> tuple[list[int], str] | None:
    if not _talks(history):
        return None
    groups: list[tuple[str, str | None, list[int]]] = []
    news = set(history.news)
    done: set[Hashable] = set()
    for index, step in enumerate(history.trajectory.steps):
        if step.role == "user":
            if index in news:
                groups = []
            continue
        if step.role != "agent":
            continue
        if step.calls:
            if groups and not all(_call_key(step, place) in done for place in range(len(step.calls))):
                groups = []
            if groups or len(done) < _REMEMBERED:
                done.update(_call_key(step, place) for place in range(len(step.calls)))
            continue
        if len(step.text) < SHORTEST:
            continue
        steps = _joined(groups, step, index)
        if len(steps) >= REPEATS:
            return (
                steps,
                f"The agent says {quoted(step.text)} {len(steps)} times without a new call ({counted(steps)}).",
            )
    return None


def _talks(history: History) -> bool:
    """A cheap look: whether the agent says something without a call often enough."""
    steps = history.trajectory.steps
    return (
        len([0 for index in history.agent_steps if not steps[index].calls and len(steps[index].text) >= SHORTEST])
        >= REPEATS
    )


def _call_key(step: Step, place: int) -> Hashable:
    call = step.calls[place]
    return call.name, arguments_key(call.arguments)


def _joined(groups: list[tuple[str, str | None, list[int]]], step: Step, index: int) -> list[int]:
    """The steps that say nearly the same as this one, this one included; it is added to the groups."""
    text = " ".join(step.text.split()).lower()
    for said, speaker, steps in groups:
        if speaker == step.speaker and nearly_same(said, text):
            steps.append(index)
            return steps
    groups.append((text, step.speaker, [index]))
    if len(groups) > _REMEMBERED:
        del groups[0]
    return groups[-1][2]


def nearly_same(one: str, other: str) -> bool:
    """Whether two texts are nearly the same; with other numbers they are not (`file 1 of 9`, `file 2 of 9`)."""
    if one == other:
        return True
    shorter, longer = sorted((len(one), len(other)))
    if shorter < LIKENESS * longer or _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    matcher = SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False)
    return matcher.real_quick_ratio() >= LIKENESS and matcher.quick_ratio() >= LIKENESS and matcher.ratio() >= LIKENESS


def _within_turns(history: History) -> tuple[list[int], str] | None:
    for index in history.agent_steps:
        step = history.trajectory.steps[index]
        for text in (step.text, step.reasoning):
            if len(text) < LONG or not _may_repeat(text):
                continue
            sentence, times = _most_said(text)
            if times >= REPEATS and times * len(sentence) * 2 >= len(text):
                return [index], f"The agent says {quoted(sentence)} {times} times in one turn ({counted([index])})."
    return None


def _may_repeat(text: str) -> bool:
    """A cheap look: whether a piece from the middle or near the end of a text stands in it three times."""
    middle = len(text) // 2
    return text.count(text[middle : middle + _PROBE]) >= REPEATS or text.count(text[-2 * _PROBE : -_PROBE]) >= REPEATS


def _most_said(text: str) -> tuple[str, int]:
    prose = _FENCE.sub(" ", text)
    sentences = Counter(
        sentence.strip()
        for sentence in _SENTENCE.split(prose)
        if len(sentence) >= SHORTEST and len(sentence.split()) >= 4
    )
    return sentences.most_common(1)[0] if sentences else ("", 0)
