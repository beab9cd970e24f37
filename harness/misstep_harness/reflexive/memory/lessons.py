"""A lesson, and how it is read out of what a reflector says.

The drop-in was never read: its name has no suffix.
LESSON: Give a drop-in of sudoers a name without a dot; sudo passes over all others.
"""

import hashlib
import re

from msgspec import Struct

from misstep_harness.reflexive.code_fences import is_fenced, unwrapped
from misstep_harness.reflexive.context.assembling import cut_at_sentence

MOST_CHARACTERS = 600

MOST_LESSONS = 3

_LABEL = re.compile(r"[ \t]*+(?:[-*][ \t]++)?[*_`]*+LESSON[*_`]*+[ \t]*+:[*_`]*+[ \t]*+(.*)", re.IGNORECASE)
_OTHER_LABEL = re.compile(r"[ \t]*+[*_`]*+[A-Z][A-Z_]{2,}+[*_`]*+[ \t]*+:")


class Lesson(Struct, frozen=True, omit_defaults=True):
    """Something learned.

    - `id`: A digest of its category and its text, case and white space evened out.
    - `weight`: How far it is trusted, from 0 to 1; see `weight_of`.
    - `helped`, `harmed`: The items that were solved when it was shown, and those that were not.
    - `run`: The earlier run that it is from; empty for this one.
    """

    id: str
    category: str
    text: str
    weight: float = 0.5
    uses: int = 0
    helped: int = 0
    harmed: int = 0
    run: str = ""

    @property
    def outcomes(self) -> int:
        """Return the outcomes that its weight rests on."""
        return self.helped + self.harmed


def lesson_id(category: str, text: str) -> str:
    """Return the id of a lesson, the same for the same text."""
    even = f"{category}\0{' '.join(text.split()).casefold()}"
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def weight_of(helped: int, harmed: int) -> float:
    """Return how far a lesson is trusted: the rule of succession, (helped + 1) / (helped + harmed + 2).

    Source: Laplace (1774); the posterior mean of a share under a uniform prior. A lesson that is learned again weighs
    the same: a weight says how well a lesson serves, not how often it comes.
    """
    return (helped + 1) / (helped + harmed + 2)


def lessons_in(reply: str) -> tuple[str, ...]:
    """Return the texts after `LESSON:` in a reply, but for quoted ones; each ends at a blank line or another label."""
    texts: list[list[str]] = []
    is_open = False
    lines = unwrapped(reply.splitlines())
    for line, fenced in zip(lines, is_fenced(lines), strict=True):
        if fenced:
            is_open = False
        elif label := _LABEL.match(line):
            texts.append([label[1]])
            is_open = True
        elif not line.strip() or _OTHER_LABEL.match(line):
            is_open = False
        elif is_open:
            texts[-1].append(line)
    whole = (" ".join(" ".join(text).split()).strip("*_` ") for text in texts)
    return tuple(dict.fromkeys(cut_at_sentence(text, MOST_CHARACTERS) for text in whole if text))[:MOST_LESSONS]
