"""How the classifiers word their verdicts: yes with evidence, no, or nothing to judge."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, convert
from msgspec.structs import replace

from misstep_harness.classifiers.history import History
from misstep_harness.verdict import Verdict

EVIDENCE = 20
"""Steps that a verdict names at most: enough for a person to see it, whatever the length of the run."""


class RuleFamily(Struct, frozen=True):
    """A family of rules: its category, whether sessions are counted by it, and what it says in two sentences."""

    category: str
    counted: bool
    says: str


FAMILIES = convert(
    tomllib.loads(Path(__file__).with_name("families.toml").read_text("utf-8")),
    dict[str, RuleFamily],
)
"""RuleFamily → what it is."""


class RuleFinding(NamedTuple):
    """What a rule of a family shows: the steps and a sentence on them."""

    family: str
    steps: list[int]
    rationale: str


def shown_by_rule(history: History, category: str, shown: RuleFinding) -> Verdict:
    """Return the verdict on what a rule shows: yes by a family that counts, else no, with what is worth a look."""
    verdict = positive(history, category, shown.steps, shown.rationale)
    return replace(verdict, rule=shown.family, label="yes" if FAMILIES[shown.family].counted else "no")


def positive(history: History, category: str, steps: Iterable[int], rationale: str) -> Verdict:
    """Return the verdict that a run shows the category, with its evidence in order."""
    evidence = sorted({step for step in steps if step >= 0})
    if len(evidence) > EVIDENCE:  # the first and the last: when it began, and whether it went on
        evidence = evidence[: EVIDENCE // 2] + evidence[-(EVIDENCE // 2) :]
    return Verdict(history.trajectory.id, category, "yes", steps=tuple(evidence), rationale=rationale)


def absent(history: History, category: str, rationale: str) -> Verdict:
    """Return the verdict that a run does not show the category."""
    return Verdict(history.trajectory.id, category, "no", rationale=rationale)


def unchecked(history: History, category: str, rationale: str) -> Verdict:
    """No answer on a run in which the rules found nothing to check."""
    return Verdict(history.trajectory.id, category, None, status="abstained", rationale=rationale)


def nothing_to_judge(history: History, category: str) -> Verdict:
    """Return the verdict on a run in which no agent takes a step."""
    return unchecked(history, category, "The run has no step of an agent.")


def quoted(text: str, length: int = 60) -> str:
    """Text from outside on one line, without control codes, shortened, between quotes."""
    line = "".join(letter for letter in " ".join(text[: length * 4].split()) if letter.isprintable())
    return f'"{line[: length - 1]}…"' if len(line) > length else f'"{line}"'


def counted(steps: Iterable[int]) -> str:
    """Steps in words: `steps 3, 5 and 9`, shortened in the middle if there are many."""
    numbers = [str(step) for step in sorted(set(steps))]
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    if len(numbers) > 5:
        numbers = [*numbers[:3], "…", numbers[-1]]
        return f"steps {', '.join(numbers)}"
    return f"steps {', '.join(numbers[:-1])} and {numbers[-1]}"
