"""Several answers to one question → one answer; and what changes from vote to vote.

A label wins that more votes give than any other; a tie is no answer. Votes that could not be read count for nobody, and
the score is the share of all votes, those that could not be read included, that the label has.
"""

from collections.abc import Sequence

from misstep.harness.judges.judge_file import Aggregate, Permute
from misstep.harness.judges.replies import Answer
from misstep.harness.verdict import Status

_WORST_FIRST: tuple[Status, ...] = ("failed", "refused", "unreadable", "abstained")


def label_names(labels: Sequence[str], permute: Permute, turn: int) -> dict[str, str]:
    """Return the names that stand in the prompt, in order, each with the label that it means."""
    by = turn % len(labels)
    turned = [*labels[by:], *labels[:by]]
    if permute == "names":
        return {_letter(place): label for place, label in enumerate(turned)}
    return {label: label for label in (turned if permute == "order" else labels)}


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"L{place}"


def decided(answers: Sequence[Answer], aggregate: Aggregate = "majority") -> Answer:
    """Return the one answer that several votes come to."""
    if len(answers) == 1:
        return answers[0]
    read = [answer for answer in answers if answer.status == "answered" and answer.label is not None]
    if not read:
        statuses = [answer.status for answer in answers]
        worst = next(status for status in _WORST_FIRST if status in statuses)
        first = next(answer for answer in answers if answer.status == worst)
        return Answer(None, worst, rationale=first.rationale, error=f"none of {len(answers)} votes: {first.error}")
    weight: dict[str, float] = {}
    for answer in read:
        own_weight = 1.0 if aggregate == "majority" or answer.score is None else answer.score
        weight[str(answer.label)] = weight.get(str(answer.label), 0.0) + own_weight
    (label, most), *others = sorted(weight.items(), key=lambda one: -one[1])
    votes = f"{sum(answer.label == label for answer in read)} of {len(answers)} votes"
    if others and others[0][1] == most:
        return Answer(None, "abstained", rationale=read[0].rationale, error=f"a tie: {votes} each")
    own = [answer for answer in read if answer.label == label]
    steps = sorted({step for answer in own for step in answer.steps})
    error = None if len(own) == len(answers) else votes
    return Answer(label, "answered", most / len(answers), tuple(steps), own[0].rationale, error)
