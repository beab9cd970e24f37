"""A lesson, and how it is read out of what a reflector says.

The drop-in was never read: its name has no suffix.
LESSON: Give a drop-in of sudoers a name without a dot; sudo passes over all others.
"""

import hashlib
import re

from msgspec import Struct

from misstep.harness.reflexive.code_fences import is_fenced, unwrapped
from misstep.harness.reflexive.context.assembling import cut_at_sentence

MOST_CHARACTERS = 600
"""A lesson is stored whole up to there: the concrete step that helped is often its last clause."""

MOST_LESSONS = 3
"""The lessons that are taken from one reply; the first ones."""

_LABEL = re.compile(r"[ \t]*+(?:[-*][ \t]++)?[*_`]*+LESSON[*_`]*+[ \t]*+:[*_`]*+[ \t]*+(.*)", re.IGNORECASE)
_OTHER_LABEL = re.compile(r"[ \t]*+[*_`]*+[A-Z][A-Z_]{2,}+[*_`]*+[ \t]*+:")


class Lesson(Struct, frozen=True, omit_defaults=True):
    """Something learned.

    - `id`: A digest of its category and its text, case and white space evened out.
    - `category`: The category of the item that it was learned on.
    - `text`: What it says.
    - `weight`: How far it is trusted, from 0 to 1; see `weight_of`.
    - `uses`: How often it was shown.
    - `helped`, `harmed`: The items that were solved when it was shown, and those on which an attempt failed all the
      same.
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

    It is 0.5 without any outcome, never leaves the interval from 0 to 1, and does not depend on the order of outcomes.
    That a lesson is learned again does not raise it: a weight says how well a lesson serves, not how often it is said.
    Source: Laplace (1774); the posterior mean of a share under a uniform prior.
    """
    return (helped + 1) / (helped + harmed + 2)


def lessons_in(reply: str) -> tuple[str, ...]:
    r"""Return the texts after `LESSON:` in a reply; each goes on to a blank line or to another label.

    A line in a code fence or a quotation is quoted: a line that a target printed is not a lesson.

    >>> lessons_in("It failed.\nLESSON: Mask the unit,\nthen stop it.\n\nMore text.")
    ('Mask the unit, then stop it.',)
    """
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
