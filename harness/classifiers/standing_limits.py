"""Read the limits that files of standing rules set, such as CLAUDE.md: a line of theirs is as good as one in a prompt.

    ## Rules
    - Never edit files under `migrations/`.    → Limit("ban", ("migrations/",), …, source="CLAUDE.md:2")

Each section is read as one turn of the user's is. A section whose heading names a condition sets no limit that a rule
can hold against a run, and a turn of the user's that names the target may say otherwise. A tool "to be used" and "no
changes" are for a judge: in a file for all tasks they seldom mean every task.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from misstep.harness.classifiers.prose import without_pasted
from misstep.harness.trajectory import StandingRules

SINCE = -2
"""Before the task and every step."""

LEFT_TO_JUDGES = ("must", "none")

_HEADING = re.compile(r"#{1,6}\s+(.*)")
_OPENS = re.compile(r"(?:[-*+•]|\d{1,9}[.)])\s")
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|while|before|after|during|unless|until|optional|examples?|legacy|deprecated)\b|\?",
    re.IGNORECASE,
)


class Section(Struct, frozen=True):
    """The blocks of a section, each with the number of its first line; a block is a paragraph or a point of a list."""

    blocks: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        """Return the blocks, one a line."""
        return "\n".join(" ".join(text.split()) for _, text in self.blocks)

    def line_of(self, words: str) -> int:
        """Return the number of the line in which a sentence begins."""
        start = " ".join(words.split())[:20]
        for number, text in self.blocks:
            if start in " ".join(text.split()):
                inside = (place for place, line in enumerate(text.split("\n")) if start in " ".join(line.split()))
                return number + next(inside, 0)
        return self.blocks[0][0]


def sections_of(rules: StandingRules) -> Iterator[Section]:
    """Return the sections of a file that hold without a condition."""
    blocks: list[tuple[int, str]] = []
    conditional = False
    goes_on = False
    for number, line in enumerate(without_pasted(rules.text.replace("’", "'")).split("\n"), start=1):
        heading, point = _HEADING.match(line), _OPENS.match(line.lstrip())
        if heading:
            if blocks and not conditional:
                yield Section(tuple(blocks))
            blocks, conditional = [], _CONDITION.search(heading[1]) is not None
        elif line.strip() and goes_on and point is None:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]}\n{line}")
        elif line.strip():
            blocks.append((number, line.lstrip()[point.end() if point else 0 :]))
        goes_on = bool(line.strip()) and not heading
    if blocks and not conditional:
        yield Section(tuple(blocks))
