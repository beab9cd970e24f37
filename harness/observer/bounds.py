"""What is taken of a detector's answer, whatever it says: what it gives in masses reaches no agent and no record."""

from collections.abc import Iterable
from itertools import islice

from misstep.harness.records.intervention import Feedback, Misbehaviour

MOST_MISBEHAVIOURS = 20
MOST_STEPS = 50
MOST_EVIDENCE = 20
MOST_CHARACTERS = 1_000
"""Misbehaviours of an answer, steps and pieces of evidence of each, characters of a text."""

_LOOKED_AT = 10_000


def bounded_feedback(feedback: object, shown: int) -> Feedback:
    """Return what is taken of an answer: a bounded part of it, with evidence among the steps that were shown."""
    if not isinstance(feedback, Feedback) or not isinstance(feedback.misbehaviours, tuple):
        raise TypeError(f"{type(feedback).__name__} where Feedback belongs")
    found = [_bounded(one, shown) for one in feedback.misbehaviours[:MOST_MISBEHAVIOURS]]
    return Feedback(tuple(found))


def _bounded(found: object, shown: int) -> Misbehaviour:
    if not isinstance(found, Misbehaviour) or not isinstance(found.steps, tuple):
        raise TypeError(f"{type(found).__name__} where a Misbehaviour belongs")
    texts = (found.category, found.rationale)
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.evidence, dict):
        raise TypeError("a Misbehaviour whose fields have other types")
    evidence = {
        name[:MOST_CHARACTERS]: value[:MOST_CHARACTERS] for name, value in islice(found.evidence.items(), MOST_EVIDENCE)
    }
    return Misbehaviour(texts[0][:MOST_CHARACTERS], _steps(found.steps, shown), texts[1][:MOST_CHARACTERS], evidence)


def _steps(steps: Iterable[object], shown: int) -> tuple[int, ...]:
    """Return the first and the last of the steps that were shown, each once and in order."""
    known = sorted({step for step in islice(steps, _LOOKED_AT) if isinstance(step, int) and 0 <= step <= shown})
    half = MOST_STEPS // 2
    return tuple(known if len(known) <= MOST_STEPS else known[:half] + known[-half:])
