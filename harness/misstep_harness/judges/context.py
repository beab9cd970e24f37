"""A run as text within a budget: what a judge gets to read of it, and what was cut.

`shorten_middle` shortens what tools answered away from the step that is asked about before whole steps go.

    [step 4] agent
    (reasoning) why
    words
    > tool {"argument": 1}
    < what it answered
    | < a line of that answer which looks like one of ours

A line that a step says itself never stands where one of ours would: it could make up a step, a call or an answer.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from misstep_harness.judges.fencing import one_line
from misstep_harness.judges.judge_file import Policy
from misstep_harness.trajectory import Step, ToolCall

CHARACTERS_PER_TOKEN = 4
WINDOW = 5
"""How many steps before and after the one that is asked about are evidence."""

_OBSERVATIONS = (2_000, 500, 120, 0)
"""To how many characters an answer of a tool is shortened, in turn."""

_LIKE_OURS = re.compile(r"^(?=[^\S\n]*(?:\[steps? \d|\(reasoning\)|[<>] ))", re.MULTILINE)

_MOST_OWN = 4_000
"""To how many characters a step's own words are shortened when all else has been."""


class Fitted(Struct, frozen=True):
    """A run as text, and one sentence on what was cut; empty where all of it is there."""

    text: str
    cut: str = ""


def fitted_steps(steps: Sequence[Step], room: int, policy: Policy, step: int | None, first: int) -> Fitted:
    """Consecutive steps of a run as text of at most `room` characters, as far as their evidence allows."""
    numbers = range(first, first + len(steps))
    whole = [shown_step(one, number) for one, number in zip(steps, numbers, strict=True)]
    if _length(whole) <= room:
        return Fitted("\n\n".join(whole))
    evidence = _evidence(numbers, step)
    if policy == "shorten_middle":
        for most in _OBSERVATIONS:
            shown = [
                text if number in evidence else shown_step(one, number, most)
                for one, number, text in zip(steps, numbers, whole, strict=True)
            ]
            if _length(shown) <= room:
                return Fitted("\n\n".join(shown), f"observations outside the evidence shortened to {most:,} characters")
    return _without_middle(steps, numbers, whole, evidence, room)


def _evidence(numbers: range, step: int | None) -> range:
    if step is None:
        return numbers[-2 * WINDOW :]
    return range(max(numbers.start, step - WINDOW), min(numbers.stop, step + WINDOW + 1))


def _without_middle(steps: Sequence[Step], numbers: range, whole: Sequence[str], evidence: range, room: int) -> Fitted:
    """Return the steps that are left when the farthest from the evidence and from the start go first."""
    length = [len(text) + 2 for text in whole]
    by_worth = sorted(
        numbers, key=lambda number: (number not in evidence, number >= numbers.start + 2, _away(number, evidence))
    )
    chosen: set[int] = set()
    used = 0
    for number in by_worth:
        size = length[number - numbers.start]
        if used + size > room and chosen:
            continue
        chosen.add(number)
        used += size
    shown: list[str] = []
    left_out = 0
    for one, number, text in zip(steps, numbers, whole, strict=True):
        if number in chosen:
            if left_out:
                shown.append(_gap(left_out, number))
                left_out = 0
            shown.append(text if len(text) <= room else shown_step(one, number, 500, _MOST_OWN))
        else:
            left_out += 1
    if left_out:
        shown.append(_gap(left_out, numbers.stop))
    gone = len(whole) - len(chosen)
    return Fitted("\n\n".join(shown), f"{gone:,} of {len(whole):,} steps left out")


def _away(number: int, evidence: range) -> int:
    return 0 if number in evidence else min(abs(number - evidence.start), abs(number - (evidence.stop - 1)))


def _gap(count: int, before: int) -> str:
    return f"[steps {before - count} to {before - 1} left out]" if count > 1 else f"[step {before - 1} left out]"


def _length(shown: Sequence[str]) -> int:
    return sum(map(len, shown)) + 2 * len(shown)


_NOT_RECORDED = "< (the answer is not recorded)"


def shown_step(step: Step, number: int, most_observed: int | None = None, most_own: int | None = None) -> str:
    """Return one step as text: who, its words, its calls, what tools answered."""
    lines = [f"[step {number}] {one_line(step.speaker or step.role)}"]
    if step.reasoning:
        lines.append(_headed("(reasoning) ", step.reasoning, most_own))
    if step.text:
        lines.append(_headed("", step.text, most_own))
    lines += [_headed("> ", _call(call, most_own), None) for call in step.calls]
    for result in step.results:
        code = "" if result.exit_code is None else f" (exit code {result.exit_code})"
        lines.append((_headed("< ", result.text, most_observed) if result.recorded else _NOT_RECORDED) + code)
    return "\n".join(lines)


def _headed(opening: str, text: str, most: int | None) -> str:
    """Return a text behind what we open it with; a line of its own that looks like one of ours gets a bar before it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return opening + _LIKE_OURS.sub("| ", _shortened(lines, most))


def _call(call: ToolCall, most: int | None) -> str:
    if not call.recorded:
        return f"{one_line(call.name)} (the arguments are not recorded)"
    arguments = call.arguments if isinstance(call.arguments, str) else _arguments_text(call.arguments)
    return f"{one_line(call.name)} {_shortened(arguments, most)}"


def _arguments_text(arguments: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(arguments).decode()
    except UnicodeEncodeError:  # half a character, which some formats hold
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _shortened(text: str, most: int | None) -> str:
    if most is None or len(text) <= most:
        return text
    head = most - most // 3
    tail = text[len(text) - most // 3 :] if most // 3 else ""
    return f"{text[:head]}[… {len(text) - most:,} characters left out …]{tail}"


def cut_text(text: str, room: int) -> Fitted:
    """Return a text of at most `room` characters and a line that says what was left out of its middle."""
    if len(text) <= room:
        return Fitted(text)
    gone = len(text) - room
    half = room // 2
    tail = text[len(text) - half :]
    return Fitted(f"{text[:half]}\n[… {gone:,} characters left out …]\n{tail}", f"{gone:,} characters left out")


def shares(lengths: Sequence[int], room: int) -> list[int]:
    """How many characters each text gets of `room`: what short ones leave goes to the long ones, in equal parts."""
    parts = [0] * len(lengths)
    left = room
    for shared, place in enumerate(sorted(range(len(lengths)), key=lambda place: lengths[place])):
        parts[place] = min(lengths[place], left // (len(lengths) - shared))
        left -= parts[place]
    return parts
